"""Enqueues COUNT requests in one call of the C API, and measures this process's memory.

Usage: enqueue_many.py STORE COUNT. Prints the resident KiB before the call, the highest resident KiB during the call,
and the duration of the call in seconds. All requests use the same texts in memory. So only the library's memory grows.
"""

import sys
import time
from ctypes import byref, memmove, sizeof
from pathlib import Path

import backhaul
from backhaul._constants import RequestFlags
from backhaul._ctypes import bh_batch, bh_request
from backhaul._handles import BatchHandle, take
from backhaul._library import library
from backhaul._reading_transfers import enqueued


def resident(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise AssertionError(field)


def main(store, count):
    with backhaul.Application("org.example.many", store, hosting=backhaul.Hosting.EMBEDDED) as application:
        with application.session("many") as session:
            request = bh_request(sizeof(bh_request), b"http://127.0.0.1:9/one/of/many",
                                 flags=RequestFlags.STARTS_SUSPENDED)
            requests = (bh_request * count)()
            for index in range(count):
                memmove(byref(requests, index * sizeof(bh_request)), byref(request), sizeof(bh_request))
            # The interpreter needed more memory at its start than it needs now. So the highest value is reset here.
            Path("/proc/self/clear_refs").write_text("5")
            before, start = resident("VmRSS"), time.monotonic()
            results = take(bh_batch, library.bh_session_enqueue, session._handle.pointer, requests, count, 600_000)
            seconds, most = time.monotonic() - start, resident("VmHWM")
            assert len({item.task_id for item in enqueued(BatchHandle(results))}) == count
            print(before, most, f"{seconds:.1f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
