"""Tests of the limits of engine, session and task, of priorities, and of groups."""
