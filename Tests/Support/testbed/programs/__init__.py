"""Programs that run as hosts (processes that embed the library), each in its own process."""
