"""A table of HTTP behaviours: what a server does, and how the task must end."""
