"""Usage: make-reference site|man [FOLDER]"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from schema import header

from .c_man import Man
from .c_markdown import Markdown

BUILD = header.PROJECT / "build"


def write(folder: Path, texts: dict[str, str]) -> None:
    """Writes the files into a folder, in place of all files that are there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def site() -> dict[str, str]:
    return {f"c/{name}": text for name, text in Markdown(header.read()).texts().items()}


def main(arguments: list[str]) -> None:
    kinds = {"site": (site, BUILD / "reference"), "man": (lambda: Man(header.read()).texts(), BUILD / "man" / "man3")}
    if not arguments or arguments[0] not in kinds or len(arguments) > 2:
        raise SystemExit(__doc__)
    texts, folder = kinds[arguments[0]]
    write(Path(arguments[1]) if len(arguments) == 2 else folder, texts())


main(sys.argv[1:])
