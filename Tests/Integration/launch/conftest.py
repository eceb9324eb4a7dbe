"""Fixtures for launches by the daemon, and by an engine in a host of another application (an embedded engine). A host
is a process that embeds the library."""

from testbed.launch_fixtures import hosting, hosts, launch_listener  # noqa: F401
