"""Tests of activities: work that repeats in windows of time."""
