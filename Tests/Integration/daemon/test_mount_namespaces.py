"""A daemon that sees other directories than its host, or that has other permissions. When the host enqueues a
download to a path that the daemon cannot use, the daemon refuses the request. So no file is written to a wrong
place."""

import os
import shutil
import subprocess

import pytest

from backhaul import BackhaulError, Status
from servers.content import Content

GROUP = 4242


def needs_root():
    if os.geteuid() != 0:
        pytest.skip("needs root, for a mount or another group")


def refusal(one, url, destination):
    with pytest.raises(BackhaulError) as raised:
        one.download(url, destination)
    assert raised.value.status == Status.DESTINATION_UNAVAILABLE
    return str(raised.value)


def test_a_directory_of_another_mount_namespace_is_refused_as_destination(host, misbehaving, downloads):
    needs_root()
    if shutil.which("unshare") is None or subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
        pytest.skip("mount namespaces cannot be made here")
    url = misbehaving.serve("/a", Content(5_000))
    first = host()
    first.session()
    private = ["unshare", "--mount", "sh", "-c", f"mount -t tmpfs none '{downloads}' && exec \"$@\"", "sh"]
    one = host(prefix=private)
    one.session("other")
    message = refusal(one, url, downloads / "a")
    assert str(downloads) in message
    assert one.tasks() == []
    assert misbehaving.log() == []
    # Paths that are the same for host and daemon are still accepted.
    both = downloads.parent / "both"
    both.mkdir()
    one.download(url, both / "a")
    assert one.wait_for()[0].path == str(both / "a")


def test_a_directory_of_a_group_is_refused_if_the_host_is_in_this_group_and_the_daemon_is_not(host, misbehaving, place):
    needs_root()
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv")
    # Without these capabilities root needs the permissions of a group, as every other user does.
    plain = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all"]
    shared = place / "shared"
    shared.mkdir()
    os.chown(shared, 1, GROUP)
    shared.chmod(0o770)
    url = misbehaving.serve("/a", Content(5_000))
    first = host(prefix=[*plain, "--clear-groups"])
    first.session()
    one = host(prefix=[*plain, "--groups", f"0,{GROUP}"])
    one.session("other")
    message = refusal(one, url, shared / "a")
    assert str(shared) in message
    assert one.tasks() == []
