"""Files that exist at the destination, and messages about files with an unexpected size. To acknowledge an event is to
confirm that it was processed."""

import pytest

CONTENT = b"These are the first words of the file.\n"


@pytest.fixture
def url(serve):
    return serve({f"/{name}": CONTENT for name in "abc"}).url


def test_the_get_command_fetches_no_file_and_prints_advice_if_one_of_the_files_exists(backhaul, url):
    (backhaul.here / "b").write_text("mine")
    ended = backhaul("get", *(f"{url}/{name}" for name in "abc"), code=4)
    assert f"{url}/b: " in ended.stderr and "--skip-existing skips this one" in ended.stderr
    assert not (backhaul.here / "a").exists()
    assert "--skip-existing" not in backhaul("get", f"{url}/b", code=4).stderr


@pytest.mark.parametrize("command", ["get", "add"])
def test_a_command_with_the_skip_existing_option_fetches_only_the_files_that_do_not_exist(backhaul, url, command):
    (backhaul.here / "b").write_text("mine")
    ended = backhaul(command, "--skip-existing", *(f"{url}/{name}" for name in "abc"))
    assert f"{backhaul.here}/b exists already, and is skipped." in ended.stderr
    assert len(ended.stdout.splitlines()) == 2
    backhaul("wait")
    assert [(backhaul.here / name).read_bytes() for name in "abc"] == [CONTENT, b"mine", CONTENT]


def test_the_get_command_with_the_skip_existing_option_fetches_nothing_if_all_files_exist(backhaul, url):
    (backhaul.here / "a").write_text("mine")
    ended = backhaul("get", "--skip-existing", f"{url}/a")
    assert (ended.stdout, ended.stderr) == ("", f"{backhaul.here}/a exists already, and is skipped.\n")


def test_the_json_output_has_an_object_for_a_file_that_is_skipped(backhaul, url):
    (backhaul.here / "a").write_text("mine")
    path = f"{backhaul.here}/a"
    (skipped,) = backhaul.json("get", "--skip-existing", f"{url}/a")
    assert (skipped["task_id"], skipped["task_state"], skipped["path"], skipped["size"]) == (None, "skipped", path, 4)
    (skipped,) = backhaul.json("add", "--skip-existing", f"{url}/a")
    assert (skipped["task_id"], skipped["disposition"], skipped["destination"]) == (None, "skipped", path)


def test_the_get_command_with_the_skip_existing_option_acknowledges_the_end_event_of_its_file(backhaul, url):
    backhaul("add", f"{url}/a")
    # An embedded engine, which runs the transfers inside a command, transfers /a only while a `get` command runs. Each
    # `get` command acknowledges only the end event of its own file.
    backhaul("get", f"{url}/b")
    while not backhaul.json("tasks", "--state", "succeeded"):
        backhaul("get", f"{url}/c", "--if-exists", "replace")
    assert backhaul("get", "--skip-existing", f"{url}/a").stdout == f"{backhaul.here}/a\n"
    assert backhaul.json("events") == []


@pytest.mark.parametrize("size", ["5", "5000"])
def test_the_error_of_a_size_mismatch_does_not_show_the_response_body(backhaul, url, size):
    ended = backhaul("get", "--size", size, "--attempts", "1", f"{url}/a", code=1)
    assert "(BH_SIZE_MISMATCH)" in ended.stderr and "first words" not in ended.stderr
    (task,) = backhaul.json("get", "--size", size, "--attempts", "1", f"{url}/a", code=1)
    assert task["error_body"] is None
