"""Programs that run as hosts, each in its own process."""
