"""Tests of challenges."""
