"""What every stage runs on: device, files, checkpoints, progress, and the hashes behind reruns."""
