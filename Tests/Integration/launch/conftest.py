"""Fixtures for launches by an embedded engine and by the daemon."""

from testbed.launch_fixtures import hosting, hosts, stage  # noqa: F401
