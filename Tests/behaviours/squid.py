"""squid as it comes from Debian: it keeps and repeats nothing, and changes as little as a proxy may."""

import os
import shutil
import socket
import time

from servers import child

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
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        # As root it runs as the user that its package has made.
        user = "cache_effective_user proxy\n" if os.geteuid() == 0 else ""
        configuration = self._folder / "squid.conf"
        configuration.write_text(user + _CONFIGURATION.format(port=port))
        program = shutil.which("squid", path="/usr/sbin:/usr/bin")
        assert program, "squid is not installed: scripts/setup test"
        # Names of shared memory have the service's name in them, and other squids may run.
        self._process = child.start([program, "-N", "-n", f"behaviours{port}", "-f", configuration],
                                    stdout=open(self._folder / "output", "wb"), stderr=-2)
        self._wait_for(port)
        return self

    def __exit__(self, *_):
        child.end(self._process)

    def _wait_for(self, port):
        deadline = time.monotonic() + 30
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                said = (self._folder / "output").read_text(errors="replace")
                assert self._process.poll() is None and time.monotonic() < deadline, f"squid does not listen: {said}"
                time.sleep(0.02)
