"""Tests of the daemon after its hosts have ended, after a kill of the daemon, and while the daemon is idle. A host is a
process that embeds the library, and the daemon runs the host's transfers."""
