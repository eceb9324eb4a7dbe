"""Challenges of servers and proxies."""
