"""Tests under a private systemd user manager."""
