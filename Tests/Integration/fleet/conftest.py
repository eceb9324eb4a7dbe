"""A fleet, and a server with a large file."""

import os
import subprocess

import pytest

from servers.content import write_files
from servers.nginx import Nginx
from testbed.fleet import Database, Fleet


@pytest.fixture(scope="session")
def database():
    return Database()


@pytest.fixture(scope="session")
def large(certificates, tmp_path_factory):
    """A server with one file, whose download takes 16 seconds. Returns the file's URL and digest."""
    files = write_files(tmp_path_factory.mktemp("large"), [3_200_000])
    with Nginx(tmp_path_factory.mktemp("nginx"), files.folder, certificates) as running:
        [(name, digest)] = files.digests.items()
        yield f"{running.url}/slow/{name}", digest


@pytest.fixture
def fleet(database, place):
    made = Fleet(database.create(), place)
    yield made
    made.close()


@pytest.fixture
def small_disk(database):
    """A disk of 24 MB for a database, which the server knows as the tablespace "small"."""
    folder = database.folder / "small"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], check=False, capture_output=True)
    if done.returncode != 0:
        pytest.skip("this process may not mount")
    owner = database.folder.stat()
    os.chown(folder, owner.st_uid, owner.st_gid)
    database.sql(f"CREATE TABLESPACE small LOCATION '{folder}'")
    yield folder
    for name in database.sql("SELECT datname FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace "
                             "WHERE spcname = 'small'"):
        database.sql(f"DROP DATABASE {name} WITH (FORCE)")
    database.sql("DROP TABLESPACE small")
    # If the server is killed later, it does not need the disk any more.
    database.sql("CHECKPOINT")
    subprocess.run(["umount", folder], check=True)
