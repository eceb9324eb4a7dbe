"""Puts the built library and the daemon (the program that performs the transfers) into the package's directory in the
wheel, and sets the platform tag."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from typing import Any, Dict

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LibraryHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: Dict[str, Any]) -> None:
        if version == "editable":
            # An editable package loads the library from BACKHAUL_LIBRARY or the system, so the wheel has no library.
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        # Both files are in one directory, because the library also searches its own directory for the daemon.
        for variable, built, name in (
            ("BACKHAUL_LIBRARY", "lib/libbackhaul.so.1", "libbackhaul.so.1"),
            ("BACKHAUL_DAEMON", "libexec/backhaul/backhauld", "backhauld"),
        ):
            build_data["force_include"][str(self._find(variable, built))] = f"backhaul/{name}"

    def _find(self, variable: str, built: str) -> Path:
        path = Path(os.environ.get(variable) or Path(self.root).parent.parent / "build" / built).resolve()
        if not path.is_file():
            raise RuntimeError(f"{path} is not there: run `make` first, or set {variable} to its path.")
        return path
