"""Real proxies on free ports of loopback: squid for HTTP, microsocks for SOCKS5."""

import os
import pwd

from servers import child, listening

_SQUID = """
http_port 127.0.0.1:{port}
pid_filename none
coredump_dir {folder}
cache deny all
access_log stdio:{folder}/access.log
cache_log {folder}/cache.log
shutdown_lifetime 0 seconds
visible_hostname proxy.test
# The engine repeats failed transfers, so squid must not repeat them.
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
    """The process of a proxy. ``with Squid(folder) as proxy: …``"""

    def __enter__(self):
        self._process, (self.port,) = listening.start(self._command)
        return self

    def __exit__(self, *_):
        child.end(self._process)


class Squid(Proxied):
    """A squid that caches nothing. If `user` and `password` are given, squid refuses all clients that do not send
    them."""

    def __init__(self, folder, user=None, password=None):
        self.folder, self.user, self.password = folder, user, password

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def lines(self):
        """The lines of the log: one for each request or tunnel that has ended."""
        return (self.folder / "access.log").read_text().splitlines()

    def _command(self, port):
        self.folder.mkdir(parents=True, exist_ok=True)
        authentication = "http_access allow localhost"
        if self.user is not None:
            # This script checks the password. Debian's helper would need a file that htpasswd makes, and htpasswd is in
            # another package.
            helper = self.folder / "helper"
            helper.write_text(f"#!/bin/sh\nwhile read -r line; do [ \"$line\" = '{self.user} {self.password}' ] && "
                              "echo OK || echo ERR; done\n")
            helper.chmod(0o755)
            authentication = _BASIC.format(helper=helper, folder=self.folder)
        configuration = self.folder / "squid.conf"
        configuration.write_text(_SQUID.format(port=port, folder=self.folder, authentication=authentication))
        if os.geteuid() == 0:
            # squid must be able to write here after it has given up root's rights.
            user = pwd.getpwnam("proxy")
            for place in [self.folder, *self.folder.iterdir()]:
                os.chown(place, user.pw_uid, user.pw_gid)
            for place in list(self.folder.parents)[:3]:
                place.chmod(place.stat().st_mode | 0o011)
        # squid runs as one process (-N) with a unique name (-n), because squids with the same name share memory.
        return [listening.find("squid"), "-N", "-n", f"transport{port}", "-f", configuration]


class Socks(Proxied):
    """A SOCKS5 proxy (RFC 1928). It resolves the names that clients send."""

    def __init__(self, user=None, password=None):
        self.user, self.password = user, password

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def _command(self, port):
        known = ["-u", self.user, "-P", self.password] if self.user else []
        return [listening.find("microsocks"), "-i", "127.0.0.1", "-p", port, *known]
