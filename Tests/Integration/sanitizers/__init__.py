"""Runs the C host under the sanitizers."""
