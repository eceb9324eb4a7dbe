"""Tests under a private user manager of systemd, which runs the services of one user."""
