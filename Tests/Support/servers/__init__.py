"""Servers on loopback for the tests."""
