"""Units: what a number in one unit is in another, and arithmetic that carries units along."""
