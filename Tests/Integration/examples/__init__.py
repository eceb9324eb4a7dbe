"""Tests of the examples. Each is also killed in the middle of its work."""
