"""The pages of the headers in section 3 of the manual: one page for each chapter, and for each name a page that
contains only a reference to this page.

The pages are written here, because converters of Markdown to man(7) write links and lists of fields as running text.
"""

from __future__ import annotations

import time

from manual import documents
from schema.model import Header

from . import c_model, prose, roff

#: Header -> what it is for. The page with its introduction has its name.
OVERVIEWS = {
    "backhaul.h": "background transfer sessions: the C API",
    "backhaul_testing.h": "the test kit of Backhaul: tests of programs with background transfers",
}


class Man:
    def __init__(self, *headers: Header) -> None:
        self._headers = headers
        self._pages = [page for header in headers for page in c_model.pages(header)]
        version = {number.name: number.value for header in headers for number in header.numbers}
        parts = (str(version[f"BH_VERSION_{part}"]) for part in ("MAJOR", "MINOR", "PATCH"))
        self._source = "Backhaul " + ".".join(parts)
        self._date = time.strftime("%Y-%m-%d", time.gmtime(roff.epoch()))

    def texts(self) -> dict[str, str]:
        """Maps the name of each file to its text."""
        texts = {f"{header.name}.3": self._overview(header) for header in self._headers}
        for page in self._pages:
            texts[f"{_name(page)}.3"] = self._page(page)
        links = dict.fromkeys(["backhaul", "libbackhaul"], "backhaul.h") | {
            name: _name(page) for page in self._pages for entry in page.entries for name in entry.names
        }
        # For man, BH_INIT and bh_init are the same name.
        for name, target in links.items():
            if name.islower() or name.lower() not in links:
                texts[f"{name}.3"] = f".so man3/{target}.3\n"
        return texts

    def _overview(self, header: Header) -> str:
        list_of_pages = "".join(
            f".TP\n.BR {_name(page)} (3)\n{roff.filled(_prose(prose.sentence(page.first_sentence) or page.title))}"
            for page in self._pages
            if page.header == header.name
        )
        topics = "".join(f'.SS "{topic.title}"\n{_blocks(topic.text)}' for topic in header.introduction)
        library = roff.bold(f"-l{header.name.removesuffix('.h')}")
        return (
            self._begin(header.name, header.name, header.name, OVERVIEWS[header.name])
            + f".SH SYNOPSIS\n{roff.declarations((c_model.include(header.name),))}.PP\nLink with {library}.\n"
            + f".SH DESCRIPTION\nEach chapter of the header has a page:\n{list_of_pages}{topics}"
            + _see_also(["backhaul(1)", "backhaul(5)", "backhaul(7)", "backhauld(8)"])
        )

    def _page(self, page: c_model.Page) -> str:
        names = [name for entry in page.entries for name in entry.names]
        functions = [text for entry in page.entries if entry.is_function for text in entry.declarations]
        others = [f"{_name(other)}(3)" for other in self._pages if other.header == page.header and other != page]
        return (
            self._begin(page.header, _name(page), ", ".join([_name(page), *names]), page.first_sentence)
            + f".SH SYNOPSIS\n{roff.declarations((c_model.include(page.header),))}"
            + (f".PP\n{roff.declarations(tuple(functions))}" if functions else "")
            + f".SH DESCRIPTION\n{roff.filled(_prose(prose.sentence(page.summary)))}"
            + "".join(map(_entry, page.entries))
            + _see_also([f"{page.header}(3)", *others])
        )

    def _begin(self, header: str, title: str, names: str, summary: str) -> str:
        line = roff.filled(f"{roff.literal(names)} \\- {_prose(summary)}")
        return (
            f'.\\" Generated from include/{header} by scripts/make-reference.\n'
            f'.TH "{title.upper()}" 3 {self._date} "{self._source}" "C API of Backhaul"\n'
            # No hyphens and no justification: names stay whole.
            f".nh\n.ad l\n.SH NAME\n{line}"
        )


def _name(page: c_model.Page) -> str:
    return f"backhaul_{page.slug.replace('-', '_')}"


def _entry(entry: c_model.Entry) -> str:
    title = ", ".join(entry.names[:3]) + (", ..." if len(entry.names) > 3 else "")
    code = roff.declarations(entry.declarations) + ".PP\n" if entry.declarations else ""
    members = "".join(_member(member) for member in entry.members)
    return f'.SS "{title}"\n{code}{_blocks(entry.text)}{members}'


def _member(member: c_model.Member) -> str:
    term = f"{member.name} = {member.code}" if member.name.isupper() else member.code
    text = roff.filled(_prose(prose.sentence(member.text))) if member.text else ""
    return f".TP\n{roff.line(roff.bold(term))}{text}"


def _blocks(text: str) -> str:
    parts = [
        roff.filled(_prose(prose.sentence(block.text)))
        if isinstance(block, prose.Paragraph)
        else roff.preformatted(block.text)
        for block in prose.blocks(text)
    ]
    return ".PP\n".join(parts)


def _prose(text: str) -> str:
    return prose.convert(text, roff.plain, roff.bold, documents.named)


def _see_also(pages: list[str]) -> str:
    lines = (f".BR {name} ({number}" for name, _, number in (page.partition("(") for page in pages))
    return ".SH SEE ALSO\n" + ",\n".join(lines) + "\n"
