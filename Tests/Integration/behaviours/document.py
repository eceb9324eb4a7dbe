"""Writes docs/http.md from the rows: python -m behaviours.document > docs/http.md"""

from behaviours import table
from behaviours.script import EVERY

_CARRIERS = {"h1": "1.1", "h2": "2", "forward": "proxy", "tunnel": "tunnel"}

_HEAD = """# HTTP: what servers do, and what tasks become

Each row is one behaviour: what a server does, what the task becomes, and where that is tested. The tests play all rows
over all of their carriers: `scripts/test behaviours`. This page is written from them: change the rows, then run
`scripts/document-behaviours`.

Carriers: *1.1* is HTTP/1.1, *2* is HTTP/2 over TLS, *proxy* is HTTP/1.1 that squid forwards,
*tunnel* is HTTP/2 over TLS
through squid's CONNECT. A row leaves out a carrier on which a server cannot do what it says (HTTP/2 has no
chunks), or on which a conforming proxy answers itself, repeats or mends.
"""


def _cell(text):
    return text.replace("|", "\\|")


def _row(row, path):
    carriers = "all" if row.carriers == EVERY else ", ".join(_CARRIERS[carrier] for carrier in row.carriers)
    what = row.what[0].upper() + row.what[1:]
    return f"| {_cell(what)} | {carriers} | {_cell(row.source)} | [`{row.name}`](../{path}) |"


def document():
    lines = [_HEAD]
    for module in table.MODULES:
        title = module.__doc__.strip().rstrip(".")
        path = f"Tests/Integration/behaviours/{module.__name__.rpartition('.')[2]}.py"
        lines += [f"## {title}", "", "| The server … | carriers | source | row |", "|---|---|---|---|"]
        lines += [_row(row, path) for row in module.ROWS]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    print(document(), end="")
