"""Tests of conditions from end to end, with a fake /sys and /proc, private buses, and links of a chosen speed."""
