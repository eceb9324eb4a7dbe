"""Fixtures for launches (starts of a program by the engine). Each test runs with a daemon, and with an engine in a
host of another application."""

from testbed.launch_fixtures import hosting, hosts, launch_listener  # noqa: F401
