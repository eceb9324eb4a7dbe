"""Compiles and runs the README's code."""
