"""Files: verified, left as they are, named by the server."""
