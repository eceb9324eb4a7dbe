"""Performs many runs in parallel. A run is a list of tasks, with the responses and other bytes that the server sends. A
violation is a task that does not end, or that ends with anything else than a response to its request."""

import shutil
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from backhaul import Application, Hosting

from desync.runs import Run, generate
from desync.worker import Worker

WORKERS = 24


@dataclass(frozen=True)
class Failure:
    run: Run
    record: object
    violations: tuple

    def described(self, seed=None):
        """Returns a text with the run, its violations, and what its server did."""
        lines = [f"run {self.run.number} over {self.run.transport}: {len(self.violations)} violations"]
        lines += [f"  {violation}" for violation in self.violations]
        lines += [f"    {entry}" for entry in described(self.record)]
        if seed is not None:
            lines.append(f"  again: scripts/in-venv python -m desync --seed {seed} --run {self.run.number}")
        return "\n".join(lines)


def described(record):
    """Yields a line for each entry of the record."""
    for entry in record.entries:
        words = [f"connection {entry.connection}: {type(entry).__name__.lower()}"]
        for name in ("task", "what"):
            words += [str(getattr(entry, name))] if hasattr(entry, name) else []
        if hasattr(entry, "response"):
            words.append(f"with {entry.response.status} ({entry.response.framing}, {len(entry.response.body)} bytes)")
        yield " ".join(words)


class Fuzzer:
    """``with Fuzzer(certificates) as fuzzer: fuzzer.execute(run)``. A fuzzer has one engine, in this process."""

    def __init__(self, certificates, folder=None):
        self._certificates = certificates
        # Each run syncs several files of a few bytes, so the files are in memory if possible.
        memory = Path("/dev/shm")
        self._place = Path(tempfile.mkdtemp(prefix="desync-", dir=folder or (memory if memory.is_dir() else None)))

    def __enter__(self):
        self._application = Application("org.example.desync", self._place / "store", hosting=Hosting.EMBEDDED)
        self._first = self.worker("named")
        return self

    def __exit__(self, *_):
        self._application.close()
        shutil.rmtree(self._place, ignore_errors=True)

    def worker(self, name):
        return Worker(self._application, name, self._place, self._certificates)

    def execute(self, run):
        """Performs one run. Returns its record and its violations."""
        return self._first.execute(run)

    def fuzz(self, seed, numbers, workers=WORKERS, progress=lambda count: None):
        """Performs the runs with these numbers. Returns the runs with violations."""
        remaining, failures, errors = iter(numbers), [], []
        lock = threading.Lock()

        def work(worker):
            try:
                while not errors:
                    with lock:
                        number = next(remaining, None)
                        progress(number)
                    if number is None:
                        return
                    run = generate(seed, number)
                    record, violations = worker.execute(run)
                    if violations:
                        failures.append(Failure(run, record, tuple(violations)))
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(self.worker(f"worker{number}"),)) for number in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return failures
