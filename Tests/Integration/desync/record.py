"""What a server did in one run, and how the run's tasks ended. A run is a list of tasks, with the responses and the
junk that the server sends. Junk is bytes that belong to no request."""

from dataclasses import dataclass, field

from desync.responses import Response


@dataclass(frozen=True)
class RequestReceived:
    """Entry of a record: a complete request arrived."""

    connection: int
    task: str


@dataclass(frozen=True)
class ResponseSent:
    """Entry of a record: the server sent a response."""

    connection: int
    task: str
    response: Response
    #: The tasks that were running when the response was sent.
    live: frozenset = frozenset()


@dataclass(frozen=True)
class BytesInjected:
    """Entry of a record: the server sent junk, or a TLS record that requests a client certificate.

    `is_atomic` means: no request can have been in flight when the junk was sent. For example, one call sent the junk
    together with the end of a response. The client cannot send its next request on this connection before it has
    received the end of this response.
    """

    connection: int
    mark: str
    what: str
    is_atomic: bool
    live: frozenset = frozenset()


@dataclass
class Outcome:
    """The end of a task, as its event reports it."""

    task: str
    succeeded: bool
    #: The name of the status.
    status: str
    http_status: int
    #: The bytes of the downloaded file, of the response to an upload, or of the response with which the task failed.
    data: bytes
    message: str = ""
    attempts: int = 0

    def described(self):
        """Returns the outcome as one line of text."""
        state = "succeeded" if self.succeeded else f"failed with {self.status}"
        words = f" ({self.message})" if self.message else ""
        return f"{state}, status {self.http_status}, {self.data[:60]!r}{words}"


@dataclass
class Record:
    """All entries of one run, in the order in which the server made them."""

    entries: list = field(default_factory=list)
    outcomes: dict = field(default_factory=dict)

    def responses(self, task):
        return [entry.response for entry in self.entries if isinstance(entry, ResponseSent) and entry.task == task]

    def tasks_in_race(self):
        """Returns the tasks whose request may have been sent before junk arrived on the same connection.

        The client cannot distinguish such junk from a response, so these tasks may end with junk.
        """
        exposed, asking, found = {}, {}, set()
        for entry in self.entries:
            at = exposed.setdefault(entry.connection, set())
            match entry:
                case RequestReceived():
                    asking[entry.connection] = entry.task
                    if entry.task in at:
                        found.add(entry.task)
                case ResponseSent():
                    asking.pop(entry.connection, None)
                    # If a task has ended before its response was sent, the response is junk for the tasks that run now.
                    # The same applies if the task may have taken junk as its response.
                    if entry.task in found or entry.task not in entry.live:
                        at |= entry.live
                case BytesInjected(is_atomic=False):
                    at |= entry.live
                    if entry.connection in asking:
                        found.add(asking[entry.connection])
        # A client that takes junk for a response may close the connection before the server has read the request.
        received = {entry.task for entry in self.entries if isinstance(entry, RequestReceived)}
        return found | set().union(*exposed.values()) - received
