# Generated from include/backhaul.h by scripts/generate-bindings. Edit the header, not this file.
"""The numeric constants of include/backhaul.h: limits and special values. Their names have no prefix here."""

from __future__ import annotations

#: The size of ``BackhaulError.message`` in bytes, including the NUL.
ERROR_MESSAGE_SIZE = 512
#: The value of ``BackhaulError.index`` when no item of an array was wrong.
NO_INDEX = 2**64 - 1
#: 30 seconds.
WAIT_DEFAULT = -2_147_483_647
#: Start the operation, do not wait, return Status.STARTED.
START = -2_147_483_646
#: The longest wait of one call: a day.
WAIT_MAXIMUM = 86_400_000
#: A budget that permits no bytes.
BUDGET_NOTHING = 2**64 - 1
#: For ``SessionConfiguration.history_limit``: no ended task is kept.
HISTORY_NONE = 2**32 - 1
#: Priority of a task that starts immediately, even if its session's limits are reached. If the engine's limits are
#: reached, the engine stops the running task with the lowest priority in favour of this task. It does not stop a task
#: that has sent a request that must not be repeated.
PRIORITY_NOW = 101
#: Bytes of a URL.
URL_SIZE_MAXIMUM = 16_384
#: Bytes of ``Request.user_data``.
USER_DATA_SIZE_MAXIMUM = 65_536
#: Headers of a request or a session.
HEADER_COUNT_MAXIMUM = 100
#: Bytes of the names and values of all headers together.
HEADERS_SIZE_MAXIMUM = 65_536
#: Bytes of ``Request.body``.
BODY_SIZE_MAXIMUM = 1_048_576
#: Parts of a form.
PART_COUNT_MAXIMUM = 1_000
#: Bytes of ``Request.group``.
GROUP_SIZE_MAXIMUM = 255
#: Tasks in ``Request.after``.
AFTER_COUNT_MAXIMUM = 16
#: Requests in one call.
ENQUEUE_COUNT_MAXIMUM = 10_000_000
#: Event ids or task ids in one call.
ID_COUNT_MAXIMUM = 100_000
#: The value of ``size`` while no response has stated the file's size.
SIZE_UNKNOWN = 2**64 - 1
#: For ``reschedule``: the time stays as it is.
TIME_UNCHANGED = -1
