"""Each thread of the daemon may use only the files that docs/waiting.md lists for this thread. The daemon runs the
transfers of other programs."""

import re
import shutil
import signal
import ssl
import subprocess
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme

from backhaul import BodySource, Request, TaskState
from servers.content import Content
from servers.misbehaving import MisbehavingServer

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "waiting.md"
CALL = re.compile(r'^\d+<(?P<thread>[^>]+)> (?P<call>\w+)\((?P<arguments>.*)')
#: An absolute path. Relative names are left out, because they are relative to an open directory.
PATH = re.compile(r'"(/[^"]*)"')


def documented():
    """Maps each thread to what docs/waiting.md says about the files of the thread."""
    rows = re.findall(r"^\| `([\w-]+)` \| [^|]+ \| ([^|]+) \|$", DOCUMENT.read_text(), re.MULTILINE)
    return {name: files.strip() for name, files in rows}


@contextmanager
def traced(process, file):
    """Writes to `file` all system calls that have a file name, each with the name of the calling thread."""
    strace = subprocess.Popen(["strace", "-f", "-Y", "-s", "300", "-e", "trace=%file", "-o", file, "-p", str(process)],
                              stderr=subprocess.PIPE, text=True)
    first = strace.stderr.readline()
    if "attached" not in first:
        strace.wait()
        pytest.skip(f"strace cannot attach: {first.strip()}")
    yield
    strace.send_signal(signal.SIGINT)
    strace.communicate()


def touched(trace):
    """Maps the name of each thread to the absolute paths in its system calls. A number at the end of a name is left
    out."""
    found = defaultdict(set)
    for line in trace.read_text().splitlines():
        if match := CALL.match(line):
            found[match["thread"].rstrip("0123456789")].update(PATH.findall(match["arguments"]))
    return found


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_each_thread_uses_only_files_that_the_documentation_lists(host, daemon, store, place, downloads, tmp_path):
    authority = trustme.CA()
    certificates = tmp_path / "certificates"
    certificates.mkdir()
    authority.cert_pem.write_to_path(certificates / "authority.pem")
    bodies = tmp_path / "bodies"
    bodies.mkdir()
    (bodies / "consumed").write_bytes(b"consumed")
    (bodies / "copied").write_bytes(b"copied")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    one = host()
    one.session(ca_file=certificates / "authority.pem")
    with MisbehavingServer(context) as server, traced(daemon(), tmp_path / "trace"):
        server.serve("/a", Content(300_000))
        one.enqueue([
            Request(server.url + "/a", downloads / "a"), Request(server.url + "/a"),
            Request(server.url + "/a", body_file=bodies / "consumed", body_source=BodySource.CONSUME, method="PUT"),
            Request(server.url + "/a", body_file=bodies / "copied", body_source=BodySource.SNAPSHOT, method="PUT"),
        ])
        events = [event for event in one.wait_for() if event.task_id]
        one.acknowledge(events)
        one.tasks()
    assert TaskState.SUCCEEDED in {event.state for event in events}
    places = {"the store's own": [store], "destinations": [downloads], "bodies": [bodies],
              "certificates": [certificates], "OpenSSL's configuration": ["/usr/lib/ssl", "/etc/ssl"]}
    list_of = documented()
    found = touched(tmp_path / "trace")
    assert {"bh-loop", "backhaul-disk", "backhaul-pem"} <= set(found)
    for thread, paths in found.items():
        allowed = [str(root) for words, roots in places.items() if words in list_of[thread] for root in roots]
        # Files in /proc and /sys are allowed, because the kernel serves them and never hangs.
        strangers = {path for path in paths
                     if not any(path == root or path.startswith(f"{root}/") for root in [*allowed, "/proc", "/sys"])}
        assert strangers == set(), f"{thread} opens files that docs/waiting.md does not list"
