"""A table of HTTP: what a server does, and what a task must become."""
