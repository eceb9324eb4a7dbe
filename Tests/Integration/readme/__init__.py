"""The README's code, compiled and run."""
