"""Runs Caddy on two free ports of loopback: one without TLS, one with TLS. Caddy has Go's implementation of HTTP/2, and
its own kind of entity tags."""

import json
import os

from servers import child, listening


class Caddy:
    """``with Caddy(folder, files, certificates) as caddy: caddy.tls_url``"""

    def __init__(self, folder, files, certificates):
        self._folder, self._files, self._certificates = folder, files, certificates

    def __enter__(self):
        places = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(self._folder))
        self._process, (plain, tls) = listening.start(self._command, 2, env={**os.environ, **places})
        self.url, self.tls_url = f"http://127.0.0.1:{plain}", f"https://127.0.0.1:{tls}"
        return self

    def __exit__(self, *_):
        child.end(self._process)

    def _command(self, plain, tls):
        configuration = self._folder / "caddy.json"
        configuration.write_text(json.dumps(self._configuration(plain, tls)))
        return [listening.find("caddy"), "run", "--config", configuration]

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
