"""Usage: make-reference site|man [FOLDER]"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from schema import header

from .c_man import Man

BUILD = header.PROJECT / "build"


def write(folder: Path, texts: dict[str, str]) -> None:
    """Writes the files into a folder, in place of all files that are there."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> None:
    match arguments:
        case ["man", *given] if len(given) <= 1:
            folder, texts = BUILD / "man" / "man3", Man(header.read(), header.read(header.KIT)).texts()
        case ["site", *given] if len(given) <= 1:
            # The pages of the site need packages of the virtual environment, and those of the manual do not.
            from . import site, swift_pages

            swift_pages.extract()
            folder, texts = BUILD / "reference", site.texts(header.read())
        case _:
            raise SystemExit(__doc__)
    write(Path(*given) if given else folder, texts)


main(sys.argv[1:])
