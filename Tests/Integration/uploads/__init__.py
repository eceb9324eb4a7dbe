"""Uploads, end to end."""
