"""Options of transfers, sessions (named collections of transfers) and the store are stored and shown. A group is a
set of transfers with a common name. A consumed file is moved into the store when its upload is enqueued."""

import hashlib
import http.server
import threading

import pytest

from command_line import until
from servers.resumable import ResumableServer

pytestmark = pytest.mark.hosting("daemon")

URL = "http://127.0.0.1:9/never"
CONTENT = b"a line of the file\n" * 2_000
PIN = "sha256//" + "A" * 43 + "="


@pytest.fixture
def receiving():
    """A server that stores what it receives: `receiving.requests` has method, path, headers and body of each request.
    """
    requests = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def take(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            requests.append((self.command, self.path, self.headers, body))
            response_body = b"thanks \x1b[2J"
            self.send_response(201)
            self.send_header("Content-Length", str(len(response_body)))
            self.send_header("Content-Disposition", "attachment; filename*=UTF-8''..%2Fevil%1B%5B2J%C2%9B.txt")
            self.end_headers()
            self.wfile.write(response_body)

        do_PUT = do_POST = do_PATCH = do_GET = take

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        server.url = f"http://127.0.0.1:{server.server_port}"
        server.requests = requests
        yield server
        server.shutdown()


def with_changes(record, changes):
    """Returns the record with other values of some members, which may be records themselves."""
    assert set(changes) <= set(record)
    return record | {name: with_changes(record[name], value) if isinstance(value, dict) else value
                     for name, value in changes.items()}


def test_session_options_are_shown_and_stored(backhaul):
    (standard,) = backhaul.json("configure", "--connections", "6")
    backhaul.here.joinpath("ca.pem").write_text("")
    given = backhaul.json(
        "configure", "--proxy", "socks5h://127.0.0.1:9050", "--proxy-user", "ann:secret word", "--noproxy", "localhost",
        "--cacert", "ca.pem", "--cert", "c.pem", "--key", "k.pem", "--pinnedpubkey", PIN, "--tlsv1.3", "--cookie-jar",
        "persistent", "--connections", "3", "--parallel-max", "4", "--history-limit", "5", "--credentials", "fail",
        "--retry", "6", "--retry-delay", "0.5", "--retry-max-delay", "60", "--retry-jitter", "7", "--retry-errors",
        "name,lost", "--retry-status", "503", "--accept-status", "200,404", "--retry-unsafe", "--request-timeout", "8",
        "--max-time", "9", "--http1.1", "--redirects", "same_origin", "--max-redirs", "10", "--max-filesize", "1.5k",
        "--refuse-private-addresses",
        "--limit-rate", "2M", "-H", "X-Secret: hidden word", "--tolerate", "missing-close-notify,early-response")
    expected = with_changes(standard, {
        "identifier": "default",
        "retry": {
            "maximum_attempts": 7, "first_delay_ms": 500, "longest_delay_ms": 60_000, "jitter_percent": 7,
            "errors": ["name", "lost"], "unsafe_methods": True, "statuses": "503",
        },
        "rules": {
            "request_timeout_ms": 8_000, "http_version": "http1.1", "resource_timeout_ms": 9_000,
            "redirects": "same_origin", "maximum_redirects": 10, "accepted_statuses": "200,404", "maximum_size": 1_536,
            "refuses_private_addresses": True,
        },
        "tls": {
            "ca_file": f"{backhaul.here}/ca.pem", "client_certificate": f"{backhaul.here}/c.pem",
            "client_key": f"{backhaul.here}/k.pem", "pinned_public_keys": PIN, "minimum_version": "tlsv1.3",
        },
        "proxy": {"url": "socks5h://127.0.0.1:9050", "user": "ann", "bypass": "localhost"},
        "cookies": "persistent", "connections_per_origin": 3, "maximum_running_tasks": 4, "history_limit": 5,
        "asks_for_credentials": False, "bytes_per_second": 2 << 20, "header_names": ["X-Secret"],
        "sends_launch_events": True, "launch_if_stopped_ms": None,
        "tolerances": ["missing_close_notify", "early_response"],
    })
    assert given == [expected]
    assert backhaul.json("configure") == [expected]
    shown = backhaul("configure").stdout
    assert "--proxy:" in shown and "socks5h://127.0.0.1:9050" in shown
    assert "missing_close_notify, early_response" in shown
    assert "secret" not in shown and "hidden word" not in shown


def test_an_omitted_option_keeps_its_value_and_an_empty_value_restores_the_default(backhaul):
    backhaul("configure", "--proxy", "http://127.0.0.1:3128", "--proxy-user", "ann", "--parallel-max", "4")
    (changed,) = backhaul.json("configure", "--limit-rate", "1k")
    assert (changed["proxy"]["url"], changed["maximum_running_tasks"]) == ("http://127.0.0.1:3128", 4)
    (changed,) = backhaul.json("configure", "--proxy", "", "--limit-rate", "0")
    assert (changed["proxy"]["url"], changed["proxy"]["user"], changed["bytes_per_second"]) == (None, None, None)
    assert changed["maximum_running_tasks"] == 4
    backhaul("configure", "--tolerate", "early-response")
    (changed,) = backhaul.json("configure", "--limit-rate", "1k")
    assert changed["tolerances"] == ["early_response"]
    (changed,) = backhaul.json("configure", "--tolerate", "")
    assert changed["tolerances"] == []


def test_the_configure_command_reads_the_password_of_a_proxy_from_standard_input(backhaul):
    backhaul("configure", "--proxy", "http://127.0.0.1:3128", "--proxy-user", "ann", "--proxy-password-file", "-",
             stdin="secret word\n")
    assert backhaul.json("configure")[0]["proxy"]["user"] == "ann"


def test_transfers_with_options_of_a_session_run_in_a_variant_of_the_session(backhaul):
    backhaul("configure", "--parallel-max", "4")
    words = ["add", "--suspended", "--cookie-jar", "memory", URL]
    note = backhaul(*words).stderr
    (variant,) = [session["identifier"] for session in backhaul.json("sessions") if session["identifier"] != "default"]
    assert f"They run in session {variant}, a variant of session default." in note
    assert f"backhaul wait --store {backhaul.store} --session {variant}" in note
    (settings,) = backhaul.json("configure", "--session", variant)
    assert (settings["cookies"], settings["maximum_running_tasks"]) == ("memory", 4)
    (task,) = backhaul.json("tasks")
    backhaul("configure", "--parallel-max", "5")
    assert backhaul.json(*words)[0]["disposition"] == "existing"
    assert backhaul.json("configure", "--session", variant)[0]["maximum_running_tasks"] == 5
    assert backhaul.json("info", task["id"]) == [task]
    assert backhaul.json("why", task["id"])[0]["task"] == task
    assert backhaul.json("priority", "7", task["id"]) == [{"affected": 1}]
    assert f"task {task['id']} has the same destination" in backhaul("add", URL, code=4).stderr
    backhaul("add", "--suspended", URL + "/2")
    assert backhaul.json("cancel", "--all") == [{"affected": 2}]
    assert {end["task_state"] for end in backhaul.json("wait", code=1)} == {"cancelled"}
    assert backhaul.json("attempts", task["id"]) == []


def test_an_empty_value_of_an_option_of_a_transfer_is_the_setting_of_the_session(backhaul):
    backhaul("configure", "--proxy", "http://127.0.0.1:1", "--cookie-jar", "memory", "--tolerate", "early-response")
    words = ["-x", "", "--cookie-jar", "", "--credentials", "", "--tolerate", "", "--cacert", ""]
    assert "variant" not in backhaul("add", "--suspended", *words, URL).stderr
    assert [session["identifier"] for session in backhaul.json("sessions")] == ["default"]


def test_an_empty_ca_file_resets_the_setting_also_beside_the_option_with_the_same_meaning(backhaul):
    backhaul("configure", "--cacert", "ca.pem", "--ca-file", "")
    [session] = backhaul.json("configure")
    assert session["tls"]["ca_file"] is None


def test_of_two_minimum_versions_of_tls_the_higher_one_counts(backhaul):
    backhaul("configure", "--tlsv1.3", "--tlsv1.2")
    [session] = backhaul.json("configure")
    assert session["tls"]["minimum_version"] == "tlsv1.3"


@pytest.mark.parametrize("words", [["get"], ["add", "--suspended"]])
def test_a_note_says_that_the_daemon_ignores_the_proxy_variables_of_a_later_command(backhaul, serve, words):
    server = serve({"/a": CONTENT})
    backhaul("add", "--suspended", URL)
    proxy = {"http_proxy": "http://ann:secret@127.0.0.1:1"}
    given = backhaul(*words, "-x", "none", f"{server.url}/a", **proxy)
    assert "proxy variables" not in given.stderr
    (backhaul.here / "a").unlink(missing_ok=True)
    noted = backhaul(*words, f"{server.url}/a", "-o", "b", **proxy).stderr
    assert "does not use those of this command (http_proxy); give the proxy, or none, with --proxy" in noted
    assert "secret" not in noted


def test_the_password_of_a_proxy_is_not_in_the_name_of_a_variant(backhaul):
    names = []
    for password in ("one", "two"):
        backhaul("add", "--suspended", "-x", "http://127.0.0.1:9", "-U", f"ann:{password}", URL)
        names.append([session["identifier"] for session in backhaul.json("sessions")])
    assert names[0] == names[1] and len(names[0]) == 1


def test_the_wait_command_waits_for_the_variants_of_the_session(backhaul, serve):
    server = serve({"/a": CONTENT, "/b": CONTENT})
    backhaul("add", f"{server.url}/a")
    backhaul("add", "--noproxy", "127.0.0.1", f"{server.url}/b")
    assert sorted(backhaul("wait").stdout.splitlines()) == [f"{backhaul.here}/a", f"{backhaul.here}/b"]


def test_a_proxy_of_one_command_is_not_used_by_the_next_command(backhaul, serve):
    server = serve({"/a": CONTENT})
    backhaul("get", "--attempts", "1", "-x", "http://127.0.0.1:1", f"{server.url}/a", code=1)
    assert backhaul("get", f"{server.url}/a").stdout == f"{backhaul.here}/a\n"


def test_the_limits_command_shows_and_sets_the_limits_of_the_store(backhaul):
    standard = {"bytes_per_second": None, "maximum_running_tasks": 256, "maximum_connections": 256,
                "connections_per_origin": None}
    assert backhaul.json("limits") == [standard]
    changed = {**standard, "bytes_per_second": 512_000, "connections_per_origin": 2}
    assert backhaul.json("limits", "set", "--limit-rate", "500k", "--connections-per-origin", "2") == [changed]
    assert backhaul.json("limits", "set", "--parallel-max", "8") == [{**changed, "maximum_running_tasks": 8}]
    assert "no limit" not in backhaul("limits").stdout
    assert backhaul.json("limits", "set", "--limit-rate", "0")[0]["bytes_per_second"] is None


def test_the_group_option_lists_and_controls_the_transfers_of_a_group(backhaul):
    backhaul("add", "--suspended", "--group", "photos", URL + "/1", URL + "/2")
    backhaul("add", "--suspended", URL + "/3")
    assert [task["group"] for task in backhaul.json("tasks")] == ["photos", "photos", None]
    assert len(backhaul.json("tasks", "--group", "photos")) == 2
    assert backhaul.json("priority", "now", "--group", "photos") == [{"affected": 2}]
    assert [task["priority"] for task in backhaul.json("tasks")] == [101, 101, 0]
    assert backhaul.json("rate", "500k", "--group", "photos") == [{"affected": 2}]
    assert [task["rate_limit"] for task in backhaul.json("tasks")] == [512_000, 512_000, None]
    assert backhaul.json("cancel", "--group", "photos") == [{"affected": 2}]
    assert backhaul.json("cancel", "--group", "photos") == [{"affected": 0}]


def test_the_checksum_option_accepts_the_forms_that_other_tools_print(backhaul):
    digest = hashlib.sha256(CONTENT).hexdigest()
    for number, spelling in enumerate((f"sha-256:{digest}", f"SHA256={digest.upper()}", digest)):
        backhaul("add", "--suspended", "--checksum", spelling, "-o", "f", URL)
        assert len(backhaul.json("tasks")) == 1, (number, spelling)


def test_the_error_names_both_options_that_contradict_each_other(backhaul):
    errors = backhaul("add", "--size", "2", "--max-filesize", "1", URL, code=2).stderr
    assert "--size" in errors and "--max-filesize" in errors and URL in errors


def test_an_upload_is_listed_as_an_upload(backhaul):
    backhaul.here.joinpath("report.pdf").write_bytes(CONTENT)
    (handed,) = backhaul.json("put", "--no-wait", "--suspended", "report.pdf", "http://127.0.0.1:9/reports/")
    assert handed["url"] == "http://127.0.0.1:9/reports/report.pdf"
    (task,) = backhaul.json("tasks")
    assert (task["kind"], task["url"], task["destination"]) == ("upload", handed["url"], None)
    assert "upload" not in backhaul("info", task["id"]).stderr


def test_the_attempts_command_exits_with_3_if_the_task_does_not_exist(backhaul):
    backhaul("add", "--suspended", URL)
    assert "99" not in backhaul("attempts", "99", code=3).stdout
    assert backhaul.json("history") == []


def test_the_put_command_appends_the_file_names_to_the_url_of_a_folder(backhaul, receiving):
    for name in ("a b.txt", "c.txt"):
        backhaul.here.joinpath(name).write_bytes(CONTENT + name.encode())
    ended = backhaul("put", "a b.txt", "c.txt", f"{receiving.url}/in/")
    assert sorted(ended.stdout.splitlines()) == [f"{receiving.url}/in/a%20b.txt", f"{receiving.url}/in/c.txt"]
    arrived = {path: (method, body) for method, path, _, body in receiving.requests}
    assert arrived == {"/in/a%20b.txt": ("PUT", CONTENT + b"a b.txt"), "/in/c.txt": ("PUT", CONTENT + b"c.txt")}


def test_the_put_command_sends_a_form_and_prints_the_response_body(backhaul, receiving):
    backhaul.here.joinpath("1.jpg").write_bytes(CONTENT)
    (ended,) = backhaul.json("put", "-F", "title=Holidays", "-F", "photo=@1.jpg;type=image/jpeg", "-H", "X-Who: me",
                             f"{receiving.url}/form")
    assert (ended["task_state"], ended["http_status"], ended["path"]) == ("succeeded", 201, None)
    assert (ended["response_body"], ended["response_body_encoding"]) == ("thanks \x1b[2J", "utf-8")
    ((method, _, headers, body),) = receiving.requests
    assert (method, headers["X-Who"]) == ("POST", "me")
    assert headers["Content-Type"].startswith("multipart/form-data; boundary=")
    assert b'name="title"' in body and b"Holidays" in body and b'filename="1.jpg"' in body and CONTENT in body
    assert b"Content-Type: image/jpeg" in body


def test_the_put_command_reads_a_form_value_from_a_file_or_from_standard_input(backhaul, receiving):
    (backhaul.here / "note").write_bytes(b"two\nlines\xff")
    url = f"{receiving.url}/form"
    backhaul("put", "-F", "note=<note;type=text/plain", "-F", "more=<-", url, stdin="typed")
    ((_, _, _, body),) = receiving.requests
    assert b"\r\n\r\ntwo\nlines\xff\r\n" in body and b"\r\n\r\ntyped\r\n" in body
    assert b"Content-Type: text/plain" in body and b"filename" not in body
    assert "/absent cannot be read" in backhaul("put", "-F", "note=</absent", url, code=2).stderr


def test_the_put_command_sends_data_with_the_given_method(backhaul, receiving):
    backhaul("put", "-X", "PATCH", "--data-binary", "@-", f"{receiving.url}/item", stdin="a\nb")
    ((method, _, _, body),) = receiving.requests
    assert (method, body) == ("PATCH", b"a\nb")


def test_the_get_command_sends_data_with_post_and_writes_the_response_to_a_file(backhaul, receiving):
    backhaul("get", "-X", "POST", "--data-binary", "query", "-o", "answer", f"{receiving.url}/query")
    assert backhaul.here.joinpath("answer").read_bytes() == b"thanks \x1b[2J"
    assert receiving.requests[0][3] == b"query"


def test_a_file_name_from_the_server_has_no_folder_and_no_control_characters(backhaul, receiving):
    output = backhaul("get", "-J", f"{receiving.url}/a").stdout
    (file,) = backhaul.here.iterdir()
    assert file.read_bytes().startswith(b"thanks") and "evil" in file.name
    assert output.rstrip("\n").isprintable()
    for command in ("history", "attempts"):
        shown = backhaul(command, *([backhaul.json("history")[0]["id"]] if command == "attempts" else [])).stdout
        assert "\x1b" not in shown and "\x9b" not in shown


def test_a_download_fails_if_its_file_does_not_have_the_given_checksum(backhaul, serve):
    server = serve({"/a": CONTENT})
    right, wrong = hashlib.sha256(CONTENT).hexdigest(), "0" * 64
    assert "BH_CHECKSUM_MISMATCH" in backhaul("get", "--checksum", wrong, f"{server.url}/a", code=1).stderr
    assert not backhaul.here.joinpath("a").exists()
    backhaul("get", "--checksum", right, "--size", str(len(CONTENT)), f"{server.url}/a")
    assert backhaul.here.joinpath("a").read_bytes() == CONTENT


def test_an_existing_file_with_the_right_checksum_is_not_fetched_again(backhaul, serve):
    server = serve({"/a": CONTENT})
    backhaul.here.joinpath("a").write_bytes(CONTENT)
    (ended,) = backhaul.json("get", "--if-exists", "skip", "--checksum", hashlib.sha256(CONTENT).hexdigest(),
                             f"{server.url}/a")
    assert (ended["task_state"], ended["attempts"], ended["path"]) == ("succeeded", 0, f"{backhaul.here}/a")


def test_the_wait_command_follows_only_the_transfers_of_the_group(backhaul, serve):
    server = serve({"/a": b"one", "/b": b"two"})
    backhaul("add", "--suspended", f"{server.url}/never")
    backhaul("add", "--group", "photos", f"{server.url}/a")
    backhaul("add", "--group", "photos", "--limit-rate", "1M", "--parallel-max", "1", f"{server.url}/b")
    ended = backhaul("wait", "--group", "photos")
    assert sorted(ended.stdout.splitlines()) == [f"{backhaul.here}/a", f"{backhaul.here}/b"]


def test_the_wait_command_for_a_group_without_transfers_fails_with_advice(backhaul):
    backhaul("add", "--suspended", URL)
    ended = backhaul("wait", "--group", "absent", code=3)
    assert "there is no transfer in the group 'absent'; `backhaul tasks --json` lists" in ended.stderr
    assert "--group is an empty string" in backhaul("wait", "--group", "", code=2).stderr


def test_the_wait_command_takes_either_tasks_or_a_group(backhaul):
    assert "either the numbers of tasks, or --group" in backhaul("wait", "--group", "photos", "1", code=2).stderr


def test_the_events_command_shows_the_end_of_a_group(backhaul, serve):
    server = serve({"/a": CONTENT})
    backhaul("add", "--group", "photos", f"{server.url}/a")
    found = until(
        lambda: [event for event in backhaul.json("events") if event["kind"] == "group_finished"], "the group's end")
    assert [(event["group"], event["group_succeeded"], event["group_failed"], event["group_cancelled"])
            for event in found] == [("photos", 1, 0, 0)]
    assert "group photos: 1 succeeded, 0 failed, 0 cancelled" in backhaul("events").stdout


def test_an_upload_by_tus_continues_after_its_connection_was_lost(backhaul):
    (backhaul.here / "video").write_bytes(CONTENT)
    with ResumableServer() as server:
        server.drop_after = [len(CONTENT) // 2]
        backhaul("put", "--resumable", "tus", "--retry-delay", "0.01", "video", f"{server.url}/tus")
    assert server.whole == [CONTENT]
    assert server.methods() == ["POST", "PATCH", "HEAD", "PATCH"]


def test_a_consumed_file_is_removed_after_the_upload_succeeds(backhaul, receiving):
    file = backhaul.here / "once"
    file.write_bytes(CONTENT)
    backhaul("put", "--body-source", "consume", "once", f"{receiving.url}/once")
    assert receiving.requests[0][3] == CONTENT
    assert not file.exists()


def test_a_consumed_file_is_moved_back_to_its_path_after_the_upload_fails(backhaul, serve):
    file = backhaul.here / "once"
    file.write_bytes(CONTENT)
    url = f"{serve({}).url}/absent"
    (ended,) = backhaul.json("put", "--body-source", "consume", "once", url, code=1)
    assert ended["task_state"] == "failed" and ended["path"] is None
    assert file.read_bytes() == CONTENT


def test_the_attempts_command_shows_metrics_after_the_end_of_a_task(backhaul, serve):
    server = serve({"/a": CONTENT})
    (ended,) = backhaul.json("get", f"{server.url}/a")
    (attempt,) = backhaul.json("attempts", ended["task_id"])
    assert (attempt["number"], attempt["next"], attempt["http_status"]) == (1, "end", 200)
    assert (attempt["response_body_bytes"], attempt["protocol"]) == (len(CONTENT), "http/1.1")
    assert attempt["remote_address"] == "127.0.0.1" and attempt["tls_version"] is None
    assert 0 <= attempt["connect_us"] <= attempt["response_start_us"] <= attempt["response_end_us"]
    header, line = backhaul("attempts", ended["task_id"]).stdout.splitlines()
    assert header.split()[:3] == ["TASK", "NO.", "STATUS"] and line.split()[:3] == [str(ended["task_id"]), "1", "200"]
    (task,) = backhaul.json("history")
    assert (task["id"], task["state"], task["path"]) == (ended["task_id"], "succeeded", f"{backhaul.here}/a")
    assert f"{server.url}/a" in backhaul("history").stdout


@pytest.mark.parametrize(("text", "milliseconds"), [
    ("90", 90_000), ("0.5", 500), ("15m", 900_000), ("1h30m", 5_400_000)])
def test_an_option_in_seconds_also_takes_a_duration(backhaul, text, milliseconds):
    assert backhaul.json("configure", "--request-timeout", text)[0]["rules"]["request_timeout_ms"] == milliseconds


def test_the_configure_command_lists_the_options_and_the_values_that_they_take(backhaul):
    backhaul("configure", "-q", "--max-time", "1h30m", "--http2", "--credentials", "fail", "--attempts", "4")
    listed = dict(line.split(":", 1) for line in backhaul("configure").stdout.splitlines())
    shown = {name: listed[name].strip() for name in ("--max-time", "--http2", "--credentials", "--attempts")}
    assert shown == {"--max-time": "1h30m", "--http2": "yes", "--credentials": "fail", "--attempts": "4"}
    others = {"identifier", "header names", "sends launch events"}
    assert {name for name in listed if not name.startswith("--")} <= others


def test_the_configure_command_with_the_quiet_option_prints_no_settings_after_a_change(backhaul):
    assert backhaul("configure", "-q", "--http2").stdout == ""
