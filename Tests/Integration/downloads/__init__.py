"""Tests of downloaded files: verification, existing files, and names from the server."""
