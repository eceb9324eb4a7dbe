"""The fixtures of the launch tests. A launch is the start of a program by the engine. Each test runs with a daemon,
and with an engine in a host."""

from testbed.launch_fixtures import hosting, hosts, launch_listener  # noqa: F401
