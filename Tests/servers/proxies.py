"""Real proxies on free ports of loopback: squid for HTTP, microsocks for SOCKS5."""

import os
import pwd
import shutil
import socket
import subprocess
import time

from servers import child
from servers.nginx import free_port

_SQUID = """
http_port 127.0.0.1:{port}
pid_filename none
coredump_dir {folder}
cache deny all
access_log stdio:{folder}/access.log
cache_log {folder}/cache.log
shutdown_lifetime 0 seconds
visible_hostname proxy.test
# Transfers are the engine's to repeat.
connect_retries 0
client_persistent_connections on
acl ours port 1-65535
{authentication}
http_access deny all
"""

_BASIC = """
auth_param basic program {helper} {folder}/passwords
auth_param basic realm the way out
acl known proxy_auth REQUIRED
http_access allow known
"""


class Proxied:
    """A proxy's process. ``with Squid(folder) as proxy: …``"""

    def __enter__(self):
        for _ in range(5):
            self.port = free_port()
            self._process = child.start(self._command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 20
            while self._process.poll() is None and time.monotonic() < deadline:
                if _accepts(self.port):
                    return self
                time.sleep(0.02)
            child.end(self._process)
        raise RuntimeError(f"{self._command()[0]} does not start")

    def __exit__(self, *_):
        child.end(self._process)


class Squid(Proxied):
    """Caches nothing. With a user and a password nobody else is let through."""

    def __init__(self, folder, user=None, password=None):
        self.folder, self.user, self.password = folder, user, password

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def lines(self):
        """One line for each request or tunnel that is over."""
        return (self.folder / "access.log").read_text().splitlines()

    def _command(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        authentication = "http_access allow localhost"
        if self.user is not None:
            # A helper of ours: Debian's wants a file made by htpasswd, which is of another package.
            helper = self.folder / "helper"
            helper.write_text(f"#!/bin/sh\nwhile read -r line; do [ \"$line\" = '{self.user} {self.password}' ] && "
                              "echo OK || echo ERR; done\n")
            helper.chmod(0o755)
            authentication = _BASIC.format(helper=helper, folder=self.folder)
        configuration = self.folder / "squid.conf"
        configuration.write_text(_SQUID.format(port=self.port, folder=self.folder, authentication=authentication))
        if os.geteuid() == 0:
            # It gives up being root, and must still write here.
            user = pwd.getpwnam("proxy")
            for place in [self.folder, *self.folder.iterdir()]:
                os.chown(place, user.pw_uid, user.pw_gid)
            for place in list(self.folder.parents)[:3]:
                place.chmod(place.stat().st_mode | 0o011)
        # One process, with a name of its own: squids of one name share memory.
        return [_program("squid"), "-N", "-n", f"transport{self.port}", "-f", configuration]


class Socks(Proxied):
    """SOCKS5 (RFC 1928); it resolves names itself when it is given some."""

    def __init__(self, user=None, password=None):
        self.user, self.password = user, password

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def _command(self):
        known = ["-u", self.user, "-P", self.password] if self.user else []
        return [_program("microsocks"), "-i", "127.0.0.1", "-p", self.port, *known]


def _program(name):
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")
    if found is None:
        raise RuntimeError(f"{name} is not installed: apt-get install --no-install-recommends {name}")
    return found


def _accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False
