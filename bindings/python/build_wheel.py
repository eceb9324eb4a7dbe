"""Puts the built library into the wheel, beside the package, and names the platform that it was built for."""

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
            return  # the library is found by BACKHAUL_LIBRARY or among the system's
        built = Path(self.root).parent.parent / "build" / "lib" / "libbackhaul.so.0"
        library = Path(os.environ.get("BACKHAUL_LIBRARY") or built).resolve()
        if not library.is_file():
            raise RuntimeError(f"{library} is not there: run `make` first, or set BACKHAUL_LIBRARY to the library.")
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["force_include"][str(library)] = "backhaul/libbackhaul.so.0"
