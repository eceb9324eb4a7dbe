"""The gallery of images.py: one page on loopback, with the pictures, a button and live progress.

Any page in the browser can send requests to a server on this machine. So this server accepts requests only for its own
host name, and starts a download only if the request has the secret token from the page's form. The server does not use
the path of a request as a path of the file system. The page runs only its own script, and loads nothing from other
servers.
"""

import html
import json
import secrets
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote

from backhaul import BackhaulError

#: The types of pictures that are shown. SVG is left out, because an SVG file may run a script if the browser opens the
#: file directly.
TYPES = {
    ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp",
    ".avif": "image/avif",
}
LONGEST_FORM = 32_768

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Images</title>
<style nonce="{nonce}">
  body {{ font-family: sans-serif; margin: 2rem auto; max-width: 60rem; }}
  input {{ width: 70%; }}
  #pictures {{ display: flex; flex-wrap: wrap; gap: 1rem; }}
  figure {{ margin: 0; }}
  img {{ height: 12rem; display: block; background: #ddd; }}
</style>
<h1>Images</h1>
<form method="post" action="/download">
  <input type="hidden" name="token" value="{token}">
  <input type="url" name="url" required placeholder="https://example.org/sunset.jpg">
  <button>Download</button>
</form>
<p>{message}</p>
<ul id="tasks"></ul>
<div id="pictures">{pictures}</div>
<script nonce="{nonce}">
  const shown = {count}, list = document.getElementById("tasks");
  async function update() {{
    const response = await fetch("/state");
    if (response.ok) {{
      const state = await response.json();
      if (state.pictures !== shown) return location.assign("/");
      list.replaceChildren(...state.tasks.map(([name, percent, why]) => {{
        const item = document.createElement("li");
        item.textContent = name + (percent === null ? "" : ` ${{percent}} %`) + (why ? `, ${{why}}` : "");
        return item;
      }}));
    }}
    setTimeout(update, 500);
  }}
  update();
</script>
"""


def type_of(name):
    """Returns the media type of a picture, or None if the page does not show the file."""
    return next((kind for ending, kind in TYPES.items() if name.lower().endswith(ending)), None)


class Gallery(BaseHTTPRequestHandler):
    def do_GET(self):
        if not self.has_own_host_header():
            return
        if self.path == "/":
            self.show_page("")
        elif self.path == "/state":
            self.show_state()
        else:
            self.show_picture()

    def do_POST(self):
        if not self.has_own_host_header():
            return
        length = self.headers.get("Content-Length", "")
        if self.path != "/download" or not length.isdigit() or int(length) > LONGEST_FORM:
            self.close_connection = True  # the rest of the request is not read
            self.refuse(HTTPStatus.BAD_REQUEST)
            return
        form = parse_qs(self.rfile.read(int(length)).decode("utf-8", "replace"))
        token, url = (form.get(name, [""])[0] for name in ("token", "url"))
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            self.refuse(HTTPStatus.FORBIDDEN)
            return
        try:
            self.server.images.enqueue_download(url.strip())
        except (BackhaulError, ValueError) as error:
            self.show_page(str(error), HTTPStatus.BAD_REQUEST)
            return
        # The response is a redirect, so that a reload of the page does not repeat the download.
        self.respond(HTTPStatus.SEE_OTHER, "text/plain", b"", Location="/")

    def has_own_host_header(self):
        """Returns whether the request is for the host name of this server. If not, refuses the request, because an
        attacker may have made another host name resolve to this machine."""
        port = self.server.server_port
        if self.headers.get("Host") in (f"127.0.0.1:{port}", f"localhost:{port}"):
            return True
        self.close_connection = True
        self.refuse(HTTPStatus.MISDIRECTED_REQUEST)
        return False

    def pictures(self):
        return [name for name in self.server.pictures() if type_of(name)]

    def show_page(self, message, status=HTTPStatus.OK):
        nonce, names = secrets.token_urlsafe(16), self.pictures()
        figures = "".join(
            f'<figure><img src="/pictures/{quote(name)}" alt=""><figcaption>{html.escape(name)}</figcaption></figure>'
            for name in names)
        page = PAGE.format(nonce=nonce, token=self.server.token, message=html.escape(message), pictures=figures,
                           count=len(names))
        self.respond(status, "text/html; charset=utf-8", page.encode(), nonce)

    def show_state(self):
        try:
            state = {"tasks": list(self.server.images.tasks()), "pictures": len(self.pictures())}
        except BackhaulError:
            self.refuse(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            self.respond(HTTPStatus.OK, "application/json", json.dumps(state).encode())

    def show_picture(self):
        # The path of the request only selects one of the existing names. It is not used as a path of the file system.
        wanted = unquote(self.path).removeprefix("/pictures/")
        found = next((name for name in self.pictures() if name == wanted), None)
        try:
            content = (self.server.folder / found).read_bytes() if found else None
        except OSError:
            content = None
        if content is None:
            self.refuse(HTTPStatus.NOT_FOUND)
        else:
            self.respond(HTTPStatus.OK, type_of(found), content)

    def refuse(self, status):
        self.respond(status, "text/plain", f"{status.phrase}\n".encode())

    def respond(self, status, media_type, body, nonce="", **headers):
        own = f"'nonce-{nonce}'" if nonce else "'none'"
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Content-Security-Policy", (
            f"default-src 'none'; img-src 'self'; connect-src 'self'; style-src {own}; script-src {own}; "
            "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Does nothing, so that requests are not written to the terminal."""


def make_server(images, pictures, folder, port):
    """Makes a server on the loopback interface. ``images`` enqueues and lists downloads, and ``pictures`` returns the
    names of the pictures in ``folder``. Port 0 means any free port."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Gallery)
    server.daemon_threads = True
    server.images, server.pictures, server.folder = images, pictures, folder
    server.token = secrets.token_urlsafe(32)
    return server
