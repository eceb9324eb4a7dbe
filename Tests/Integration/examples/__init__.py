"""Tests of the examples. Each example is also killed in the middle of its work."""
