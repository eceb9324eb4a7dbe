"""Servers on loopback that the tests download from."""
