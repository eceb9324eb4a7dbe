"""Tests of real hosts with real servers. A host is a process that embeds the library."""
