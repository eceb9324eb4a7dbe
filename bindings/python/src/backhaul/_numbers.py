# Generated from include/backhaul.h by scripts/generate-bindings; change the header, then run it.
"""The plain numbers of include/backhaul.h, by its names without the prefix: limits, flags, and special values."""

from __future__ import annotations

ERROR_MESSAGE_SIZE = 512
NO_INDEX = 2**64 - 1
WAIT_DEFAULT = -1
#: The longest wait of one call: a day.
WAIT_MAXIMUM = 86_400_000
#: For ``SessionConfiguration.history_limit``: no ended task is kept.
HISTORY_NONE = 2**32 - 1
#: For the budgets of sessions and networks: no byte may be moved.
BUDGET_NOTHING = 2**64 - 1
#: The priority of tasks that run at once, beyond the session's ``maximum_running_tasks`` and
#: ``connections_per_origin``: when the engine has no room either, the one with the least priority makes room.
PRIORITY_NOW = 101
BODY_SIZE_MAXIMUM = 1_048_576
PART_COUNT_MAXIMUM = 1_000
GROUP_SIZE_MAXIMUM = 255
URL_SIZE_MAXIMUM = 16_384
USER_DATA_SIZE_MAXIMUM = 65_536
HEADER_COUNT_MAXIMUM = 100
HEADERS_SIZE_MAXIMUM = 65_536
ENQUEUE_COUNT_MAXIMUM = 10_000_000
#: Size of a file that no answer has told yet.
SIZE_UNKNOWN = 2**64 - 1
#: For ``reschedule``: the time stays as it is.
START_UNCHANGED = -1

#: This handle belongs to a tool that looks on and is no host: while only such handles are open, the application is
#: launched as if none were, and is not told instead.
APPLICATION_OBSERVES = 1

#: Let the tasks end (Apple: finishTasksAndInvalidate).
INVALIDATE_FINISH = 1
#: Cancel them (Apple: invalidateAndCancel).
INVALIDATE_CANCEL = 2

REQUEST_STARTS_SUSPENDED = 1
#: Fetched only if the server has another version than the one that an earlier task of the session with this flag has
#: put at the destination from this URL (RFC 9110, section 13.1): else the task succeeds with ``http_status`` 304, and
#: the file stays. A file that was changed or removed since is fetched. Needs IfExists.REPLACE.
REQUEST_IF_CHANGED = 2
#: Destination is a directory, which exists: the file's name in it is that of Content-Disposition (RFC 6266), else the
#: URL's last part, never with a path, never hidden, at most 255 bytes; the event has the path.
REQUEST_NAMED_BY_SERVER = 4
#: The server's Repr-Digest and Content-Digest (RFC 9530) are not verified.
REQUEST_IGNORES_DIGESTS = 8

#: Also in the store (mode 0600), so that the next engine has it.
RESPONSE_KEEP = 1
