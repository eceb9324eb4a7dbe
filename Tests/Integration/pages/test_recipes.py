"""Blocks of Python in the guides do what the guides say. The tests run the text of a block with their own session."""

import hashlib
import subprocess
import sys

import pytest
from backhaul import Application, Hosting, Request, TaskState

from . import context
from .blocks import blocks


def run(document, part, **names):
    """Runs the block that contains `part`. Returns the names that the block defines."""
    [text] = [block.text for block in blocks("python", f"docs/guides/{document}.md") if part in block.text]
    for old, new in names.pop("replaced", {}).items():
        text = text.replace(old, str(new))
    defined = {**vars(context), **names}
    exec(compile(text, document, "exec"), defined)
    return defined


@pytest.fixture
def application(tmp_path):
    with Application("org.example.recipes", tmp_path / "store", hosting=Hosting.EMBEDDED) as application:
        yield application


@pytest.fixture
def session(application):
    return application.session("recipes")


def digest(data):
    return f"sha-256:{hashlib.sha256(data).hexdigest()}"


def test_a_changed_list_with_another_checksum_for_a_file_replaces_the_task_of_the_file(session, tmp_path, server):
    places = {"https://example.org": server.url, "/home/me": tmp_path}
    follow = run("downloads", "def follow", replaced=places)["follow"]
    follow(session, {"large.bin": digest(b"old"), "gone.bin": digest(b"")})
    follow(session, {"large.bin": digest(b"new")})
    live = session.tasks(states=[TaskState.WAITING, TaskState.RUNNING])
    assert [task.key for task in live] == [f"large.bin {digest(b'new')}"]


def test_a_loop_that_polls_for_events_and_for_progress_shows_both(session, tmp_path, server, capsys):
    session.enqueue([Request(f"{server.url}/large.bin", tmp_path / "1.bin")])
    server.release()
    run("downloads", "poll_progress", session=session)
    assert f"ended: {server.url}/large.bin succeeded" in capsys.readouterr().out
    assert session.poll(timeout=0).items == []


def test_a_restarted_program_reads_the_events_of_each_session_and_stops_when_nothing_is_left(
        application, tmp_path, server, capsys):
    for name, path in [("ended", "no-such-file"), ("live", "large.bin"), ("empty", None)]:
        with application.session(name) as session:
            if path:
                session.download(f"{server.url}/{path}", tmp_path / f"my-{path}")
    server.release()
    run("downloads", "def finish", application=application)
    assert [(one.live_tasks, one.events) for one in application.sessions()] == [(0, 0)] * 3
    assert capsys.readouterr().out == f"{tmp_path / 'my-large.bin'} is complete\n"


def arrives(folder, url, name):
    folder.mkdir()
    run("testing", "test_the_file_arrives", replaced={"1.jpg": name})["test_the_file_arrives"](folder, url)


def test_the_test_of_the_guide_passes_if_the_file_arrives(tmp_path, server):
    server.release()
    arrives(tmp_path / "files", server.url, "large.bin")


def test_the_test_of_the_guide_fails_if_the_server_does_not_have_the_file(tmp_path, server):
    with pytest.raises(AssertionError):
        arrives(tmp_path / "files", server.url, "no-such-file")


@pytest.mark.parametrize("first", ["def photos(", "def photo(", "_for_wifi(", "_in_an_event_loop("])
def test_the_stories_of_the_guide_pass(tmp_path, first):
    """A story is a module of its own, because the kit starts its function in another process. The test of the power
    uses the host of the block before it."""
    texts = [block.text for block in blocks("python", "docs/guides/testing.md")]
    [start] = [number for number, text in enumerate(texts) if first in text]
    stories = texts[start:start + (2 if "def photo(" in texts[start] else 1)]
    (tmp_path / "test_story.py").write_text("\n".join(stories).replace("count(1)", "count(1, 10)"))
    ended = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "pytest_backhaul", tmp_path / "test_story.py"],
                           cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
