"""Tests of launched hosts."""
