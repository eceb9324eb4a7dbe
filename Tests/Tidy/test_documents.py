"""Tests of the documents about the source code: the files and links in them exist, and the diagram of the modules
matches Package.swift."""

import re

import pytest

from tree import PROJECT, sources, targets

TOUR = "docs/ARCHITECTURE.md"
INTERNALS = "docs/internals/"
# Modules that the diagram omits, because nearly every other module uses them.
EVERYWHERE = {"BackhaulModel", "BackhaulPlatform"}
LONGEST_LIST = 60

FILE = re.compile(r"`((?:Sources|Tests|include|bindings|scripts)/[\w+./-]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
ARROW = re.compile(r"^ +(\w+) --> (.+)$", re.MULTILINE)
LABEL = re.compile(r"\[[^]]*\]")


def documents():
    return [source for source in sources()
            if source.path.suffix == ".md"
            and (source.name in (TOUR, "CONTRIBUTING.md") or source.name.startswith(INTERNALS))]


def pages():
    """All documents. The links of docs/site/index.md are paths in the site, which the tests of the site check."""
    return [source for source in sources() if source.path.suffix == ".md" and source.name != "docs/site/index.md"]


def anchors(text):
    """Returns the anchors of a document's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def is_there(path, link):
    name, _, anchor = link.partition("#")
    target = (path.parent / name).resolve() if name else path
    return target.exists() and (not anchor or anchor in anchors(target.read_text(encoding="utf-8")))


@pytest.mark.parametrize("source", documents(), ids=lambda source: source.name)
def test_a_document_names_only_existing_files(source):
    missing = [f"{source.name}:{number}: {name}" for number, line in enumerate(source.lines, 1)
               for name in FILE.findall(line) if not (PROJECT / name).exists()]
    if missing:
        pytest.fail("\n".join(missing), pytrace=False)


@pytest.mark.parametrize("source", pages(), ids=lambda source: source.name)
def test_each_relative_link_has_an_existing_target(source):
    broken = [f"{source.name}:{number}: {link}" for number, line in enumerate(source.lines, 1)
              for link in LINK.findall(line) if "://" not in link and not is_there(source.path, link)]
    if broken:
        pytest.fail("\n".join(broken), pytrace=False)


def test_the_readme_of_the_internals_folder_lists_each_page_of_the_folder():
    listed = set(LINK.findall((PROJECT / INTERNALS / "README.md").read_text(encoding="utf-8")))
    pages = {path.name for path in (PROJECT / INTERNALS).glob("*.md")} - {"README.md"}
    assert pages - listed == set()


def test_the_diagram_of_the_modules_matches_package_swift():
    drawn = {}
    diagram = LABEL.sub("", (PROJECT / TOUR).read_text(encoding="utf-8").split("```")[1])
    for module, others in ARROW.findall(diagram):
        drawn.setdefault(module, set()).update(others.split(" & "))
    modules = {name for name in targets() if name in {"backhaul", "backhauld"} or name.startswith("Backhaul")}
    package = {name: (targets()[name] & modules) - EVERYWHERE for name in modules}
    assert drawn == {name: others for name, others in package.items() if others}


def test_the_list_of_files_in_download_md_is_short_and_has_no_duplicates():
    text = (PROJECT / INTERNALS / "download.md").read_text(encoding="utf-8")
    files = re.findall(r"^- `([^`]+)`", text, re.MULTILINE)
    assert len(files) == len(set(files))
    assert len(files) <= LONGEST_LIST
