"""Programs that run as hosts, each in a process of its own."""
