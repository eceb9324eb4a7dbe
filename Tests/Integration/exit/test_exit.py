"""A host, which is a process that embeds the library, may return from main at any time. OpenSSL frees its data at exit.
After that, no transfer may use OpenSSL."""

import shutil
import subprocess
from pathlib import Path

import pytest
from servers.certificates import make_certificates
from servers.nginx import Nginx

PROJECT = Path(__file__).resolve().parents[3]
LIBRARIES = PROJECT / "build" / "lib"


@pytest.fixture(scope="module")
def nginx(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nginx")
    files = folder / "files"
    files.mkdir()
    # At the pace of /slow/, the transfer takes minutes, so the host always exits during the transfer.
    (files / "long.bin").write_bytes(bytes(64 << 20))
    with Nginx(folder / "server", files, make_certificates(folder), logging=False) as nginx:
        yield nginx


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "exit_during_transfer"
    subprocess.run(["clang", "-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pedantic",
                    "-I", PROJECT / "include", "-o", path, Path(__file__).with_name("exit_during_transfer.c"),
                    "-L", LIBRARIES, "-lbackhaul", f"-Wl,-rpath,{LIBRARIES}"], check=True)
    return path


def test_hosts_that_return_from_main_during_a_transfer_keep_their_exit_status(
        program, nginx, tmp_path_factory, request):
    url, authority = f"{nginx.tls_url}/slow/long.bin", nginx.certificates.authority
    wrong = []
    for number in range(request.config.getoption("--hosts")):
        folder = tmp_path_factory.mktemp("host")
        expected = number % 100
        host = subprocess.run([program, folder / "store", folder, url, authority, str(expected)],
                              capture_output=True, text=True, timeout=60, check=False)
        if host.returncode != expected or host.stderr:
            wrong.append(f"host {number}: status {host.returncode} instead of {expected} {host.stderr.strip()}")
        shutil.rmtree(folder)
    assert not wrong, "\n".join(wrong)
