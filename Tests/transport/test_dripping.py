"""A response that fails its task and whose body has no end."""

import pytest

from backhaul import Reason, Status, TaskState

from hosts.host import until
from servers.content import Content
from transport.conftest import QUICK
from transport.dripping import DrippingServer


@pytest.mark.both_hostings
def test_an_error_page_that_drips_occupies_its_slot_for_a_short_time(host, misbehaving, downloads):
    one = host()
    with DrippingServer(status=404) as dripping:
        one.session(maximum_running_tasks=1, **QUICK)
        refused = one.download(dripping.url + "/a", downloads / "a")
        next_one = one.download(misbehaving.serve("/b", Content(1_000)), downloads / "b")
        reasons = set()

        def look():
            info = one.task(refused)
            if not info.state.has_ended and info.http_status:
                reasons.add(info.reason)
            return info

        ended = until(look, lambda info: info.state.has_ended, 20)
        assert (ended.state, ended.status, ended.http_status) == (TaskState.FAILED, Status.HTTP_STATUS, 404)
        # Bytes come all the time.
        assert Reason.STALLED not in reasons
        until(lambda: one.task(next_one), lambda info: info.state is TaskState.SUCCEEDED)
        assert dripping.requests == ["GET"]
