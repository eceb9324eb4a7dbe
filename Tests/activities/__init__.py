"""Work that repeats."""
