"""The examples in C and Python, tested as their authors would test them: with the kit."""

import sys
from datetime import timedelta
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
C = PROJECT / "build" / "examples"
PYTHON = PROJECT / "examples" / "python"
SIZE = 100_000


def serve(bed, count):
    return [bed.serve(f"/{number}.jpg", bytes([number]) * SIZE) for number in range(count)]


def write_list(bed, urls):
    """Writes the list of an example: a URL and a destination in each line."""
    listing = bed.directory / "list"
    listing.write_text("".join(f"{url}\t{bed.directory / Path(url).name}\n" for url in urls))
    return listing


def received(bed, count):
    return [(bed.directory / f"{number}.jpg").read_bytes() == bytes([number]) * SIZE for number in range(count)]


@pytest.mark.parametrize("program", [[C / "photos"], [sys.executable, PYTHON / "photos.py"]], ids=["c", "python"])
def test_photos_is_killed_and_finishes_when_it_runs_again(backhaul_testbed, program):
    bed = backhaul_testbed
    photos = serve(bed, 3)
    photos[1].stall(at=SIZE // 2)
    # The engine of this example is in its process, and reaches the origin on the loopback.
    listing = write_list(bed, [photo.url.replace("192.0.2.1", "127.0.0.1") for photo in photos])
    host = bed.start([*program, bed.store, listing])
    photos[1].wait_for_bytes(SIZE // 2)
    host.kill()
    photos[1].release()
    bed.start([*program, bed.store, listing]).wait()
    assert received(bed, 3) == [True] * 3


def test_collection_is_killed_and_launched_when_its_files_are_complete(backhaul_testbed):
    bed = backhaul_testbed
    photos = serve(bed, 3)
    photos[1].stall(at=SIZE // 2)
    log = bed.directory / "log"
    host = bed.start([C / "collection", bed.store, log, write_list(bed, [photo.url for photo in photos])])
    photos[1].wait_for_bytes(SIZE // 2)
    host.kill()
    bed.pass_time(1)
    photos[1].release()
    bed.launched().wait()
    assert received(bed, 3) == [True] * 3
    assert [photo.requests[0].status for photo in photos] == [200] * 3


def test_collection_gets_its_files_after_two_hours_in_which_the_server_was_busy(backhaul_testbed):
    bed = backhaul_testbed
    [photo] = serve(bed, 1)
    photo.refuse(503, {"Retry-After": "7200"})
    log = bed.directory / "log"
    host = bed.start([C / "collection", bed.store, log, write_list(bed, [photo.url])])
    photo.wait_for_requests(1)
    host.kill()
    bed.pass_time(timedelta(hours=2))
    bed.launched().wait()
    assert [request.status for request in photo.requests] == [503, 200]
