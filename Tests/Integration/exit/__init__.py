"""Hosts that return from main during a transfer."""
