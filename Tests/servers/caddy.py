"""Caddy on free ports of loopback, plain and with TLS: HTTP/2 as Go speaks it, and entity tags of Caddy's kind."""

import json
import os
import shutil
import subprocess
import time

from servers import child
from servers.nginx import _accepts, free_port


class Caddy:
    """``with Caddy(folder, files, certificates) as caddy: caddy.tls_url``"""

    def __init__(self, folder, files, certificates):
        self._folder, self._files, self._certificates = folder, files, certificates

    def __enter__(self):
        for _ in range(5):
            plain, tls = free_port(), free_port()
            configuration = self._folder / "caddy.json"
            configuration.write_text(json.dumps(self._configuration(plain, tls)))
            places = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(self._folder))
            self._process = child.start([shutil.which("caddy"), "run", "--config", configuration],
                                        env={**os.environ, **places}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 30
            while self._process.poll() is None and time.monotonic() < deadline:
                if _accepts(plain) and _accepts(tls):
                    self.url, self.tls_url = f"http://127.0.0.1:{plain}", f"https://127.0.0.1:{tls}"
                    return self
                time.sleep(0.02)
            child.end(self._process)
        raise RuntimeError("caddy does not start")

    def __exit__(self, *_):
        child.end(self._process)

    def _configuration(self, plain, tls):
        routes = [{"handle": [{"handler": "file_server", "root": str(self._files)}]}]
        pem = {"certificate": str(self._certificates.chain), "key": str(self._certificates.key)}
        automatic = {"disable": True}
        servers = {
            "plain": {"listen": [f"127.0.0.1:{plain}"], "routes": routes, "automatic_https": automatic},
            "tls": {"listen": [f"127.0.0.1:{tls}"], "routes": routes, "automatic_https": automatic,
                    "tls_connection_policies": [{}]},
        }
        return {"admin": {"disabled": True},
                "apps": {"http": {"servers": servers}, "tls": {"certificates": {"load_files": [pem]}}}}
