"""Hands over COUNT requests in one call of the C API and says what that took of this process's memory.

Usage: enqueue_many.py STORE COUNT. Prints KiB resident before the call, the most during it, and the seconds. All
requests share their texts, so that what grows is the library's.
"""

import sys
import time
from ctypes import byref, c_size_t, memmove, sizeof
from pathlib import Path

import backhaul
from backhaul._ctypes import bh_enqueued, bh_request
from backhaul._handles import call
from backhaul._library import library

ENQUEUE_STARTS_SUSPENDED = 1


def resident(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise AssertionError(field)


def main(store, count):
    with backhaul.Application("org.example.many", store, hosting=backhaul.Hosting.EMBEDDED) as application:
        with application.session("many") as session:
            request = bh_request(sizeof(bh_request), b"http://127.0.0.1:9/one/of/many", None, None, None, 0, None, 0,
                                 0, 0, ENQUEUE_STARTS_SUSPENDED, 0)
            requests = (bh_request * count)()
            for index in range(count):
                memmove(byref(requests, index * sizeof(bh_request)), byref(request), sizeof(bh_request))
            results, applied = (bh_enqueued * count)(), c_size_t()
            memmove(results, bytes(sizeof(results)), sizeof(results))
            # The most so far was while the interpreter started.
            Path("/proc/self/clear_refs").write_text("5")
            before, start = resident("VmRSS"), time.monotonic()
            call(library.bh_session_enqueue, session._handle.pointer, requests, count, sizeof(bh_request), 600_000,
                 results, byref(applied))
            seconds, most = time.monotonic() - start, resident("VmHWM")
            assert applied.value == count
            assert len({item.task_id for item in results}) == count
            print(before, most, f"{seconds:.1f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
