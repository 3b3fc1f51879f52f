"""Is this machine fit? What a computation rests on, tried in seconds."""
