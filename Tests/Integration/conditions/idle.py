"""How long nothing is looked at: the whole minute in the long runs."""

SECONDS = 35
