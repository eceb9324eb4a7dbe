"""The blocks of code of all documents."""

import re
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    document: str
    line: int
    language: str
    text: str

    @property
    def place(self):
        return f"{self.document}:{self.line}"

    @property
    def name(self):
        """A name for a file or a function."""
        return re.sub(r"\W", "_", f"{self.document.removesuffix('.md')}_{self.line}")


def documents():
    """All documents that the site shows. The README has a test of its own."""
    return sorted([*(PROJECT / "docs").rglob("*.md"), *(PROJECT / "bindings").glob("*/README.md"),
                   PROJECT / "examples" / "README.md", PROJECT / "CONTRIBUTING.md", PROJECT / "SECURITY.md"])


def blocks(language, document=None):
    """The blocks of a language, in all documents or in one."""
    found = []
    for path in [PROJECT / document] if document else documents():
        text = path.read_text(encoding="utf-8")
        for indent, name, code in FENCE.findall(text):
            if name == language:
                line = text[:text.index(code)].count("\n") + 1
                code = re.sub(f"^{indent}", "", code, flags=re.MULTILINE)
                found.append(Block(str(path.relative_to(PROJECT)), line, name, code))
    return found
