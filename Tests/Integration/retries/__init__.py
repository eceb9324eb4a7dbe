"""Tests of failed attempts, their stored records, and networks that come and go."""
