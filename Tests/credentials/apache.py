"""Apache httpd on a free port of loopback, from a folder of its own, with Digest or whatever a test wants."""

import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from servers import child
from servers.nginx import _accepts, free_port

_CONFIGURATION = """
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/pid
ErrorLog {folder}/error.log
{modules}
{user}
DocumentRoot {folder}/files
KeepAlive On
MaxKeepAliveRequests 0
LogFormat "%r %>s %u" tests
CustomLog {folder}/access.log tests
<Directory {folder}/files>
    Require all granted
</Directory>
<Location /private>
{guard}
    Require valid-user
</Location>
"""
_MODULES = ("mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_digest", "mime")
_DIGEST = """
    AuthType Digest
    AuthName "staff only"
    AuthDigestProvider file
    AuthDigestDomain /private
    AuthUserFile {folder}/passwords
"""


class Apache:
    """``with Apache({"name": bytes}) as apache``: for "user" with "password" below ``/private``."""

    def __init__(self, files, *, guard=_DIGEST, modules=(), environment=None):
        self._files, self._process = files, None
        self._guard, self._modules, self._environment = guard, (*_MODULES, *modules), environment or {}

    def __enter__(self):
        program = shutil.which("apache2", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if program is None:
            raise RuntimeError("Apache is not installed: apt-get install --no-install-recommends apache2-bin")
        # Its processes are another user's where the tests are root's.
        self.folder = Path(tempfile.mkdtemp(prefix="apache-"))
        self.folder.chmod(0o755)
        private = self.folder / "files" / "private"
        private.mkdir(parents=True)
        for name, data in self._files.items():
            (private / name).write_bytes(data)
        secret = hashlib.md5(b"user:staff only:password").hexdigest()
        (self.folder / "passwords").write_text(f"user:staff only:{secret}\n")
        for _ in range(5):
            self.port = free_port()
            if self._start(program):
                return self
        raise RuntimeError("Apache does not start: " + (self.folder / "error.log").read_text(errors="replace"))

    def _start(self, program):
        configuration = self.folder / "apache.conf"
        root = Path("/usr/lib/apache2/modules")
        mime = self.folder / "mime.types"
        mime.write_text("application/octet-stream bin\n")
        configuration.write_text(_CONFIGURATION.format(
            folder=self.folder, port=self.port, guard=self._guard.format(folder=self.folder),
            user="User www-data\nGroup www-data" if os.geteuid() == 0 else "",
            modules="\n".join(f"LoadModule {name}_module {root}/mod_{name}.so" for name in self._modules)
            + f"\nTypesConfig {mime}\nDefaultRuntimeDir {self.folder}"))
        self._process = child.start(
            [program, "-D", "FOREGROUND", "-d", self.folder, "-f", configuration],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **self._environment})
        deadline = time.monotonic() + 20
        while self._process.poll() is None and time.monotonic() < deadline:
            if _accepts(self.port):
                return True
            time.sleep(0.02)
        child.end(self._process)
        return False

    def __exit__(self, *_):
        child.end(self._process)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def log(self):
        """Of each request its status and the user, "-" for nobody."""
        lines = (self.folder / "access.log").read_text().splitlines()
        return [tuple(line.split()[-2:]) for line in lines]
