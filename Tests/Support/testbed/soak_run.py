"""Batches of downloads from correct and faulty servers. For each batch, a host enqueues the downloads, and reads and
acknowledges their events. The run kills the host repeatedly. If the transfers run in a separate process (the
daemon), the run also kills this process."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import daemons
from backhaul import Hosting
from servers import child
from servers.behaviour import Behaviour, retry_after
from servers.certificates import make_certificates
from servers.content import Content, mixed_sizes, sha256_of, write_files
from servers.misbehaving import MisbehavingServer
from servers.nginx import Nginx
from testbed.journal import Journal, violations

#: Temporary faults. The downloaded file must be correct in spite of these faults.
FAULTS = [
    Behaviour(drop_after=1),
    Behaviour(drop_after=40_000),
    Behaviour(drop_after=1_500_000, reset=True),
    Behaviour(stall_after=20_000),
    Behaviour(stall_after=1_300_000),
    Behaviour(silent=True),
    Behaviour(status=500, body=b"broken"),
    Behaviour(status=429),
    retry_after("0"),
    retry_after("1"),
    # This response states a wrong length, so its ETag differs from the file's ETag. If two responses had the same
    # strong ETag and different lengths, the task could fail, because one strong ETag stands for one content.
    Behaviour(length_lie=5, headers={"ETag": '"another length"'}),
    Behaviour(ignores_range=True),
    Behaviour(pace=3_000_000),
    Behaviour(chunked=True),
    Behaviour(headers={"Content-Range": "bytes 0-9/10"}),
]

CONFIGURATION = {
    "first_delay_ms": 20, "longest_delay_ms": 100, "request_timeout_ms": 1_500,
    "connections_per_origin": 8,
}


@dataclass
class Batch:
    """One list of downloads, and the expected content of each file."""

    number: int
    #: Triples of key, URL and destination.
    requests: list
    #: Maps each destination to the digests that its file may have.
    digests: dict


@dataclass
class Result:
    kills: int = 0
    batches: int = 0
    files: int = 0
    resumed: int = 0
    violations: list = field(default_factory=list)


class SoakRun:
    """Servers, a store, a folder for the files, and a seed that determines all choices."""

    def __init__(self, folder, nginx, served, misbehaving, certificates, seed, hosting=Hosting.EMBEDDED):
        self.folder, self.nginx, self.served, self.misbehaving = folder, nginx, served, misbehaving
        self.certificates, self.seed, self.hosting = certificates, seed, hosting
        self.random = random.Random(seed)
        self.store, self.downloads = folder / "store", folder / "downloads"
        self.downloads.mkdir(parents=True)
        self.result = Result()

    def batch(self, number, files=60):
        requests, digests = [], {}
        folder = self.downloads / str(number)
        folder.mkdir()
        for index in range(files):
            key, destination = f"{number}-{index}", str(folder / f"{index}.bin")
            url, right = self._source(key)
            requests.append((key, url, destination))
            digests[destination] = right
        self.random.shuffle(requests)
        return Batch(number, requests, digests)

    def _source(self, key):
        """Returns a URL, and the digests that the downloaded file may have."""
        name = self.random.choice(self.served.names)
        kind = self.random.random()
        if kind < 0.35:
            return f"{self.nginx.url}/{name}", {self.served.digests[name]}
        if kind < 0.6:
            return f"{self.nginx.tls_url}/{name}", {self.served.digests[name]}
        content = Content(self.random.choice([0, 1_000, 100_000, 3_000_000]), self.random.getrandbits(32))
        behaviours = self.random.choices(FAULTS, k=self.random.randrange(4))
        digests = {content.sha256}
        if self.random.random() < 0.2:
            # The resource changes for one response. The file must have one of the two contents. A mixture is wrong.
            changed = Content(content.size, content.seed + 1)
            behaviours.insert(0, Behaviour(content=changed))
            digests.add(changed.sha256)
        return self.misbehaving.serve(f"/{key}", content, behaviours), digests

    def run_batch(self, batch, max_kills, chunk=None):
        """Runs the batch's host until the batch is complete, with up to ``max_kills`` kills. Returns the number of
        kills."""
        journal = Journal(self.folder / f"journal-{batch.number}")
        plan = self._plan(batch, journal, chunk)
        kills, host = 0, None
        while True:
            host = host or child.start([sys.executable, "-m", "testbed.programs.collector", plan])
            limit = self._delay() if kills < max_kills else 120
            try:
                status = host.wait(limit)
            except subprocess.TimeoutExpired:
                if kills < max_kills:
                    kills += 1
                    host = self._kill(host)
                    continue
                host.kill()
                status = f"nothing: not done within {limit} s"
            if status != 0:
                self.result.violations.append(f"batch {batch.number}: the host ended with {status}")
            break
        self._check(batch, journal)
        journal.close()
        self.result.kills += kills
        return kills

    def _kill(self, host):
        """Kills the host, the daemon, or both of them. Returns the host if it still runs, or else None."""
        victims = self.random.choice(
            [("host",)] if self.hosting == Hosting.EMBEDDED else
            [("host",), ("daemon",), ("host", "daemon"), ("daemon", "host")])
        for victim in victims:
            if victim == "daemon":
                for process in daemons.daemons_of(self.store):
                    daemons.end(process, signal.SIGKILL, time.monotonic() + 10)
            else:
                host.kill()
                host.wait()
        if "host" not in victims:
            return host
        if self.hosting == Hosting.DAEMON:
            # If the daemon still runs, the transfers continue. Otherwise they wait until a host starts the next daemon.
            time.sleep(self.random.choice([0.0, 0.0, 0.3]))
        return None

    def _delay(self):
        # The time in seconds until the next kill. After a short time, the kill comes while the host opens the session
        # or adds the downloads. After a long time, it comes during the transfers.
        return self.random.choice([0.05, 0.2, 0.5, 1.5]) * self.random.uniform(0.5, 1.5)

    def _plan(self, batch, journal, chunk):
        path = self.folder / f"plan-{batch.number}.json"
        path.write_text(json.dumps({
            "store": str(self.store), "hosting": self.hosting.name, "session": "collection",
            "journal": str(journal.path), "seed": self.seed,
            "chunk": chunk or len(batch.requests), "requests": batch.requests,
            "configuration": {**CONFIGURATION, "ca_file": str(self.certificates.authority)},
        }))
        return path

    def _check(self, batch, journal):
        facts = list(journal.facts())
        found = list(violations(facts))
        ends = {fact["key"]: fact for fact in facts if fact["fact"] == "seen" and not fact["finished"]}
        for key, _, destination in batch.requests:
            if key not in ends:
                found.append(f"{key}: its event never came")
            elif ends[key]["status"] != 0:
                found.append(f"{key}: ended with status {ends[key]['status']}")
            elif not os.path.exists(destination):
                found.append(f"{key}: its file is not there")
            elif sha256_of(destination) not in batch.digests[destination]:
                found.append(f"{key}: its file is wrong")
        expected = {os.path.basename(destination) for destination in batch.digests}
        found += [f"{name} was left over"
                  for name in set(os.listdir(self.downloads / str(batch.number))) - expected]
        kept = Path(self.store) / "kept"
        if kept.is_dir():
            found += [f"kept/{name} was left over" for name in os.listdir(kept)]
        self.result.violations += [f"batch {batch.number}: {sentence}" for sentence in found]
        self.result.batches += 1
        self.result.files += len(batch.requests)


def soak(folder, rounds, seed, hosting, progress=lambda kills: None):
    """Runs batches until the run has killed processes `rounds` times. Returns the result."""
    served = write_files(folder / "served", mixed_sizes(40, seed, largest=2_000_000), seed)
    certificates = make_certificates(folder)
    with Nginx(folder / "nginx", served.folder, certificates) as nginx, MisbehavingServer() as misbehaving:
        run = SoakRun(folder, nginx, served, misbehaving, certificates, seed, hosting)
        number = 0
        while run.result.kills < rounds and not run.result.violations:
            number += 1
            batch = run.batch(number)
            run.run_batch(batch, min(rounds - run.result.kills, run.random.randint(4, 12)))
            progress(run.result.kills)
            shutil.rmtree(run.downloads / str(number))
        daemons.end_daemons(folder)
        run.result.resumed = sum((asked.offset or 0) > 0 for asked in misbehaving.log())
    return run.result
