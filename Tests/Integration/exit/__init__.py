"""Hosts that return from main in mid-transfer."""
