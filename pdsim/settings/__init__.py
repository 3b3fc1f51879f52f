"""The base of all config sections: the section, its YAML, its messages, and walks through it."""
