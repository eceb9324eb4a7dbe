"""Runs a contender (a measured program) and its daemon with a library that is preloaded (ld.so(8), LD_PRELOAD)."""


def preloading_environment(job, library, variables, daemon, environment):
    """Returns the environment of a run in which `library` is preloaded and has these variables. Backhaul passes few
    variables to its daemon, which runs the transfers. So BACKHAUL_DAEMON is the path of a script, which sets the
    variables and starts the daemon."""
    added = {"LD_PRELOAD": str(library), **variables}
    script = job.scratch / "preloading-daemon"
    settings = " ".join(f"{name}='{value}'" for name, value in added.items())
    script.write_text(f"#!/bin/sh\n{settings} exec '{daemon}' \"$@\"\n")
    script.chmod(0o755)
    return {**environment, **added, "BACKHAUL_DAEMON": str(script)}
