"""An error page that arrives slowly and has no end. The status of the response makes the task fail. A slot is the right
of a task to run."""

from contextlib import ExitStack

from backhaul import Hosting, Reason, Status, TaskState

from servers.content import Content
from testbed.host import until
from transport.conftest import QUICK
from transport.dripping import DrippingServer


class Refused:
    """A task that fails because of an endless slow error page, and a second task that waits for the first task's
    slot."""

    def __init__(self, one, name, dripping, misbehaving, downloads):
        self.one, self.name, self.reasons = one, name, set()
        one.session(name, maximum_running_tasks=1, **QUICK)
        self.task = one.download(dripping.url + "/a", downloads / f"a {name}")
        self.next = one.download(misbehaving.serve(f"/{name}", Content(1_000)), downloads / f"b {name}")

    def read_info(self):
        self.one.select_session(self.name)
        info = self.one.task(self.task)
        if not info.state.has_ended and info.http_status:
            self.reasons.add(info.reason)
        return info


def test_an_endless_slow_error_page_occupies_the_slot_of_its_task_only_for_a_short_time(
        shared_hosts, misbehaving, downloads):
    """The slot is occupied for five seconds. The engine runs in the daemon or in the host, and the test checks both
    cases at the same time."""
    with ExitStack() as stack:
        servers, refused = [], []
        for hosting in (Hosting.EMBEDDED, Hosting.DAEMON):
            servers.append(stack.enter_context(DrippingServer(status=404)))
            name = shared_hosts.new_session().replace(" ", "-")
            refused.append(Refused(shared_hosts.host(hosting), name, servers[-1], misbehaving, downloads))
        ends = until(lambda: [each.read_info() for each in refused],
                     lambda infos: all(i.state.has_ended for i in infos), 20)
        assert [(end.state, end.status, end.http_status) for end in ends] == [
            (TaskState.FAILED, Status.HTTP_STATUS, 404)] * 2
        for each in refused:
            # Bytes arrive all the time, so the task is never stalled.
            assert Reason.STALLED not in each.reasons
            each.one.select_session(each.name)
            until(lambda one=each.one, task=each.next: one.task(task),
                  lambda info: info.state is TaskState.SUCCEEDED)
            each.one.close_session()
        assert [server.requests for server in servers] == [["GET"]] * 2
