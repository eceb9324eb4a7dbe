"""A Prometheus server from Debian reads the metrics of a daemon."""

import json
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from backhaul import Request
from servers import child, listening
from servers.content import Content
from testbed.host import until

PAGE = Path(__file__).resolve().parents[3] / "docs" / "metrics.md"


def configuration(address):
    """Returns the example of docs/metrics.md, with the daemon's address and a short interval."""
    example = re.search(r"```yaml\n(.*?)```", PAGE.read_text(), re.S)[1]
    return "global:\n  scrape_interval: 1s\n" + example.replace("127.0.0.1:9810", address)


class Prometheus:
    def __init__(self, url):
        self._url = url

    def _get(self, path, **parameters):
        with urllib.request.urlopen(f"{self._url}{path}?{urllib.parse.urlencode(parameters)}", timeout=60) as response:
            return json.load(response)["data"]

    def is_ready(self):
        """Returns false while the server listens and cannot answer queries yet."""
        try:
            with urllib.request.urlopen(f"{self._url}/-/ready", timeout=60) as response:
                return response.status == 200
        except urllib.error.HTTPError:
            return False

    def value(self, query):
        """Returns the value of a query with one result, or None."""
        found = self._get("/api/v1/query", query=query)["result"]
        return float(found[0]["value"][1]) if found else None

    def targets(self):
        return self._get("/api/v1/targets")["activeTargets"]


@pytest.fixture
def prometheus(served_metrics, place):
    (place / "prometheus.yml").write_text(configuration(served_metrics.address))

    def command(port):
        return [listening.find("prometheus"), f"--config.file={place / 'prometheus.yml'}",
                f"--storage.tsdb.path={place / 'tsdb'}", f"--web.listen-address=127.0.0.1:{port}"]

    process, (port,) = listening.start(command)
    server = Prometheus(f"http://127.0.0.1:{port}")
    until(server.is_ready, bool)
    yield server
    child.end(process)


def test_prometheus_reads_the_metrics_of_a_daemon(prometheus, served_metrics, host, misbehaving, downloads):
    until(lambda: prometheus.value("backhaul_sessions"), lambda value: value == 1)
    host.enqueue([Request(misbehaving.serve("/a", Content(1_000_000)), downloads / "a")])
    host.wait_for()
    # A scrape during the transfer may have all bytes, and the task as a running one. A scrape fails if the daemon does
    # not reply within the interval of a second. Then the queries have no values until the next scrape.
    queries = ("backhaul_received_bytes_total", 'backhaul_tasks{state="succeeded"}')
    until(lambda: [prometheus.value(query) for query in queries], lambda values: values == [1_000_000, 1])
    median = "histogram_quantile(0.5, backhaul_store_commit_duration_seconds_bucket)"
    assert until(lambda: prometheus.value(median), lambda value: value is not None) > 0
    until(lambda: [(target["health"], target["lastError"]) for target in prometheus.targets()],
          lambda targets: targets == [("up", "")])


def test_the_queries_of_the_manual_are_valid(prometheus):
    queries = re.findall(r"^    (backhaul_.*|.*\(.*backhaul_.*)$", PAGE.read_text(), re.M)
    assert queries
    for query in queries:
        prometheus.value(query)


@pytest.mark.parametrize("has_work", [False, True])
def test_promtool_finds_no_fault_in_the_metrics(served_metrics, host, misbehaving, downloads, has_work):
    if has_work:
        host.enqueue([Request(misbehaving.serve("/a", Content(1_000)), downloads / "a")])
        host.wait_for()
    done = subprocess.run([listening.find("promtool", "prometheus"), "check", "metrics"],
                          input=served_metrics.get().text, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
