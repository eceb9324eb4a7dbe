"""The fixtures of the launch tests. Each test runs with a daemon, and with an engine in a host (a process that embeds
the library)."""

from testbed.launch_fixtures import hosting, hosts, launch_listener  # noqa: F401
