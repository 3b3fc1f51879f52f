"""Data sources, one file each: where raw recordings come from and what is wrong with them."""
