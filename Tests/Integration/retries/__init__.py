"""Tries that fail, what is written of them, and networks that come and go."""
