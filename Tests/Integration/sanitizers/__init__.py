"""Runs an example program in C under the sanitizers."""
