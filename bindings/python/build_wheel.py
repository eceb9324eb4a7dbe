"""Puts the built library and the daemon into the package's directory in the wheel, without debug information, and
sets the platform tag."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: The test kit for hosts.
TESTING = ("libbackhaul_testing.so.1", "backhaul/backhaul-testbed.so", "backhaul/backhaul-launched")


class LibraryHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            # An editable package loads the library from BACKHAUL_LIBRARY or the system, so the wheel has no library.
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        self._stripped = tempfile.TemporaryDirectory()
        # All files are in one directory, because the libraries also search their own directory for programs.
        for variable, built, name, options in (
            ("BACKHAUL_LIBRARY", "lib/libbackhaul.so.1", "libbackhaul.so.1", ["--strip-unneeded"]),
            ("BACKHAUL_DAEMON", "libexec/backhaul/backhauld", "backhauld", []),
            *(("", f"lib/{path}", Path(path).name, ["--strip-unneeded"]) for path in TESTING),
        ):
            path = self._strip(self._find(variable, built), name, options)
            build_data["force_include"][str(path)] = f"backhaul/{name}"
        # Wheels of `make packages` contain more libraries.
        if licences := os.environ.get("BACKHAUL_LICENCES"):
            build_data["force_include"][licences] = "backhaul/licences"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._stripped.cleanup()

    def _find(self, variable: str, built: str) -> Path:
        chosen = os.environ.get(variable) if variable else None
        path = Path(chosen or Path(self.root).parent.parent / "build" / built).resolve()
        if not path.is_file():
            advice = f", or set {variable} to its path" if variable else ""
            raise RuntimeError(f"{path} is not there: run `make` first{advice}.")
        return path

    def _strip(self, path: Path, name: str, options: list[str]) -> Path:
        """Copies the file without its symbols. `make install` uses the same options."""
        copy = Path(self._stripped.name) / name
        subprocess.run(["strip", *options, "-o", copy, path], check=True)
        return copy
