"""The pages of the header in Markdown. A name of the header links to its heading or, if it is a constant or a field, to
its place in a list."""

from __future__ import annotations

from schema.model import Header

from . import c_model, prose

#: Header -> the page of its introduction, and the title of this page.
INTRODUCTIONS = {
    "backhaul.h": ("introduction.md", "The C API: introduction"),
    "backhaul_testing.h": ("testing.md", "The test kit for hosts in C"),
}


class Markdown:
    def __init__(self, *headers: Header, folder: str = "") -> None:
        """`folder` is the folder of the pages, as seen from a page that links to them."""
        self._headers = headers
        self._pages = [page for header in headers for page in c_model.pages(header)]
        #: Maps each name to the page and the anchor of its description.
        self._targets = {
            name: f"{folder}{page.slug}.md#{name}"
            for page in self._pages
            for entry in page.entries
            for name in (*_members(entry), *entry.names)
        }

    def texts(self) -> dict[str, str]:
        """Maps the name of each file to its text."""
        files = {f"{page.slug}.md": self._page(page) for page in self._pages}
        introductions = {INTRODUCTIONS[header.name][0]: self._introduction(header) for header in self._headers}
        return {"index.md": self._index(), **introductions, **files}

    def _index(self) -> str:
        names = "".join(
            f"## {page.title}{_kit(page)}\n\n"
            + ", ".join(self.link(name) for entry in page.entries for name in entry.names)
            + "\n\n"
            for page in self._pages
        )
        return (
            "# C reference\n\nThe C API is the header `backhaul.h`. The [introduction](introduction.md) has a complete "
            f"host, and the rules for threads, ownership, structs, errors and waiting.\n\n{self._rows('backhaul.h')}\n"
            "The header `backhaul_testing.h` is the [test kit](testing.md) for hosts.\n\n"
            f"{self._rows('backhaul_testing.h')}\n{names}"
        )

    def _rows(self, header: str) -> str:
        return "| chapter | |\n| --- | --- |\n" + "".join(
            f"| [{page.title}]({page.slug}.md) | {self.prose(prose.sentence(page.first_sentence))} |\n"
            for page in self._pages
            if page.header == header
        )

    def _introduction(self, header: Header) -> str:
        topics = (f"## {topic.title}\n\n{self._blocks(topic.text)}" for topic in header.introduction)
        return f"# {INTRODUCTIONS[header.name][1]}\n\n" + "".join(topics)

    def _page(self, page: c_model.Page) -> str:
        summary = f"{self.prose(prose.sentence(page.summary))}\n\n" if page.summary else ""
        # The search shows titles of pages, and each language has a page about sessions.
        return f"# {page.title}{_kit(page)} (C)\n\n{summary}" + "".join(map(self._entry, page.entries))

    def _entry(self, entry: c_model.Entry) -> str:
        first, *others = entry.names
        title = f"## {', '.join(entry.names[:3])}{', …' if len(entry.names) > 3 else ''} {{#{first}}}\n\n"
        # A number is its own member, so the list of members has its anchor.
        anchors = "".join(_anchor(name) for name in others if name not in _members(entry))
        code = "\n".join(entry.declarations)
        declarations = f"```c\n{code}\n```\n\n" if code else ""
        members = "".join(self._member(entry, member) for member in entry.members) + "\n" if entry.members else ""
        return title + (f"{anchors}\n\n" if anchors else "") + declarations + self._blocks(entry.text) + members

    def _member(self, entry: c_model.Entry, member: c_model.Member) -> str:
        if member.name.isupper():
            anchor = "" if member.name == entry.names[0] else _anchor(member.name)
            term = f"`{member.name}` = {member.code}"
        else:
            anchor = _anchor(f"{entry.names[0]}.{member.name}")
            target = self._targets.get(member.type)
            term = prose.link(member.code, target)
        text = f" – {self.prose(prose.sentence(member.text))}" if member.text else ""
        return f"- {anchor}{term}{text}\n"

    def _blocks(self, text: str) -> str:
        return "".join(
            f"{self.prose(prose.sentence(block.text))}\n\n"
            if isinstance(block, prose.Paragraph)
            else f"```{'c' if ';' in block.text else 'text'}\n{block.text}\n```\n\n"
            for block in prose.blocks(text)
        )

    def prose(self, text: str) -> str:
        """Returns a text of the header with its names as links."""
        return prose.convert(text, prose.escaped, self.link, prose.document_link)

    def link(self, code: str) -> str:
        """Returns code as a link, if it is a name of the header. The stars of a pointer may follow the name."""
        name = code.removesuffix(" *").removesuffix(" **")
        target = self._targets.get(name)
        return prose.link(code, target)


def _kit(page: c_model.Page) -> str:
    """Chapters of both headers may have the same title."""
    return "" if page.header == "backhaul.h" else " of the test kit"


def _members(entry: c_model.Entry) -> list[str]:
    """Returns the names of the constants of an entry, and the paths of its fields."""
    return [
        member.name if member.name.isupper() else f"{entry.names[0]}.{member.name}" for member in entry.members
    ]


def _anchor(name: str) -> str:
    return f'<a id="{name}"></a>'

