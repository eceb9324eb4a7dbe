"""Writes the pages: `python3 -m manual BACKHAUL BACKHAULD FOLDER`, with the two programs."""

import json
import subprocess
import sys
from pathlib import Path

from . import commands, daemon, documents, pages


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


backhaul, backhauld, folder = sys.argv[1:]
table = json.loads(output(backhaul, "help", "--json"))
#: The parts of the pages that are made from the help. The parts from documents follow.
from_help = {("backhaul", 1): commands.body(table), ("backhauld", 8): daemon.body(output(backhauld, "--help"))}
for name, section, summary, sources in documents.PAGES:
    body = from_help.get((name, section), "") + pages.from_documents(sources)
    file = Path(folder) / f"man{section}" / f"{name}.{section}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(pages.page(name, section, summary, body, table["version"]), encoding="utf-8")
