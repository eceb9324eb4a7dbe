"""Runs the HTTP proxy squid from its Debian package. The configuration disables the cache, retries, and the header
fields Via and X-Forwarded-For."""

import os

from servers import child, listening

_CONFIGURATION = """
http_port 127.0.0.1:{port}
pid_filename none
cache deny all
cache_log /dev/null
access_log none
acl CONNECT method CONNECT
http_access allow all
via off
forwarded_for delete
retry_on_error off
connect_retries 0
shutdown_lifetime 0 seconds
pinger_enable off
memory_cache_shared off
visible_hostname squid.test
"""


class Squid:
    """``with Squid(folder) as squid: squid.url``"""

    def __init__(self, folder):
        self._folder = folder

    def __enter__(self):
        self._folder.mkdir(parents=True, exist_ok=True)
        self._process, (port,) = listening.start(self._command)
        self.url = f"http://127.0.0.1:{port}"
        return self

    def _command(self, port):
        # If root starts squid, squid runs as the user that the package created.
        user = "cache_effective_user proxy\n" if os.geteuid() == 0 else ""
        configuration = self._folder / "squid.conf"
        configuration.write_text(user + _CONFIGURATION.format(port=port))
        # Other instances of squid may run at the same time. The option -n sets the service name of an instance. The
        # names of squid's shared memory contain this service name, so each instance has its own shared memory.
        return [listening.find("squid"), "-N", "-n", f"behaviours{port}", "-f", configuration]

    def __exit__(self, *_):
        child.end(self._process)
