"""Writes docs/http.md from the rows: python -m behaviours.document > docs/http.md"""

from behaviours import table
from behaviours.row import ALL_TRANSPORTS

_TRANSPORTS = {"h1": "1.1", "h2": "2", "forward": "proxy", "tunnel": "tunnel"}

_HEAD = """# HTTP: what servers do, and how tasks end

A *task* is one download or upload. This page shows what a task does for each behaviour of a server. Each row is one
case. The text before the colon says what the server does. The text after the colon says what the task does, or what the
result is.

Words in the rows ([glossary](glossary.md)):

- The *host* is the program that embeds the library. The *engine* is the process that runs the tasks.
- A *session* is a named collection of tasks. An *attempt* is one run of a task. The *backoff* is the delay before the
  next attempt.
- An *event* is a stored message for the host, for example that a task has ended.
- A *challenge* is a demand that the host must respond to, such as a demand for a password.

The link in a row leads to the file that defines the row. `scripts/test behaviours` runs each row over its transports:

- *1.1*: HTTP/1.1
- *2*: HTTP/2 over TLS
- *proxy*: HTTP/1.1, forwarded by squid
- *tunnel*: HTTP/2 over TLS, through a CONNECT tunnel of squid

A row omits a transport for one of three reasons:

- The protocol does not have the behaviour. For example, HTTP/2 has no chunks.
- A proxy that follows the standard would change the messages of the case. For example, the proxy would send its own
  response, repeat the request, or correct an error.
- The row takes long. Such a row runs without a proxy.

*Drops* means that the server breaks the connection inside the body. In most rows of the section on ranges, the server
first drops the connection, and then responds to the next request. The row describes this response. *Fails with the
status* means that the task ends with `BH_HTTP_STATUS` and the server's status. In the last three sections, most cases
come from the tests of other projects. The column *source* names the test.

Four rules go beyond HTTP:

- If the request has a checksum, a part of a file is continued whatever ETag and Last-Modified the responses have,
  without If-Range. The checksum decides at the end. If it is wrong, the download starts over one time, with the usual
  rules, and then fails.
- A *page in place of the file* is a response of the type text/html or application/xhtml+xml that follows a redirect.
  The redirect leads to another origin, and a part of the file has come from elsewhere, or the URL names a file that is
  no page, such as `a.zip`. Or the redirect leads to a *login page*: its host name or path has a word such as `login`,
  `sign_in` or `oauth2`, which the URL of the task does not have. Without this rule, a login page would become the file.
  Such a page is not received. The task is retried, and after three attempts in a row it fails with
  `BH_UNEXPECTED_TYPE`. If the request continued a part of the file, it is retried until `retry.maximum_attempts` or the
  resource time-out. To accept pages, list `text/html` in `accepted_types`. Other pages from the origin of the URL are
  accepted, so list the types that you expect if this may happen.
- If the server refuses a range request with an error status, such as 403 or 501, it has perhaps refused only the range.
  So the same attempt requests the whole file. The part of the file is kept until the response with the whole file
  begins. Only if the second request fails, the status counts. This does not apply to temporary statuses except 500, to
  401, 407 and 511, and to a response with `Retry-After`.
- If a GET with a destination gets 202 with `Retry-After`, the server still prepares the file. The task waits, and the
  request is sent again. If `accepted_statuses` is set and has 202, or without `Retry-After`, the body is the file.

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
