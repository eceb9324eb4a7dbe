"""Hosts (processes that embed the library) that return from main during a transfer."""
