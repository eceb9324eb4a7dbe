"""Tests of the daemon: its work after its hosts have ended, after it was killed, and while it is idle. A host is a
process that embeds the library, and the daemon runs the host's transfers."""
