"""Runs Apache httpd on a free port of loopback, with a folder of its own. By default, files below ``/private`` require
Digest authentication."""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from servers import child, listening

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
    """``with Apache({"name": bytes}) as apache``. Files below ``/private`` require the user "user" with the password
    "password"."""

    def __init__(self, files, *, guard=_DIGEST, modules=(), environment=None):
        self._files, self._process = files, None
        self._guard, self._modules, self._environment = guard, (*_MODULES, *modules), environment or {}

    def __enter__(self):
        # If root runs the tests, the processes of Apache run as another user, which must be able to read the folder.
        self.folder = Path(tempfile.mkdtemp(prefix="apache-"))
        self.folder.chmod(0o755)
        private = self.folder / "files" / "private"
        private.mkdir(parents=True)
        for name, data in self._files.items():
            (private / name).write_bytes(data)
        secret = hashlib.md5(b"user:staff only:password").hexdigest()
        (self.folder / "passwords").write_text(f"user:staff only:{secret}\n")
        self._process, (self.port,) = listening.start(
            self._command, log=self.folder / "error.log", env={**os.environ, **self._environment})
        return self

    def _command(self, port):
        configuration = self.folder / "apache.conf"
        root = Path("/usr/lib/apache2/modules")
        mime = self.folder / "mime.types"
        mime.write_text("application/octet-stream bin\n")
        configuration.write_text(_CONFIGURATION.format(
            folder=self.folder, port=port, guard=self._guard.format(folder=self.folder),
            user="User www-data\nGroup www-data" if os.geteuid() == 0 else "",
            modules="\n".join(f"LoadModule {name}_module {root}/mod_{name}.so" for name in self._modules)
            + f"\nTypesConfig {mime}\nDefaultRuntimeDir {self.folder}"))
        return [listening.find("apache2", "apache2-bin"), "-D", "FOREGROUND", "-d", self.folder, "-f", configuration]

    def __exit__(self, *_):
        child.end(self._process)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def log(self):
        """Returns the status and the user of each request. If the request names no user, the user is "-"."""
        lines = (self.folder / "access.log").read_text().splitlines()
        return [tuple(line.split()[-2:]) for line in lines]
