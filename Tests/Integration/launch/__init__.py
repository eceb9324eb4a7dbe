"""Hosts that are launched."""
