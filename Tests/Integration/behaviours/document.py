"""Writes docs/http.md from the rows: python -m behaviours.document > docs/http.md"""

from behaviours import table
from behaviours.row import ALL_TRANSPORTS

_TRANSPORTS = {"h1": "1.1", "h2": "2", "forward": "proxy", "tunnel": "tunnel"}

_HEAD = """# HTTP: what servers do, and how tasks end

This page shows what a task does for each behaviour of a server. Each row is one case. The text before the colon says
what the server does. The text after the colon says what the task does. *The host* is the program that embeds the
library.

The link in a row leads to the file that defines the row. `scripts/test behaviours` runs each row over its transports:

- *1.1*: HTTP/1.1
- *2*: HTTP/2 over TLS
- *proxy*: HTTP/1.1, forwarded by squid
- *tunnel*: HTTP/2 over TLS, through a CONNECT tunnel of squid

A row omits a transport for one of three reasons:

- The protocol does not have the behaviour. For example, HTTP/2 has no chunks.
- A proxy that follows the standard changes the messages. For example, the proxy sends its own response, repeats the
  request, or corrects an error.
- The row takes long. Such a row runs without a proxy.

*Drops* means that the server drops the connection inside the body. In the section on ranges, most servers first drop a
connection. The row then says how the server responds to the next request. *Fails with the status* means that the task
ends with `BH_HTTP_STATUS` and the server's status. In the last three sections, most cases come from the tests of other
projects. The source of the case names the test.

This page is generated from `Tests/Integration/behaviours`. Change the rows there, then run
`scripts/document-behaviours`.
"""


def _cell(text):
    return text.replace("|", "\\|")


def _row(row, path):
    is_on_all = row.transports == ALL_TRANSPORTS
    transports = "all" if is_on_all else ", ".join(_TRANSPORTS[transport] for transport in row.transports)
    what = row.what[0].upper() + row.what[1:]
    return f"| {_cell(what)} | {transports} | {_cell(row.source)} | [`{row.name}`](../{path}) |"


def document():
    lines = [_HEAD]
    for module in table.MODULES:
        title = module.__doc__.strip().rstrip(".")
        path = f"Tests/Integration/behaviours/{module.__name__.rpartition('.')[2]}.py"
        lines += [f"## {title}", "", "| The server … | transports | source | row |", "|---|---|---|---|"]
        lines += [_row(row, path) for row in module.ROWS]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    print(document(), end="")
