"""Tests of the daemon: it continues after its hosts have ended, it is killed, and it is idle."""
