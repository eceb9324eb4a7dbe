"""Tests of priorities, of groups, and of the limits of engine, session and task."""
