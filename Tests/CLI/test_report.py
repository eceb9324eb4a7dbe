"""The data of `backhaul report` is what `tasks`, `history` and `attempts` show, and foreign texts stay data."""

import html.parser
import itertools
import json
import os
import re
import stat

import pytest

from command_line import until
from servers.behaviour import Behaviour, retry_after
from servers.content import Content

STATES = ["", "waiting", "running", "suspended", "succeeded", "failed", "cancelled"]
NEXT = ["", "end", "retry", "challenge", "stopped", "running"]
TIMES = ["domain_lookup", "connect", "secure_connection", "request_start", "response_start", "response_end"]


class Page(html.parser.HTMLParser):
    """The scripts of a page, its elements with what could load something, and its content security policy."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.loading, self.policy, self._script = [], [], None, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "script":
            self._script = given
            self.scripts.append([given, ""])
        if {"src", "srcset", "action", "data"} & set(given) or tag in ("link", "iframe", "object", "img", "base"):
            self.loading.append((tag, given))
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]

    def handle_endtag(self, tag):
        if tag == "script":
            self._script = None

    def handle_data(self, data):
        if self._script is not None:
            self.scripts[-1][1] += data

    @property
    def data(self):
        [found] = [text for given, text in self.scripts if given.get("id") == "data"]
        return json.loads(found)


def values(column):
    """The values of a column. A column with long runs of equal values or of equal differences has each of them with its
    count."""
    if isinstance(column, list):
        return column
    [(kind, runs)] = column.items()
    found = [value for value, count in zip(runs[::2], runs[1::2], strict=True) for _ in range(count)]
    return found if kind == "runs" else list(itertools.accumulate(found))


def rows(table):
    """The rows of a table that is stored as columns."""
    table = {name: values(column) for name, column in table.items()}
    assert len({len(column) for column in table.values()}) == 1
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def number(value):
    return -1 if value is None else value


def error(data, position):
    return None if position < 0 else data["errors"][position]


def expected_task(task):
    return {
        "id": task["id"], "state": task["state"], "url": task["url"], "attempts": task["attempts"],
        "enqueued": task["enqueued_ms"], "ended": task["ended_ms"], "done": task["offset"],
        "size": number(task["size"]), "http_status": number(task["http_status"]),
        "error": None if task["status"] == "BH_OK" else [task["status"], task["http_status"], task["error_message"]],
    }


def shown_task(data, task):
    enqueued = data["base_ms"] + task["enqueued"]
    return {
        "id": task["id"], "state": STATES[task["state"]], "url": data["origins"][task["origin"]] + task["path"],
        "attempts": task["attempts"], "enqueued": enqueued,
        "ended": None if task["ended"] < 0 else enqueued + task["ended"], "done": task["done"],
        "size": -1 if task["missing"] < 0 else task["done"] + task["missing"],
        "http_status": task["http_status"], "error": error(data, task["error"]),
    }


def expected_attempt(attempt):
    return {
        "number": attempt["number"], "next": attempt["next"], "started": attempt["started_ms"],
        "offset": attempt["offset"], "received": attempt["response_body_bytes"],
        "protocol": attempt["protocol"], "http_status": number(attempt["http_status"]),
        "error": None if attempt["status"] == "BH_OK"
        else [attempt["status"], attempt["http_status"], attempt["error_message"]],
    } | {name: number(attempt[f"{name}_us"]) for name in TIMES}


def shown_attempt(data, enqueued, attempt):
    protocol = attempt["protocol"]
    return {
        "number": attempt["number"], "next": NEXT[attempt["next"]], "started": enqueued + attempt["started"],
        "offset": attempt["offset"], "received": attempt["received"],
        "protocol": None if protocol < 0 else data["protocols"][protocol], "http_status": attempt["http_status"],
        "error": error(data, attempt["error"]),
    } | {name: attempt[name] for name in TIMES}


@pytest.fixture
def mixed(backhaul, server):
    """Transfers that succeeded, failed, and were retried and continued."""
    content = Content(300_000)
    server.serve("/good", content)
    server.serve("/cut", content, [Behaviour(drop_after=200_000)])
    server.serve("/busy", content, [retry_after("0")])
    server.serve("/gone", content, otherwise=Behaviour(status=410, body=b"gone"))
    backhaul("get", "--retry-delay", "0.01", *(f"{server.url}/{name}" for name in ("good", "cut", "busy", "gone")),
             f"{server.url}/absent", code=1)
    return backhaul


def test_the_page_has_what_the_history_and_the_attempts_show(mixed):
    data = Page(mixed("report").stdout).data
    tasks, history = rows(data["tasks"]), mixed.json("history")
    assert len(history) == 5
    assert [shown_task(data, task) for task in tasks] == [expected_task(task) for task in history]
    attempts = iter(rows(data["attempts"]))
    for task in tasks:
        shown = [shown_attempt(data, data["base_ms"] + task["enqueued"], next(attempts))
                 for _ in range(task["attempt_rows"])]
        assert shown == [expected_attempt(attempt) for attempt in mixed.json("attempts", task["id"])]
    assert next(attempts, None) is None
    # The tests of the histories above would pass if nothing was retried or continued.
    assert sum(task["attempts"] for task in tasks) > 5
    assert sum(values(data["attempts"]["offset"])) > 0


def test_the_waits_of_a_reason_are_added(mixed):
    data = Page(mixed("report").stdout).data
    waits = iter(rows(data["waits"]))
    for task in rows(data["tasks"]):
        [explained] = mixed.json("why", task["id"])
        sums = {}
        for wait in explained["waits"]:
            sums[wait["reason"]] = sums.get(wait["reason"], 0) + wait["ended_ms"] - wait["began_ms"]
        shown = [next(waits) for _ in range(task["wait_rows"])]
        assert {data["reasons"][wait["reason"]]: wait["duration"] for wait in shown} == sums
    assert next(waits, None) is None and rows(data["periods"])


@pytest.mark.hosting("daemon")
def test_the_page_has_tasks_that_have_not_ended(backhaul):
    backhaul("add", "--suspended", "http://127.0.0.1:9/a")
    data = Page(backhaul("report").stdout).data
    [task] = rows(data["tasks"])
    assert shown_task(data, task) == expected_task(backhaul.json("tasks")[0])
    assert data["reasons"][task["reason"]] == "suspended"


@pytest.mark.hosting("embedded")
class TestThePage:
    def test_loads_nothing(self, mixed):
        page = Page(mixed("report").stdout)
        assert page.loading == []
        nonce = re.fullmatch(r"default-src 'none'; base-uri 'none'; form-action 'none'; "
                             r"script-src 'nonce-(\w+)'; style-src 'nonce-\1'", page.policy)[1]
        assert [given.get("nonce") for given, _ in page.scripts] == [None, nonce]
        assert nonce not in mixed("report").stdout

    def test_keeps_hostile_texts_in_its_data(self, backhaul):
        name = "</script><script>alert(1)</script><!--<script>\u2028\u202e&amp;'\"`${x}\\"
        urls = ["http://127.0.0.1:9/%3C/script%3E<!--</script>", "http://127.0.0.1:9/a?token=needle#part"]
        file = name.replace("/", ":").replace("{", "{{").replace("}", "}}")
        backhaul("add", "--suspended", "-o", file, urls[0], "--group", name)
        backhaul("add", "--suspended", urls[1])
        text = backhaul("report").stdout
        page = Page(text)
        assert len(page.scripts) == 2 and "<!--" not in text and "\u2028" not in text and "needle" not in text
        assert page.data["groups"] == [name.replace("\u2028", "\\u{2028}").replace("\u202e", "\\u{202e}")]
        assert values(page.data["tasks"]["path"])[1] == "/a?…"

    def test_shows_the_text_of_a_server_that_is_no_utf_8(self, backhaul, server):
        server.serve("/a", Content(10), otherwise=Behaviour(raw=b"HTTP/1.1 404 \xff\xfe</script>\r\n\r\n"))
        backhaul("get", f"{server.url}/a", code=1)
        [task] = rows(Page(backhaul("report").stdout).data["tasks"])
        assert STATES[task["state"]] == "failed"

    def test_of_an_empty_store_says_so(self, backhaul):
        backhaul("configure", "--retry", "3")
        assert rows(Page(backhaul("report").stdout).data["tasks"]) == []

    def test_is_written_to_a_private_file_that_replaces_an_older_one(self, mixed):
        file = mixed.here / "page.html"
        file.write_text("old")
        file.chmod(0o644)
        assert mixed("report", "-o", "page.html").stderr == f"Open {file} in a browser.\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert len(rows(Page(file.read_text()).data["tasks"])) == 5
        assert sorted(os.listdir(mixed.here)) == ["busy", "cut", "good", "page.html"]

    def test_goes_to_standard_output_and_to_devices(self, mixed):
        pages = [Page(mixed("report", *words).stdout).data for words in ([], ["-o", "-"], ["-o", "/dev/stdout"])]
        assert pages[0]["tasks"] == pages[1]["tasks"] == pages[2]["tasks"]

    def test_has_one_session_if_it_is_named(self, backhaul):
        for session in ("photos", "music"):
            backhaul("add", "--suspended", "--session", session, f"http://127.0.0.1:9/{session}")
        assert Page(backhaul("report").stdout).data["tasks"]["path"] == ["/music", "/photos"]
        for words in (["photos"], ["--session", "photos"]):
            data = Page(backhaul("report", *words).stdout).data
            assert (data["title"], values(data["tasks"]["path"])) == ("Session photos", ["/photos"])

    def test_has_all_applications_unless_one_is_named(self, backhaul):
        for application in ("org.example.photos", "org.example.mail"):
            backhaul("add", "--suspended", "--application", application, f"http://127.0.0.1:9/{application}")
        data = Page(backhaul("report").stdout).data
        assert (data["title"], values(data["tasks"]["path"])) == (
            "All sessions", ["/org.example.mail", "/org.example.photos"])
        assert data["sessions"] == ["default of org.example.mail", "default of org.example.photos"]
        data = Page(backhaul("report", "--application", "org.example.mail").stdout).data
        assert (data["title"], values(data["tasks"]["path"])) == (
            "All sessions of org.example.mail", ["/org.example.mail"])
        assert data["sessions"] == ["default"]

    def test_json_has_only_the_data(self, mixed):
        [data] = mixed.json("report")
        assert data["tasks"] == Page(mixed("report").stdout).data["tasks"]


@pytest.mark.hosting("embedded")
@pytest.mark.parametrize("words, code, message", [
    (["a", "b"], 2, "`report` takes at most one session"),
    (["a", "--session", "b"], 2, "the sessions 'a' and 'b' (--session) differ; name one session"),
    (["absent"], 3, "has no session 'absent'"),
    (["-o", "missing/page.html"], 1, "missing/page.html cannot be written: No such file or directory"),
])
def test_a_wrong_command_says_what_is_wrong(backhaul, words, code, message):
    backhaul("configure", "--retry", "3")
    assert message in backhaul("report", *words, code=code).stderr


@pytest.mark.hosting("embedded")
def test_a_store_that_does_not_exist_gives_no_page(backhaul):
    assert backhaul("report", "-o", "page.html", code=3).stderr.startswith("backhaul: there is no store at ")
    assert os.listdir(backhaul.here) == []


@pytest.mark.hosting("daemon")
def test_a_task_whose_end_is_not_acknowledged_is_on_the_page_once(backhaul, server):
    server.serve("/a", Content(10))
    backhaul("add", f"{server.url}/a")
    until(lambda: backhaul.json("tasks")[0]["state"] == "succeeded", "the end")
    assert len(rows(Page(backhaul("report").stdout).data["tasks"])) == 1
    backhaul("wait")
    assert len(rows(Page(backhaul("report").stdout).data["tasks"])) == 1
