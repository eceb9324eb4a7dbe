"""Files whose names the server gives (RFC 6266). The request states only the directory."""

import pytest

from backhaul import BackhaulError, Status, TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from testbed.host import until

CONTENT = Content(50_000, seed=1)


def named(value, **more):
    return Behaviour(headers={"Content-Disposition": value}, **more)


@pytest.fixture
def one(host):
    made = host()
    made.session(first_delay_ms=50)
    return made


def get(one, url, directory, **options):
    one.download(url, directory, named_by_server=True, **options)
    return one.wait_for()[-2]


@pytest.mark.both_hostings
@pytest.mark.parametrize("slash", ["", "/", "//"])
def test_a_file_gets_the_name_that_the_server_gives_and_its_event_has_the_path(one, misbehaving, downloads, slash):
    url = misbehaving.serve("/a", CONTENT, otherwise=named("attachment; filename*=UTF-8''%e2%82%ac%20rates.txt"))
    event = get(one, url, f"{downloads}{slash}")
    assert event.state is TaskState.SUCCEEDED
    assert str(event.path) == str(downloads / "€ rates.txt")
    assert [path.name for path in downloads.iterdir()] == ["€ rates.txt"]
    assert sha256_of(event.path) == CONTENT.sha256


@pytest.mark.parametrize("value, name", [
    ("attachment; filename=\"../../../etc/passwd\"", "passwd"),
    ("attachment; filename=\"/etc/passwd\"", "passwd"),
    ("attachment; filename*=UTF-8''%2e%2e%2f%2e%2e%2fx", "x"),
    ("attachment; filename=\".ssh\"", "ssh"),
    ("attachment; filename=\"..\"", "song.flac"),
    ("attachment; filename*=UTF-8''a%00b", "ab"),
    ("attachment; filename=\"" + "n" * 10_000 + ".txt\"", "n" * 251 + ".txt"),
    ("attachment; filename=\"\xe9.html\"", "é.html"),
    ("; ; ;=;\"", "song.flac"),
])
def test_a_file_is_in_the_directory_and_not_hidden_whatever_name_the_server_sends(
        one, misbehaving, downloads, value, name):
    event = get(one, misbehaving.serve("/song.flac", CONTENT, otherwise=named(value)), downloads)
    assert event.state is TaskState.SUCCEEDED and str(event.path) == str(downloads / name)
    assert [path.name for path in downloads.iterdir()] == [name]


def test_many_tasks_can_place_files_in_one_directory(one, misbehaving, downloads):
    for number in range(20):
        one.download(misbehaving.serve(f"/{number}", CONTENT), downloads, named_by_server=True)
    assert {event.state for event in one.wait_for()[:-1]} == {TaskState.SUCCEEDED}
    assert {path.name for path in downloads.iterdir()} == {str(number) for number in range(20)}


def test_if_a_file_with_the_given_name_exists_the_name_gets_a_number(one, misbehaving, downloads):
    for name in ("x.zip", "x (1).zip"):
        (downloads / name).write_text("mine")
    event = get(one, misbehaving.serve("/a", CONTENT, otherwise=named("attachment; filename=x.zip")), downloads)
    assert event.path == str(downloads / "x (2).zip") and sha256_of(event.path) == CONTENT.sha256
    assert [(downloads / name).read_text() for name in ("x.zip", "x (1).zip")] == ["mine", "mine"]


@pytest.mark.parametrize("if_exists", ["fail", "replace"])
def test_running_tasks_with_the_same_given_name_get_different_names(one, misbehaving, downloads, if_exists):
    contents = [Content(400_000, seed=seed) for seed in range(3)]
    one.reconfigure(bytes_per_second=30_000)
    for number, content in enumerate(contents):
        url = misbehaving.serve(f"/{number}", content, otherwise=named("attachment; filename=x.zip"))
        one.download(url, downloads, named_by_server=True, if_exists=if_exists)
    # All tasks run, and have their names, before one of them ends.
    until(one.tasks, lambda tasks: len(tasks) == 3 and all(task.offset > 0 for task in tasks))
    one.reconfigure(bytes_per_second=None)
    events = one.wait_for()[:-1]
    assert {event.path for event in events} == {str(downloads / f"x{part}.zip") for part in ("", " (1)", " (2)")}
    assert {sha256_of(event.path) for event in events} == {content.sha256 for content in contents}


def test_a_reserved_name_stays_with_its_task_after_a_crash_of_the_engine(host, misbehaving, downloads):
    contents = [Content(3_000_000, seed=seed) for seed in (3, 4)]
    stalls, whole = (named("attachment; filename=x.zip", stall_after=size) for size in (2_000_000, None))
    one = host()
    one.session(first_delay_ms=50)
    tasks = [
        one.download(
            misbehaving.serve(f"/{number}", content, [stalls], otherwise=whole), downloads,
            named_by_server=True)
        for number, content in enumerate(contents)]
    until(lambda: [one.task(task).offset for task in tasks], lambda offsets: min(offsets) > 1_000_000)
    until(lambda: [one.attempts(task) for task in tasks], all)
    one.kill_with_engine()
    other = host()
    other.attach()
    events = other.wait_for()[:-1]
    assert {event.path for event in events} == {str(downloads / "x.zip"), str(downloads / "x (1).zip")}
    assert {sha256_of(event.path) for event in events} == {content.sha256 for content in contents}


def test_an_existing_file_is_replaced_if_the_request_allows_it(one, misbehaving, downloads):
    (downloads / "x").write_text("mine")
    url = misbehaving.serve("/a", CONTENT, otherwise=named("attachment; filename=x"))
    assert get(one, url, downloads, if_exists="replace").state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "x") == CONTENT.sha256


def test_a_resumed_file_keeps_the_name_from_its_first_response(one, misbehaving, downloads):
    content = Content(3_000_000, seed=2)
    url = misbehaving.serve("/a", content, [named("attachment; filename=first", drop_after=2_000_000)])
    event = get(one, url, downloads)
    assert event.state is TaskState.SUCCEEDED and str(event.path) == str(downloads / "first")
    assert sha256_of(event.path) == content.sha256


@pytest.mark.parametrize("directory", ["gone", "file"])
def test_a_download_that_the_server_names_is_refused_if_its_destination_is_no_existing_directory(
        one, misbehaving, downloads, directory):
    (downloads / "file").write_text("no directory")
    with pytest.raises(BackhaulError) as raised:
        one.download(misbehaving.serve("/a", CONTENT), downloads / directory, named_by_server=True)
    assert raised.value.status is Status.DESTINATION_UNAVAILABLE


def test_a_destination_that_is_a_directory_is_refused_without_the_option_named_by_server(one, misbehaving, downloads):
    with pytest.raises(BackhaulError) as raised:
        one.download(misbehaving.serve("/a", CONTENT), f"{downloads}/")
    assert raised.value.status is Status.INVALID_ARGUMENT
