"""Tests of conditions from end to end. A condition is a fact about the system, such as its power, heat or network. The
tests use a fake /sys and /proc, private buses, and links of a chosen speed."""
