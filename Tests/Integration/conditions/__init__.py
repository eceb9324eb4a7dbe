"""Conditions end to end: machines of files, buses of our own, links of any speed."""
