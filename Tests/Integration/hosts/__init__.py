"""Real hosts against real servers."""
