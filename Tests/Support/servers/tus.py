"""Real servers of tus 1.0 from PyPI, each in a process of its own: tuspyserver and tussi."""

import sys

from . import child, listening

_TUSPYSERVER = """
import sys
import uvicorn
from fastapi import FastAPI
from tuspyserver import create_tus_router

application = FastAPI()
application.include_router(create_tus_router(prefix="files", files_dir=sys.argv[1]))
uvicorn.run(application, port=int(sys.argv[2]), log_level="error")
"""

_TUSSI = """
import sys
from pathlib import Path
import uvicorn
from tussi import FilesystemStorage, TUSApp

folder = Path(sys.argv[1])
application = TUSApp(storage=FilesystemStorage(directory=folder), completed_dir=folder / "completed")
uvicorn.run(application, port=int(sys.argv[2]), log_level="error")
"""


class TusServer:
    """``with Tuspyserver(folder) as server: server.url``"""

    SCRIPT = ""

    def __init__(self, folder):
        self.folder = folder
        self.process, [self.port] = listening.start(
            lambda port: [sys.executable, "-c", self.SCRIPT, folder, port])
        self.url = f"http://127.0.0.1:{self.port}/files"

    def files(self):
        """The contents of the files that the server has, whole or not. Files with facts about uploads are left out."""
        found = (path for path in self.folder.rglob("*") if path.is_file() and not path.suffix)
        return [path.read_bytes() for path in found]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        child.end(self.process)


class Tuspyserver(TusServer):
    SCRIPT = _TUSPYSERVER


class Tussi(TusServer):
    SCRIPT = _TUSSI
