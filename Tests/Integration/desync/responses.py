"""The responses of a test server to the requests of tasks."""

from dataclasses import dataclass

from desync.runs import CHANGED, HEAD, RESUME
_LETTERS = b"abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    #: The header fields by name. The names are in lower case.
    headers: dict
    body: bytes = b""

    @property
    def task(self):
        """The name of the task that sent the request."""
        return self.headers.get("x-task", "")

    @property
    def offset(self):
        """The offset at which the requested range begins."""
        return int(self.headers.get("range", "bytes=0-").removeprefix("bytes=").partition("-")[0])


@dataclass(frozen=True)
class Response:
    """A response. If it is the last response to a task, the task ends with `content`."""

    status: int
    #: The content of a downloaded file, the response body that an upload's event has, or the body of an error
    #: response.
    content: bytes = b""
    #: The body of this message, which may be only a range of the content.
    body: bytes = b""
    framing: str = "length"
    fields: tuple = ()
    #: The number of bytes of the body after which the server closes the connection.
    drop_after: int | None = None

    @property
    def is_final(self):
        """Whether no further attempt follows this response."""
        return self.drop_after is None and self.status != 503

    def encoded(self):
        """Returns the head and the body as bytes."""
        fields = list(self.fields)
        if self.framing == "chunked" or self.framing == "trailers":
            fields.append("Transfer-Encoding: chunked")
        elif self.framing == "length":
            fields.append(f"Content-Length: {len(self.body)}")
        head = "\r\n".join([f"HTTP/1.1 {self.status} Because", *fields, "", ""]).encode()
        if self.drop_after is not None:
            return head, self.body[:self.drop_after]
        if self.framing in ("chunked", "trailers"):
            return head, self._chunks()
        return head, self.body

    def _chunks(self):
        middle = len(self.body) // 2
        parts = [part for part in (self.body[:middle], self.body[middle:]) if part]
        trailer = b"X-Trailer: one\r\nX-Other: two\r\n" if self.framing == "trailers" else b""
        return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n" + trailer + b"\r\n"


def content_of(task, attempt, size):
    """Returns a body that differs from the bodies of all other responses."""
    start = f"body of {task}, attempt {attempt}\n".encode()
    return start + (_LETTERS * (size // len(_LETTERS) + 1))[:size]


def respond(run, request, attempt):
    """Returns the response to a request. `attempt` is the number of earlier requests of the same task."""
    number = int(request.task.rpartition("t")[2])
    step = run.steps[number]
    content = content_of(request.task, attempt, step.size)
    tag = f'ETag: "{request.task}"'
    if step.method == HEAD:
        return _head(step, content, tag)
    if step.method == RESUME:
        return _part(request, content_of(request.task, 0, step.size), attempt, tag)
    if step.method == CHANGED and "if-none-match" in request.headers:
        return _unchanged(run, step, request)
    match step.framing:
        case "empty":
            return Response(200)
        case "no-content":
            return Response(204, framing="none")
        case "missing":
            return Response(404, content, content)
        case "missing-chunked":
            return Response(404, content, content, "chunked")
        case "unavailable" if attempt == 0:
            return Response(503, content, content)
        case "chunked" | "trailers":
            return Response(200, content, content, step.framing, (tag,))
    return Response(200, content, content, fields=(tag,))


def _head(step, content, tag):
    length = {"length": f"Content-Length: {len(content)}", "empty": "Content-Length: 0",
              "chunked": "Transfer-Encoding: chunked"}[step.framing]
    return Response(200, framing="none", fields=(tag, length))


def _part(request, content, attempt, tag):
    if attempt == 0:
        return Response(200, content, content, fields=(tag,), drop_after=len(content) // 2)
    if "range" not in request.headers:
        return Response(200, content, content, fields=(tag,))
    rest = content[request.offset:]
    return Response(206, content, rest, fields=(
        tag, f"Content-Range: bytes {request.offset}-{len(content) - 1}/{len(content)}"))


def _unchanged(run, step, request):
    """Returns a 304, so the client keeps the file of an earlier task."""
    fields = (f"ETag: {request.headers['if-none-match']}",)
    if step.framing == "unchanged-with-length":
        fields += (f"Content-Length: {len(content_of(run.task(step.of), 0, run.steps[step.of].size))}",)
    return Response(304, framing="none", fields=fields)
