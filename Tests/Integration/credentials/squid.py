"""Runs the proxy squid on a free port of loopback, with a folder of its own. The proxy requires Digest
authentication."""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from servers import child, listening

_CONFIGURATION = """
http_port 127.0.0.1:{port}
pid_filename {folder}/pid
cache_log {folder}/cache.log
access_log stdio:{folder}/access.log
cache deny all
shutdown_lifetime 0 seconds
{user}
auth_param digest program {helper} -c {folder}/passwords
auth_param digest children 2
auth_param digest realm the way out
acl known proxy_auth REQUIRED
acl here dst 127.0.0.1
http_access allow known here
http_access deny all
coredump_dir {folder}
"""
_HELPER = "/usr/lib/squid/digest_file_auth"


class Squid:
    """``with Squid() as squid: os.environ["http_proxy"] = squid.url``. The proxy requires the user "porter" with the
    password "key"."""

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="squid-"))
        # If root runs the tests, the processes of squid run as another user, which must be able to write to the folder.
        self.folder.chmod(0o777)
        secret = hashlib.md5(b"porter:the way out:key").hexdigest()
        (self.folder / "passwords").write_text(f"porter:the way out:{secret}\n")
        (self.folder / "passwords").chmod(0o644)
        self._process, (self.port,) = listening.start(self._command, log=self.folder / "cache.log")
        return self

    def _command(self, port):
        configuration = self.folder / "squid.conf"
        configuration.write_text(_CONFIGURATION.format(
            folder=self.folder, port=port, helper=_HELPER,
            user="cache_effective_user proxy" if os.geteuid() == 0 else ""))
        return [listening.find("squid"), "--foreground", "-n", f"backhaul{port}", "-f", configuration]

    def __exit__(self, *_):
        child.end(self._process)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def log(self):
        """Returns three values for each request: the result, such as "TCP_MISS/200", the method, and the user."""
        lines = (self.folder / "access.log").read_text().splitlines()
        return [(fields[3], fields[5], fields[7]) for fields in map(str.split, lines)]
