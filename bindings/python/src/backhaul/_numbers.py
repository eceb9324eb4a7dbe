"""The plain numbers of include/backhaul.h, by its names less the prefix: bits, limits, and what stands for nothing."""

from __future__ import annotations

#: The priority of tasks that run at once, beyond the session's limits: when the engine has no room either, the one with
#: the least priority makes room.
PRIORITY_NOW = 101
#: For ``reschedule``: the time stays as it is.
START_UNCHANGED = -1
#: For ``SessionConfiguration.history_limit``: no ended task is remembered.
HISTORY_NONE = 2**32 - 1
#: For the budgets of sessions and networks: no byte may be moved.
BUDGET_NOTHING = 2**64 - 1

APPLICATION_OBSERVES = 1
INVALIDATE_FINISH = 1
INVALIDATE_CANCEL = 2
REQUEST_STARTS_SUSPENDED = 1
REQUEST_IF_CHANGED = 2
REQUEST_NAMED_BY_SERVER = 4
REQUEST_IGNORES_DIGESTS = 8
RESPONSE_KEEP = 1
NO_INDEX = 2**64 - 1
SIZE_UNKNOWN = 2**64 - 1
ERROR_MESSAGE_SIZE = 512
WAIT_DEFAULT = -1
WAIT_MAXIMUM = 86_400_000
URL_SIZE_MAXIMUM = 16_384
USER_DATA_SIZE_MAXIMUM = 65_536
HEADER_COUNT_MAXIMUM = 100
HEADERS_SIZE_MAXIMUM = 65_536
ENQUEUE_COUNT_MAXIMUM = 10_000_000
BODY_SIZE_MAXIMUM = 1_048_576
PART_COUNT_MAXIMUM = 1_000
GROUP_SIZE_MAXIMUM = 255
