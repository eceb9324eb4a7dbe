"""The fixtures of the launch tests: the daemon and an embedded engine (an engine in a host), and programs that the
engine launches."""

from testbed.launch_fixtures import hosting, hosts, launch_listener  # noqa: F401
