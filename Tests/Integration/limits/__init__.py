"""Tests of what runs when, and how fast: limits of engine, session and task, priorities, groups."""
