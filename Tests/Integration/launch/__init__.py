"""Tests of launched hosts: programs that the engine starts because their sessions have events, such as the end of all
transfers."""
