"""Tests of conditions from end to end. The tests use a fake /sys and /proc, private buses, and links of a chosen
speed."""
