"""Compiles, checks and runs the code of the manual's pages."""
