"""Processes that are killed at each of their durable steps."""
