"""The examples, tested as their authors would test them: with the kit. Each is killed, its transfers are finished
without it, and it is launched or started again."""

import os
import re
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from example_programs import LANGUAGES, c, program, swift
from testbed.host import until

from backhaul.testing import HostFailed, Point

SIZE = 100_000


@pytest.fixture
def bed(backhaul_testbed, monkeypatch):
    """The testbed's directory is also the home directory of the examples."""
    monkeypatch.setenv("HOME", str(backhaul_testbed.directory))
    monkeypatch.setenv("XDG_DATA_HOME", str(backhaul_testbed.directory / "data"))
    return backhaul_testbed


def content(number):
    return bytes([number]) * SIZE


def serve(bed, count, path="/{}.jpg"):
    return [bed.serve(path.format(number), content(number)) for number in range(1, count + 1)]


def write_list(bed, urls):
    """Writes the list of an example: a URL and a destination in each line."""
    listing = bed.directory / "list"
    listing.write_text("".join(f"{url}\t{bed.directory / Path(url).name}\n" for url in urls))
    return listing


def received(bed, count):
    return [(bed.directory / f"{number}.jpg").read_bytes() == content(number) for number in range(1, count + 1)]


def printed(bed, *command):
    """Runs a program, and returns what it has printed."""
    return subprocess.run(command, env={**os.environ, **bed.environment}, capture_output=True, text=True, check=True,
                          timeout=60).stdout


def statuses(resources):
    return [[request.status for request in resource.requests] for resource in resources]


# ---- photos: the engine is in the process, and reaches the origin on the loopback


@pytest.mark.parametrize("language", LANGUAGES)
def test_photos_is_killed_and_finishes_when_it_runs_again(bed, language):
    photos = serve(bed, 3)
    photos[1].stall(at=SIZE // 2)
    listing = write_list(bed, [photo.url.replace("192.0.2.1", "127.0.0.1") for photo in photos])
    command = [*program(language, "photos"), bed.store]
    host = bed.start([*command, listing])
    photos[1].wait_for_bytes(SIZE // 2)
    host.kill()
    photos[1].release()
    bed.start(command).wait()
    assert received(bed, 3) == [True] * 3
    photos[2].replace(b"changed")
    assert re.fullmatch(r"enqueued 3 files\n(done \d \d+ /.*\n){3}round 2 finished\n", printed(bed, *command, listing))
    assert printed(bed, *command) == ""
    assert (bed.directory / "3.jpg").read_bytes() == b"changed"
    assert [asked[-1] for asked in statuses(photos)] == [304, 304, 200]


# ---- collection


def start_collection(bed, photos):
    return bed.start([*c("collection"), bed.store, bed.directory / "log",
                      write_list(bed, [photo.url for photo in photos])])


def test_collection_is_killed_and_launched_when_its_files_are_complete(bed):
    photos = serve(bed, 3)
    photos[1].stall(at=SIZE // 2)
    host = start_collection(bed, photos)
    photos[1].wait_for_bytes(SIZE // 2)
    host.kill()
    bed.pass_time(1)
    photos[1].release()
    bed.launched().wait()
    assert received(bed, 3) == [True] * 3
    for number in (2, 3):
        start_collection(bed, photos).wait()
        lines = (bed.directory / "log").read_text().splitlines()
        assert (lines.count("enqueued 3 files"), lines[-2:]) == (number, [f"round {number} finished", "completed"])
    assert statuses(photos) == [[200, 304, 304]] * 3


def test_collection_gets_its_files_after_two_hours_in_which_the_server_was_busy(bed):
    photos = serve(bed, 1)
    photos[0].refuse(503, {"Retry-After": "7200"})
    host = start_collection(bed, photos)
    photos[0].wait_for_requests(1)
    host.kill()
    bed.pass_time(timedelta(hours=2))
    bed.launched().wait()
    assert statuses(photos) == [[503, 200]]


# ---- images


@pytest.fixture(params=LANGUAGES)
def images(request, bed):
    """A function that starts the example with some words."""
    command = program(request.param, "images")
    return lambda *words: bed.start([*command, *words])


def check_pictures(bed, lines):
    """There are a picture and the log with these lines, and no other file."""
    folder = bed.directory / "Pictures" / "Backhaul"
    assert sorted(path.name for path in folder.iterdir()) == ["1.jpg", "images.log"]
    assert (folder / "1.jpg").read_bytes() == content(1)
    # A Swift program that the user opens is also notified that its events are delivered, if it has no object for the
    # session yet when the library reads them.
    shown = (folder / "images.log").read_text().splitlines()
    assert [line for line in shown if line != "no event is outstanding"] == lines


LAUNCHED = ["enqueued 1.jpg", f"launched: 1.jpg is there, {SIZE} bytes", "launched: round 1 finished",
            "launched: no event is outstanding"]


def test_images_has_exited_and_is_launched_when_the_picture_is_complete(bed, images):
    [picture] = serve(bed, 1)
    picture.stall(at=1)
    images("get", picture.url).wait()
    picture.wait_for_bytes(1)
    picture.release()
    bed.launched().wait()
    check_pictures(bed, LAUNCHED)
    images("get", picture.url).wait()
    images().wait()
    check_pictures(bed, [*LAUNCHED, "1.jpg exists already"])
    assert statuses([picture]) == [[200]]


def test_images_is_open_and_killed_and_is_launched_when_the_picture_is_complete(bed, images):
    [picture] = serve(bed, 1)
    picture.stall(at=SIZE // 2)
    images("get", picture.url).wait()
    host = images()
    picture.wait_for_bytes(SIZE // 2)
    host.kill()
    bed.pass_time(1)
    picture.release()
    bed.launched().wait()
    check_pictures(bed, LAUNCHED)


@pytest.mark.parametrize("point", [Point.RECEIVED, Point.PLACED, Point.ENDED])
def test_images_shows_the_picture_when_it_is_opened_after_the_power_has_failed(bed, images, point):
    [picture] = serve(bed, 1)
    bed.kill_daemon(at=point)
    images("get", picture.url).wait()
    bed.wait_for_death()
    bed.fail_power()
    images().wait()
    check_pictures(bed, ["enqueued 1.jpg", f"1.jpg is there, {SIZE} bytes", "round 1 finished"])
    assert statuses([picture]) == [[200]]


# ---- background-guide


def start_guide(bed, resource):
    bed.start([*swift("background-guide"), resource.url]).wait()


def guided_files(bed):
    return [(path.name, path.read_bytes()) for path in (bed.directory / "data").iterdir()]


def test_the_background_guide_is_launched_and_saves_its_file_in_each_of_two_runs(bed):
    (bed.directory / "data").mkdir()
    report = bed.serve("/report.pdf", content(1))
    for number in (1, 2):
        report.replace(content(number))
        start_guide(bed, report)
        bed.launched().wait()
        assert guided_files(bed) == [("report.pdf", content(number))]


def test_the_background_guide_gets_its_file_after_the_daemon_was_killed(bed):
    (bed.directory / "data").mkdir()
    report = bed.serve("/report.pdf", content(1))
    report.stall(at=1)
    start_guide(bed, report)
    report.wait_for_bytes(1)
    bed.kill_daemon()
    report.release()
    start_guide(bed, report)
    while not guided_files(bed):
        bed.launched().wait()
    assert guided_files(bed) == [("report.pdf", content(1))]


def test_the_background_guide_saves_no_file_that_the_server_does_not_have(bed):
    (bed.directory / "data").mkdir()
    report = bed.serve("/report.pdf", b"")
    report.refuse(404)
    start_guide(bed, report)
    bed.launched().wait()
    assert (guided_files(bed), statuses([report])) == ([], [[404]])


# ---- The examples with an event loop: 20 downloads, an upload, and a server that demands a credential


COUNT = 20


@pytest.fixture
def loop(request, bed):
    """A function that starts the example. Its output is in the file `output`."""
    (bed.directory / "report").write_bytes(b"a report\n")
    command = [*c(request.param), bed.url, bed.directory, bed.directory / "report"]
    return lambda: bed.start(["sh", "-c", 'exec "$@" >>"$0"', bed.directory / "output", *command])


def lines(bed):
    path = bed.directory / "output"
    return path.read_text().splitlines() if path.exists() else []


def has_shown_progress(shown):
    return any(re.fullmatch(r"task \d+ is running: [1-9]\d* bytes, \d+ bytes/s", line) for line in shown)


@pytest.mark.parametrize("loop", ["epoll", "libuv", "glib"], indirect=True)
def test_a_program_with_an_event_loop_is_killed_and_reports_all_ends_when_it_runs_again(bed, loop, monkeypatch):
    monkeypatch.setenv("LOOP_USER", "me")
    monkeypatch.setenv("LOOP_PASSWORD", "opensesame")
    files, upload = serve(bed, COUNT, "/{}"), bed.serve("/upload", b"")
    files[0].require("me", "opensesame")
    files[1].stall(at=SIZE // 2)
    host = loop()
    files[0].wait_for_requests(2)
    files[1].wait_for_bytes(SIZE // 2)
    bed.pass_time(1)
    until(lambda: lines(bed), has_shown_progress)
    host.kill()
    files[1].release()
    files[1].wait_for_bytes(SIZE)
    bed.pass_time(1)
    assert (bed.directory / "2").read_bytes() == content(2)
    loop().wait()
    ended = {line.split("/")[-1] for line in lines(bed) if line.endswith(" succeeded")}
    assert ended == {"upload succeeded", *(f"{number} succeeded" for number in range(1, COUNT + 1))}
    assert [(bed.directory / str(number)).read_bytes() == content(number) for number in range(1, COUNT + 1)] == [
        True] * COUNT
    # A run enqueues again what an earlier run has acknowledged.
    assert {request.body for request in upload.requests} == {b"a report\n"}


@pytest.mark.parametrize("loop", ["epoll"], indirect=True)
def test_a_program_with_an_event_loop_and_without_a_credential_refuses_the_demand_and_fails(bed, loop):
    files, _ = serve(bed, COUNT, "/{}"), bed.serve("/upload", b"")
    files[0].require("me", "opensesame")
    with pytest.raises(HostFailed, match="the exit code is 1"):
        loop().wait()
    assert any(line.endswith("demands a credential: refuse") for line in lines(bed))
    assert any(line.startswith(f"download {files[0].url} failed: ") for line in lines(bed))
