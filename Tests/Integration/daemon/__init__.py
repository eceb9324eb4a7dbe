"""The daemon: it outlives hosts, is killed itself, is idle."""
