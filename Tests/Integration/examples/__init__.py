"""Each example, killed in the middle."""
