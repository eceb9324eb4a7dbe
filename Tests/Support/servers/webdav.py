"""Runs nginx and Apache httpd with their WebDAV modules on free ports of loopback. Both servers store uploaded
files."""

import os
import pwd
import shutil
import tempfile
from pathlib import Path

from servers import child, listening

_NGINX = """
{user}
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 4096; }}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 50m;
    keepalive_requests 1000000;
    server {{
        listen 127.0.0.1:{plain};
        listen 127.0.0.1:{tls} ssl http2;
        server_name localhost;
        ssl_certificate {certificates.chain};
        ssl_certificate_key {certificates.key};
        root {files};
        location / {{ dav_methods PUT DELETE; create_full_put_path on; }}
        location /private/ {{
            dav_methods PUT DELETE;
            create_full_put_path on;
            auth_basic "staff only";
            auth_basic_user_file {folder}/passwords;
        }}
        location /small/ {{ dav_methods PUT; client_max_body_size 1k; }}
    }}
}}
"""

_APACHE = """
ServerRoot {folder}
ServerName localhost
PidFile {folder}/apache.pid
ErrorLog {folder}/error.log
Listen 127.0.0.1:{plain}
{user}
{modules}
DavLockDB {folder}/locks
DocumentRoot {files}
MaxKeepAliveRequests 0
<Directory {files}>
    Dav On
    Require all granted
</Directory>
<Location /private>
    AuthType Digest
    AuthName "staff only"
    AuthDigestProvider file
    AuthUserFile {folder}/passwords
    Require valid-user
</Location>
"""

_MODULES = ["mpm_event", "authn_core", "authz_core", "authn_file", "authz_user", "auth_digest", "dav", "dav_fs"]


class _WebDAV:
    """A running server that stores uploads below ``files``."""

    #: The number of ports: 1 for a server without TLS, 2 for a server with TLS.
    ports = 1

    def __init__(self, certificates):
        self.certificates = certificates
        self._process = None

    def __enter__(self):
        # If root runs the tests, Apache httpd runs as the account nobody, which cannot enter the folders of pytest. So
        # the server gets a separate folder.
        self.folder = Path(tempfile.mkdtemp(prefix="backhaul-webdav-"))
        self.files = self.folder / "files"
        (self.files / "private").mkdir(parents=True)
        (self.files / "small").mkdir()
        if os.geteuid() == 0:
            self.change_owner(self.folder)
        try:
            self._process, (self.port, *others) = listening.start(
                self.command, self.ports, log=self.folder / "error.log")
        except RuntimeError:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self.tls_port = others[0] if others else None
        return self

    def change_owner(self, folder):
        account = pwd.getpwnam("nobody")
        folder.chmod(0o755)
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, account.pw_uid, account.pw_gid)

    def __exit__(self, *_):
        child.end(self._process)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self):
        """The URL for HTTP/1.1 without TLS."""
        return f"http://127.0.0.1:{self.port}"

    def put(self):
        """Returns the content of each file that was uploaded completely, by its path."""
        return {str(path.relative_to(self.files)): path.read_bytes()
                for path in self.files.rglob("*") if path.is_file()}


class NginxDAV(_WebDAV):
    ports = 2

    @property
    def tls_url(self):
        """The URL for TLS, with HTTP/2 for clients that request it."""
        return f"https://127.0.0.1:{self.tls_port}"

    def command(self, plain, tls):
        configuration = self.folder / "nginx.conf"
        configuration.write_text(_NGINX.format(
            folder=self.folder, files=self.files, certificates=self.certificates, plain=plain, tls=tls,
            user="user root;" if os.geteuid() == 0 else ""))
        (self.folder / "passwords").write_text("user:{PLAIN}password\n")
        return [listening.find("nginx", "nginx-light"), "-p", self.folder, "-e", self.folder / "error.log",
                "-c", configuration]


class ApacheDAV(_WebDAV):
    def command(self, plain):
        configuration = self.folder / "apache.conf"
        configuration.write_text(_APACHE.format(
            folder=self.folder, files=self.files, plain=plain,
            user="User nobody\nGroup nogroup" if os.geteuid() == 0 else "",
            modules="\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in _MODULES)))
        # The MD5 hash of the name "user", the realm "staff only" and the password "password", as in RFC 7616.
        (self.folder / "passwords").write_text("user:staff only:42ebddd2fa900bedd00e59c370430843\n")
        return [listening.find("apache2", "apache2-bin"), "-f", configuration, "-DFOREGROUND"]
