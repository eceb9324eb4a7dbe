"""Tests of failed attempts, their stored records, and networks that fail and return."""
