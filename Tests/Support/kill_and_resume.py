"""Runs any host that takes the same arguments as the example `photos`. The host enqueues, is killed in the middle,
starts again, and finishes."""

import hashlib
import os
import random
import subprocess
import time
from pathlib import Path

from pausing_server import PausingServer
from testbed.checkpoints import synced_offsets

SIZES = (0, 1, 5_000, 50_000, 400_000)


def serve(folder, count, bytes_per_second):
    """Serves files of many sizes, and one large file. The transfer of the large file takes so long that a kill can stop
    the transfer after a checkpoint, which records the received bytes."""
    noise = random.Random(1)
    files = {}
    folder.mkdir()
    for number in range(count):
        path = folder / str(number)
        path.write_bytes(noise.randbytes(SIZES[number % len(SIZES)] if number else 8 << 20))
        files[f"/{number}"] = path
    return PausingServer(files, 6 << 20, bytes_per_second)


def kill_and_resume(host, server, folder, **variables):
    """Kills the host in the middle, and starts it again. `host` is the command without its arguments.

    Checks the exit status, the requests and the files. Returns the output of the second start.
    """
    target, store, listing = folder / "photos", folder / "store", folder / "list"
    target.mkdir()
    listing.write_text("".join(f"{server.url}{url}\t{target}{url}\n" for url in server.files))
    environment = {**os.environ, **variables}

    first = subprocess.Popen([*host, store, listing], env=environment, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    while first.poll() is None and not (server.is_in_the_middle() and synced_offsets(store)):
        time.sleep(0.02)
    ended_by_itself = first.poll()
    first.kill()
    _, report = first.communicate()
    server.release()
    server.wait_until_idle()
    assert (ended_by_itself, report) == (None, "")
    whole = {path.name for path in target.iterdir() if not path.name.startswith(".")}
    asked_before = len(server.requests())

    second = subprocess.run([*host, store], env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (second.returncode, second.stderr) == (0, "")
    asked_after = server.requests()[asked_before:]
    assert not whole & {request.path[1:] for request in asked_after}, "finished files were requested again"
    assert any(request.status == 206 for request in asked_after), "no incomplete file was resumed"
    for url, path in server.files.items():
        assert digest(Path(f"{target}{url}")) == digest(path), url
    assert {path.name for path in target.iterdir()} == {url[1:] for url in server.files}
    return second.stdout


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
