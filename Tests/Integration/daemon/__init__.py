"""Tests of the daemon: it outlives hosts, it is killed, and it is idle."""
