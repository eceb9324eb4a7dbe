"""A private Kerberos realm: a KDC on a free port of loopback, a user "ada", and a service HTTP@localhost."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from servers import child, listening

REALM = "BACKHAUL.TEST"

_CLIENT = """
[libdefaults]
    default_realm = {realm}
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    rdns = false
    udp_preference_limit = 1
[realms]
    {realm} = {{
        kdc = 127.0.0.1:{port}
    }}
[domain_realm]
    localhost = {realm}
"""
_KDC = """
[kdcdefaults]
    kdc_listen = 127.0.0.1:{port}
    kdc_tcp_listen = 127.0.0.1:{port}
[realms]
    {realm} = {{
        database_name = {folder}/principal
        key_stash_file = {folder}/stash
        acl_file = {folder}/acl
    }}
[logging]
    kdc = FILE:{folder}/kdc.log
"""


def is_installed():
    path = os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin"
    return all(shutil.which(name, path=path) for name in ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")) and Path(
        "/usr/lib/apache2/modules/mod_auth_gssapi.so").exists()


class Kerberos:
    """``with Kerberos() as realm: environment = realm.environment``; ``realm.log_in()`` gets a Kerberos ticket for the
    user ada."""

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kerberos-"))
        # If root runs the tests, the server that accepts the tickets runs as another user, which must be able to read
        # the folder.
        self.folder.chmod(0o755)
        self.server_environment = {
            "KRB5_CONFIG": str(self.folder / "krb5.conf"), "KRB5_KDC_PROFILE": str(self.folder / "kdc.conf")}
        #: The environment of the user's programs.
        self.environment = {**self.server_environment, "KRB5CCNAME": f"FILE:{self.folder}/tickets"}
        self._kdc, _ = listening.start(self._command, log=self.folder / "kdc.log", env=self._everything)
        return self

    def _command(self, port):
        names = {"realm": REALM, "port": port, "folder": self.folder}
        (self.folder / "krb5.conf").write_text(_CLIENT.format(**names))
        (self.folder / "kdc.conf").write_text(_KDC.format(**names))
        if not self.keytab.exists():
            self._make_users()
        return [listening.find("krb5kdc", "krb5-kdc"), "-n", "-r", REALM]

    def _make_users(self):
        self._run("kdb5_util", "create", "-s", "-P", "master", "-r", REALM)
        for query in ("addprinc -pw secret ada", "addprinc -randkey HTTP/localhost",
                      f"ktadd -k {self.keytab} HTTP/localhost"):
            self._run("kadmin.local", "-r", REALM, "-q", query)
        self.keytab.chmod(0o644)

    def __exit__(self, *_):
        child.end(self._kdc)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def keytab(self):
        return self.folder / "keytab"

    @property
    def _everything(self):
        return {**os.environ, **self.environment}

    def _run(self, name, *arguments, text=""):
        subprocess.run([listening.find(name), *arguments], env=self._everything, input=text, text=True, check=True,
                       capture_output=True, timeout=60)

    def log_in(self):
        self._run("kinit", "ada", text="secret\n")

    def log_out(self):
        (self.folder / "tickets").unlink(missing_ok=True)
