"""What is to be done with which system: one file per task."""
