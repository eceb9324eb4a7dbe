"""Launches by both kinds of engines."""

from testbed.launch_fixtures import hosting, hosts, stage  # noqa: F401
