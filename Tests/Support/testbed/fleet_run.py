"""The losses of a fleet: its host, workers and database are killed, workers are stopped, and their links are cut."""

import shutil
import signal
import threading
from collections import Counter
from pathlib import Path

from backhaul import Hosting
from servers.certificates import make_certificates
from servers.content import mixed_sizes, write_files
from servers.misbehaving import MisbehavingServer
from servers.nginx import Nginx
from servers.relay import Relay
from testbed.fleet import Fleet
from testbed.host import until
from testbed.soak_run import SoakRun

WORKERS = ["one", "two", "three"]
LEASE = 3
#: What is lost, and how often. Most losses are those of one process; the last row is that of a machine.
LOSSES = {"worker": 6, "host": 3, "stopped worker": 2, "link": 2, "database": 2, "hung database": 1,
          "worker and database": 1, "all workers": 1}


class FleetRun(SoakRun):
    """A host, three workers and a database. Each worker has a link of its own to the database."""

    def __init__(self, folder, database, *settings):
        super().__init__(folder, *settings, hosting=Hosting.DEFAULT)
        self.database = database
        self.fleet = Fleet(database.create(), folder)
        self.store = self.fleet.address
        self.links = {name: Relay(f"{database.folder}/.s.PGSQL.5432") for name in WORKERS}
        self.losses = Counter()
        #: What is lost, and the timers of their returns.
        self._away = {}

    def __enter__(self):
        for name, link in self.links.items():
            link.__enter__()
            self._start(name)
        return self

    def __exit__(self, *_):
        self._end_losses()
        self.fleet.close()
        for link in self.links.values():
            link.__exit__()

    def _start(self, name):
        self.fleet.start(name, lease=LEASE, address=self.fleet.address_through("127.0.0.1", self.links[name].port))

    def _kill(self, host):
        loss = self.random.choices(list(LOSSES), LOSSES.values())[0]
        # What was lost and has not returned cannot be lost again.
        names = [name for name in WORKERS if name not in self._away]
        self.random.shuffle(names)
        links = [name for name in WORKERS if f"link {name}" not in self._away]
        if ("worker" in loss and not names or "database" in loss and "database" in self._away
                or loss == "link" and not links):
            loss = "host"
        if loss == "host":
            host.kill()
            host.wait()
        elif loss == "stopped worker":
            self.fleet.workers[names[0]].send_signal(signal.SIGSTOP)
            self._later(names[0], self.fleet.workers[names[0]].send_signal, signal.SIGCONT)
        elif loss == "link":
            name = self.random.choice(links)
            self.links[name].cut()
            self._later(f"link {name}", self.links[name].restore)
        elif "worker" in loss:
            for name in names if loss == "all workers" else names[:1]:
                self._kill_worker(name)
        if loss == "hung database":
            self._later("database", self.database.wake, self.database.hang())
        elif "database" in loss:
            self.database.kill()
            self.database.start()
        self.losses[loss] += 1
        return None if loss == "host" else host

    def _kill_worker(self, name):
        self.fleet.workers[name].kill()
        self.fleet.workers[name].wait()
        # A worker that starts again before the end of its lease continues its tasks.
        if self.random.random() < 0.5:
            self._start(name)
        else:
            self._later(name, self._start, name)

    def _later(self, name, function, *arguments):
        """Calls the function when the lease may have ended, or not."""
        def end():
            function(*arguments)
            self._away.pop(name, None)
        self._away[name] = timer = threading.Timer(LEASE * self.random.uniform(0.5, 2), end)
        timer.start()

    def _end_losses(self):
        for timer in list(self._away.values()):
            timer.join()

    def _check(self, batch, journal):
        """The workers are drained first: a zombie that gave a file its name would have done so when it ends."""
        self._end_losses()
        for name in WORKERS:
            until(lambda name=name: self.fleet.sql(
                f"SELECT 1 FROM backhaul.workers WHERE name = '{name}' AND lease_until > now()"), bool, 60)
            self.fleet.command("fleet", "drain", name)
            status = self.fleet.workers[name].wait(60)
            if status != 0:
                self.result.violations.append(f"batch {batch.number}: the worker {name} ended with {status}")
        super()._check(batch, journal)
        placed = {fact["key"]: fact["file"] for fact in journal.facts() if fact["fact"] == "seen"}
        self.result.violations += [
            f"batch {batch.number}: {key}: its file was replaced after its end"
            for key, _, destination in batch.requests
            if Path(destination).exists() and Path(destination).stat().st_ino != placed.get(key)]
        twice = self.fleet.sql("SELECT count(*) FROM backhaul.live l JOIN backhaul.ends e ON e.task = l.task")
        if twice != ["0"]:
            self.result.violations.append(f"batch {batch.number}: {twice[0]} ended tasks are still live")
        for name in WORKERS:
            self._start(name)


def soak(folder, database, rounds, seed, progress=lambda losses: None):
    """Runs batches until `rounds` losses have happened. Returns the run, with its result."""
    served = write_files(folder / "served", mixed_sizes(40, seed, largest=2_000_000), seed)
    certificates = make_certificates(folder)
    with Nginx(folder / "nginx", served.folder, certificates) as nginx, MisbehavingServer() as misbehaving, \
            FleetRun(folder, database, nginx, served, misbehaving, certificates, seed) as run:
        number = 0
        while run.result.kills < rounds and not run.result.violations:
            number += 1
            run.run_batch(run.batch(number), min(rounds - run.result.kills, run.random.randint(4, 16)))
            progress(run.result.kills)
            shutil.rmtree(run.downloads / str(number))
        run.result.resumed = int(run.fleet.sql("SELECT count(*) FROM backhaul.ends WHERE run > 1")[0])
        return run
