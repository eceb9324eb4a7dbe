"""Fixtures for launches by an embedded engine and by the daemon."""

from testbed.launch_fixtures import hosting, hosts, launch_listener  # noqa: F401
