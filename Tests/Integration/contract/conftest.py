"""The fixtures of the launch tests: the daemon and an embedded engine, and programs that the engine launches."""

from testbed.launch_fixtures import hosting, hosts, launch_listener  # noqa: F401
