"""The pages that have text of documents, and the names of documents in the pages: readers of a page do not have the
documents as files."""

from __future__ import annotations

from reference import roff
from schema.header import PROJECT

DOCUMENTS = PROJECT / "docs"

# backhaul(1) has all commands. They have no pages of their own, because `backhaul COMMAND --help` shows one command,
# and most options belong to several commands.
#: Each page with its name, its section, its summary, and the sections of documents that it has.
PAGES: list[tuple[str, int, str, list[tuple[str, list[str]]]]] = [
    ("backhaul", 1, "background transfers that continue after crashes and reboots", []),
    ("backhaul", 7, "sessions, conditions, credentials, environment and output of Backhaul", [
        ("command-line.md", [
            "In curl's words", "Settings for one command", "When it runs", "Credentials", "Work that repeats",
            "Programs that Backhaul starts", "Where things are", "Output", "JSON", "Environment variables"]),
        ("launch.md", ["What the launched program finds"])]),
    ("backhaul", 5, "the files of Backhaul: the store, the configuration and lists of URLs", [
        ("command-line.md", ["Configuration file", "Lists of URLs", "Lists of checksums"]),
        ("store.md", ["The store: damage, copies and removal", "Damage", "Part files", "Copies", "Removal"])]),
    ("backhauld", 8, "the daemon that runs the transfers of Backhaul", [
        ("daemon.md", [
            "Start the daemon by hand", "Where the library finds the daemon",
            "How the library starts the daemon", "When the daemon exits", "The log", "If the daemon cannot start"])]),
]


def named(path: str) -> str:
    """Returns what stands for the path of a document: the page with text of the document, or else its title."""
    file = path.rpartition("/")[2]
    for name, section, _, sources in PAGES:
        if file in dict(sources):
            return f"{roff.bold(name)}({section})"
    first, _, _ = (DOCUMENTS / file).read_text(encoding="utf-8").partition("\n")
    return roff.plain(f'"{first.removeprefix("# ").partition(":")[0]}" on Backhaul\'s site')
