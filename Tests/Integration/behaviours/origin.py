"""Code that the scripted servers for HTTP/1.1 and HTTP/2 share. A row is one case of the table of HTTP behaviours. The
script of a row maps paths to responses. The code finds the row of each request, and logs the request."""

import threading

from behaviours.row import ReceivedRequest, Response  # noqa: F401


class Scripts:
    """The scripts of the rows that run now. The first part of a request's path names the row."""

    def __init__(self):
        self._registered = {}
        self._lock = threading.Lock()

    def register(self, key, script, places):
        """Registers the script of a row. ``places`` has the URLs that replace {base} and {other} in header fields."""
        with self._lock:
            self._registered[key] = ({path: list(responses) for path, responses in script.items()}, places, [])

    def requests(self, key):
        with self._lock:
            return list(self._registered[key][2])

    def early(self, seen):
        """Returns the `Early` of the next response, if the server sends this response before it has the whole body of
        the request. Returns None if the response follows the body."""
        key, _, rest = seen.path.lstrip("/").partition("/")
        with self._lock:
            script = self._registered.get(key, ({}, {}, []))[0]
            responses = script.get(rest.partition("?")[0])
            return getattr(responses[0], "early", None) if responses else None

    def response(self, seen):
        key, _, rest = seen.path.lstrip("/").partition("/")
        path = rest.partition("?")[0]
        with self._lock:
            if key not in self._registered:
                return Response(404)
            script, places, log = self._registered[key]
            log.append(seen)
            responses = script.get(path)
            if not responses:
                return Response(404, body=b"no such path in the row\n")
            step = responses.pop(0) if len(responses) > 1 else responses[0]
        response = step(seen) if callable(step) else step
        headers = {}
        for name, value in response.headers.items():
            if value is None:
                continue
            values = value if isinstance(value, (list, tuple)) else [value]
            headers[name] = [self._placed(one, places) for one in values]
        return response.with_changes(headers=headers)

    @staticmethod
    def _placed(value, places):
        for name, url in places.items():
            value = value.replace("{" + name + "}", url)
        return value
