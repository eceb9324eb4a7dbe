"""Secrets of transfers appear in no listing, report, log or command line, and no other user can read them."""

import re
import resource
import subprocess
from pathlib import Path

import pytest

from command_line import LIMIT, until
from daemons import daemons_of

HEADERS = {"Authorization": "Bearer needle-one", "X-Api-Key": "needle-two", "Cookie": "seat=needle-three"}
PASSWORD, QUERY, VARIABLE = "needle-four", "needle-five", "needle-six"
SECRETS = re.compile("needle-[a-z]+")
LISTINGS = ("tasks", "info", "sessions", "why", "doctor", "attempts 1", "history", "challenges", "launches",
            "activities", "events", "report", "service status")


@pytest.fixture
def busy(backhaul, tmp_path):
    """A command line with a transfer that has secrets and that fails again and again."""
    password = tmp_path / "password"
    password.write_text(PASSWORD)
    password.chmod(0o600)
    backhaul("register", "-e", f"TOKEN={VARIABLE}", "/bin/true")
    backhaul("configure", "--proxy", "http://127.0.0.1:9", "--proxy-user", "me", "--proxy-password-file", password)
    words = [word for name, value in HEADERS.items() for word in ("-H", f"{name}: {value}")]
    backhaul("add", "--retry-delay", "0.01", *words, f"http://127.0.0.1:9/a?signature={QUERY}")
    until(lambda: len(backhaul.json("attempts", "1")) > 1, "two attempts")
    return backhaul


@pytest.mark.hosting("daemon")
def test_no_listing_or_report_has_a_secret_except_the_url_that_the_user_gave(busy):
    shown = {}
    for words in LISTINGS:
        for form in ((), ("--json",)):
            ended = subprocess.run(busy.arguments(*words.split(), *form), env=busy.environment, cwd=busy.here,
                                   capture_output=True, text=True, timeout=LIMIT, check=False)
            shown[words] = shown.get(words, set()) | set(SECRETS.findall(ended.stdout + ended.stderr))
    assert {words: found - {QUERY} for words, found in shown.items() if found - {QUERY}} == {}
    # The requested URL identifies a transfer.
    lists = {"tasks", "info", "history", "events", "attempts 1"}
    assert {words for words, found in shown.items() if QUERY in found} <= lists


@pytest.mark.hosting("daemon")
def test_the_log_and_the_command_line_and_environment_of_the_daemon_have_no_secret(busy, tmp_path):
    [process] = daemons_of(tmp_path)
    texts = [Path(f"/proc/{process}/{name}").read_bytes() for name in ("cmdline", "environ")]
    texts += [path.read_bytes() for path in tmp_path.rglob("daemon.log*")]
    assert not any(SECRETS.search(text.decode(errors="replace")) for text in texts)


@pytest.mark.hosting("daemon")
def test_only_the_user_can_read_the_files_that_have_secrets(busy, tmp_path):
    holders = [path for path in tmp_path.rglob("*") if path.is_file() and b"needle" in path.read_bytes()]
    assert holders and all(path.stat().st_mode & 0o077 == 0 for path in holders)


@pytest.mark.hosting("daemon")
def test_a_crash_of_the_daemon_leaves_no_core_dump_with_secrets(backhaul, tmp_path):
    """The daemon would inherit the limit of the command that starts it."""
    limits = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (limits[1], limits[1]))
    try:
        backhaul("add", "--retry-delay", "600", "http://127.0.0.1:9/a")
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, limits)
    [process] = daemons_of(tmp_path)
    assert resource.prlimit(process, resource.RLIMIT_CORE)[0] == 0
