"""Tests of challenges by servers and proxies."""
