"""The story of a host that is killed, whose transfers finish without it, and that the daemon launches."""

import pytest

from backhaul import Application
from backhaul.testing import launch_command


def photos(first, private, folder):
    """A host with two downloads. The second one needs a credential, and begins when the first one has ended."""
    with Application("org.example.photos", launch=launch_command()) as application:
        launch = application.current_launch()
        with application.session("gallery", asks_for_credentials=True) as session:
            if launch is None:
                session.download(first, folder / "1.jpg", key="1")
            for challenge in session.challenges():
                session.respond(challenge, user="me", password="secret")
            for event in session.events():
                event.acknowledge()
                if event.is_session_finished:
                    break
            if event.round == 1:
                session.download(private, folder / "2.jpg", key="2")
            session.complete()


@pytest.mark.story
def test_killed_finished_launched_401_launched_again_completed(backhaul_testbed):
    first = backhaul_testbed.serve("/1.jpg", b"1" * 100_000)
    private = backhaul_testbed.serve("/2.jpg", b"2" * 100_000)
    first.stall(at=50_000)
    private.require("me", "secret")
    host = backhaul_testbed.start(photos, first.url, private.url, backhaul_testbed.directory)
    first.wait_for_bytes(50_000)
    host.kill()
    backhaul_testbed.pass_time(1)  # the daemon waits a second for a killed host to come back
    first.release()
    backhaul_testbed.launched().wait()
    backhaul_testbed.launched().wait()
    assert (backhaul_testbed.directory / "2.jpg").read_bytes() == b"2" * 100_000
    assert [request.status for request in private.requests] == [401, 200]
