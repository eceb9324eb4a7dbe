"""Calls of systemd. The module that calls systemd has Swift tests, which run here under a real user manager. Other
tests run without libsystemd, or with the bus of another user."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from manager.manager import COMMAND, PROJECT

SCRATCH = PROJECT / "build" / "swift" / "debug"


@pytest.fixture(scope="session")
def swift_tests():
    """Builds the Swift tests outside of the namespaces, and returns their path. A build inside the namespaces would
    compile everything again for each manager."""
    # With other options, all unit tests would be built again.
    subprocess.run(["make", "--no-print-directory", "-C", PROJECT, "unit-tests"],
                   check=True, capture_output=True, timeout=500)
    return str(SCRATCH / "debug" / "BackhaulPackageTests.xctest")


def test_the_swift_tests_pass_under_a_user_manager(manager, swift_tests):
    # The program of the tests is started directly. `swift test` would wait until no other process uses the
    # build folder.
    ended = manager(swift_tests, "--testing-library", "swift-testing", "--filter", "UserManagerTests", check=False,
                    timeout=120, BACKHAUL_TEST_USER_MANAGER="1")
    output = ended.stdout + ended.stderr
    assert ended.returncode == 0, output
    assert int(re.search(r"Test run with (\d+) tests", output)[1]) > 25, output
    assert "skipped" not in output


def test_service_status_reports_no_user_manager_if_libsystemd_is_missing(manager, store):
    library = next(Path("/").glob("usr/lib/*/libsystemd.so.0"), None)
    if library is None:
        pytest.skip("libsystemd.so.0 is not where Debian has it")
    script = (f"mount --bind /dev/null {library.resolve()} && "
              f"exec '{COMMAND}' --store '{store}' service status --json")
    ended = manager("unshare", "--mount", "sh", "-c", script, check=False)
    assert json.loads(ended.stdout)["systemd"] is None


def test_service_status_does_not_use_the_bus_of_another_user(manager, store, tmp_path):
    if not os.path.exists("/usr/bin/setpriv"):
        pytest.skip("needs setpriv")
    store.mkdir()
    os.chown(store, 65534, 65534)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    script = (f"chmod -R a+rX {manager.home} && chmod 711 /run/user/0 && "
              f"exec setpriv --reuid 65534 --clear-groups '{COMMAND}' --store '{store}' service status --json")
    ended = manager("sh", "-c", script, check=False)
    manager("chmod", "700", "/run/user/0")
    assert json.loads(ended.stdout)["systemd"] is None, ended
