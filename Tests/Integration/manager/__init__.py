"""Under a systemd user manager of our own."""
