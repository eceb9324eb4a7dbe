"""Tests of uploads from end to end."""
