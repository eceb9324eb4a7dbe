"""How long the idle engine is watched: two minutes in the long runs."""

SECONDS = 35
