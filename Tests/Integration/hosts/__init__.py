"""Tests of real hosts with real servers."""
