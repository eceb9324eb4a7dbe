"""The contract's own tests stand on those of launches: the daemon and an embedded engine, and programs that come."""

from testbed.launch_fixtures import hosting, hosts, stage  # noqa: F401
