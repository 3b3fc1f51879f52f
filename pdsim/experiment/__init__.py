"""An experiment file: loaded, checked against all that it names, and cut into slices for stages."""
