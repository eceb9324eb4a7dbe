"""Tests of the daemon after its hosts have ended, after a kill of the daemon, and while the daemon is idle."""
