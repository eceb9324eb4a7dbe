"""Large uploads by an engine that is killed at random offsets. In the suite soak-uploads of `make soak`, an upload has
1 GiB, and its engine is killed 20 times."""

import hashlib
import random

import pytest

from backhaul import PRIORITY_NOW, ResumableUploads, TaskState
from servers.large import LargeContent
from servers.resumable import ResumableServer

CHOICES = {"/files/a": ResumableUploads.IETF, "/tus": ResumableUploads.TUS}


@pytest.fixture
def server():
    with ResumableServer() as running:
        yield running


@pytest.mark.parametrize("path", CHOICES)
def test_an_upload_whose_engine_is_killed_many_times_arrives_whole(request, server, host, sources, path):
    size = request.config.getoption("--upload-size") << 20
    chosen = random.Random(2_051)
    kills = sorted(chosen.randrange(size) for _ in range(request.config.getoption("--upload-kills")))
    server.pauses = list(kills)
    content = LargeContent(size, 7)
    with open(sources / "a", "wb") as file:
        file.writelines(content.pieces(0, size))
    one = host()
    one.session(resumable_uploads=CHOICES[path], first_delay_ms=10)
    one.upload(server.url + path, sources / "a")
    made = 0
    while made < len(kills) and server.wait_for_pause():
        made += 1
        one.kill_with_engine()
        server.finish_paused()
        one = host()
        one.attach()
        one.set_priority(PRIORITY_NOW)
    [event, _] = one.wait_for()
    assert event.state is TaskState.SUCCEEDED, event.error_message
    [whole] = server.whole
    assert hashlib.sha256(whole).hexdigest() == content.sha256
    again = server.received - size
    assert made > 0
    print(f"{size} bytes, {made} kills, {again} bytes sent again")
    assert 0 <= again <= size // 100
