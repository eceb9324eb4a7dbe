"""The fixtures of the launch tests. A launch is the start of a program by the engine. Each test runs with a daemon, and
with an engine in a host (a process that embeds the library)."""

from testbed.launch_fixtures import hosting, hosts, launch_listener  # noqa: F401
