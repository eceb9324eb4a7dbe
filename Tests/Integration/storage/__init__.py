"""Tests of file systems that come and go, or that lack abilities of a local disk."""
