"""Tests of failed attempts (runs of tasks), their stored records, and networks that fail and return."""
