"""Tools for tests with real servers and daemons: hosts in separate processes, launches, networks, directories."""
