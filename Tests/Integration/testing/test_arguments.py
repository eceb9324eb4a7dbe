"""Arguments that make no sense are refused with a sentence: a script that has no effect would let the test pass."""

import errno
import os
import re
import subprocess
import sys

import pytest
from testing.test_c import build

from backhaul import AlreadyExists, Hosting, InvalidArgument, NetworkKind, ResourceError
from backhaul.testing import Point, Testbed, _testbed

REFUSED = {
    "file.refuse(-5)": "-5 is not the status of a response",
    "file.refuse(99)": "99 is not the status of a response",
    "file.refuse(1000)": "1000 is not the status of a response",
    "file.refuse(503, {'Retry-After': '1\\r\\nX: 1'})": "the character '\\\\r'",
    "file.refuse(503, {'Retry After': '1'})": "the character ' '",
    "file.refuse(503, {'': '1'})": "header fields have a name",
    "file.refuse(503, {'A': 'a' * 5000})": "at most 4096 bytes",
    "file.redirect('/a\\r\\nX: 1')": "the character '\\\\r'",
    "file.require('a:b')": "the user 'a:b' has the character ':'",
    "file.drop(at=4)": "the content has 3 bytes; byte 4 is beyond it",
    "file.stall(at=4)": "the content has 3 bytes; byte 4 is beyond it",
    "file.corrupt(at=3)": "the content has 3 bytes; byte 3 is beyond it",
    "bed.set_network(3)": "3 is not the kind of one network",
    "bed.set_network(64)": "64 is not the kind of one network",
    "bed.set_heat(99)": "99 is no state",
    "bed.kill_daemon(at=3, count=2)": "give at=Point",
    "bed.kill_daemon(count=2)": "give at=Point",
    "bed.kill_daemon(at=2**32)": "the daemon cannot die at 4294967296",
    "bed.serve('/a\\0b', b'')": "the character '\\\\x00'",
    "bed.serve('/a', 'text')": "the content is of type str; give bytes",
    "file.replace('text')": "the content is of type str; give bytes",
    "bed.start('/bin/true')": "give ['/bin/true']",
    "bed.start([])": "a host needs a program",
    "bed.application('org.example.test', hosting=Hosting.EMBEDDED)": "without the testbed",
}


@pytest.mark.parametrize("call", REFUSED)
def test_an_argument_without_sense_is_an_exception(backhaul_testbed, call):
    names = {"bed": backhaul_testbed, "file": backhaul_testbed.serve("/file", b"123"), "Hosting": Hosting}
    with pytest.raises((ValueError, TypeError), match=re.escape(REFUSED[call].replace("\\\\", "\\"))):
        eval(call, names)


def test_arguments_at_the_limits_are_accepted(backhaul_testbed):
    file = backhaul_testbed.serve("/file", b"123")
    file.refuse(200)
    file.refuse(599)
    file.drop(at=3)
    file.corrupt(at=2)
    file.require(None, None)
    file.replace(b"1234")
    file.stall(at=4)
    backhaul_testbed.kill_daemon(at=Point.ENDED, count=1)
    backhaul_testbed.set_network(NetworkKind(0))


@pytest.mark.parametrize("path, byte", [("/a b", "%20"), ("/é", "%C3"), ("/x#y", "%23"), ("/a\nb", "%0A")])
def test_a_path_that_no_request_has_is_refused(backhaul_testbed, path, byte):
    with pytest.raises(InvalidArgument, match=f"percent-encode it: {byte}"):
        backhaul_testbed.serve(path, b"")


def test_a_path_is_served_once(backhaul_testbed):
    backhaul_testbed.serve("/a?b=%20", b"")
    with pytest.raises(AlreadyExists, match=r"the origin has the path /a\?b=%20 already; replace its content"):
        backhaul_testbed.serve("/a?b=%20", b"")


def test_a_full_disk_leaves_no_testbed(tmp_path, monkeypatch):
    def is_full(directory):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_testbed, "make_marker", is_full)
    with pytest.raises(ResourceError, match="cannot be made: No space left on device"):
        Testbed(directory=tmp_path)
    assert not list(tmp_path.iterdir())


#: Each call has a wrong argument. The program makes the call with the number of its argument.
CALLS = [
    "bht_set_power(testbed, true, 255)", "bht_set_heat(testbed, 99)", "bht_set_network(testbed, 3)",
    "bht_set_network(testbed, 64)", "bht_kill_daemon_at(testbed, 77, 1)", "bht_pass(testbed, UINT64_MAX)",
    "bht_drop(file, 4)", "bht_stall(file, 4)", "bht_corrupt(file, 3)", 'bht_require(file, "a:b", "c")',
    "bht_refuse(file, 99, NULL)", 'bht_refuse(file, 503, "Retry-After: 1")',
    'bht_refuse(file, 503, "A: 1\\r\\n\\r\\n")',
    'bht_redirect(file, "/a\\r\\nX: 1")',
]
PROGRAM = """
#include <backhaul_testing.h>
#include <stdlib.h>
int main(int count, char **words) {
    bht_testbed *testbed;
    bht_resource *file;
    if (count < 2 || bht_open(NULL, &testbed, NULL) || bht_serve(testbed, "/a", "123", 3, &file, NULL)) return 2;
    switch (atoi(words[1])) { CASES }
    bht_close(testbed);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arguments")
    cases = " ".join(f"case {number}: {call}; break;" for number, call in enumerate(CALLS))
    (folder / "calls.c").write_text(PROGRAM.replace("CASES", cases))
    return build(folder / "calls.c", folder / "calls")


@pytest.mark.parametrize("number", range(len(CALLS)), ids=CALLS)
def test_an_argument_without_sense_ends_a_test_in_c(program, number, tmp_path):
    ran = subprocess.run([program, str(number)], capture_output=True, text=True, check=False, timeout=60,
                         env={**os.environ, "TMPDIR": str(tmp_path)})
    assert ran.returncode == -6 and ran.stderr.startswith("backhaul_testing: "), ran.stderr


def test_a_disk_without_a_page_for_the_kit_leaves_no_testbed(tmp_path):
    """A file system of one page is full before the page that the kit shares with the daemon."""
    program = "import sys; from backhaul.testing import Testbed; Testbed(directory=sys.argv[1])"
    mount = 'mount -t tmpfs -o size=4k none "$0" && "$@" "$0"; code=$?; ls -A "$0"; exit $code'
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("there are no namespaces of mounts here")
    ran = subprocess.run(["unshare", "-m", "sh", "-c", mount, tmp_path, sys.executable, "-c", program],
                         capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout) == (1, ""), ran
    assert "the directory of the testbed cannot be made: No space left on device" in ran.stderr
