"""Tests of the daemon: its work after its hosts have ended, after it was killed, and while it is idle."""
