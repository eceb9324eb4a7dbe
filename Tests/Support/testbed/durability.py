"""What a host has enqueued, and the checks that nothing of it was lost after a crash or a power cut.

`programs/durable_host.py` is the host. It writes facts into a journal (journal.py): what it has seen, and what
calls of the library have promised. The checks compare the files and a later run of the host with these facts.
"""

import os
import random
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from servers.behaviour import Behaviour
from servers.content import Content
from testbed.journal import violations

#: The resources of a folder with work: the kind of each task, the size of its content, and whether its transfer is
#: slow and is interrupted, so that it has checkpoints and resumes.
KINDS = [
    ("new", 0, False), ("new", 70_000, False), ("new", 2_500_000, True), ("replace", 5_000, False),
    ("replace", 1_500_000, True), ("claim", 90_000, False), ("upload", 60_000, False), ("move", 1_000, False),
]


@dataclass(frozen=True)
class Work:
    """One task. `path` is the destination of a download or of a claim, or the body file of an upload."""

    key: str
    kind: str
    url: str
    path: str
    content: Content
    #: What the destination had before.
    old: Content | None = None

    @property
    def is_upload(self):
        return self.kind in ("upload", "move")


@dataclass(frozen=True)
class Plan:
    """What a host shall do. A host that starts again gets the same plan."""

    store: str
    journal: str
    works: list
    hosting: str = "EMBEDDED"
    seed: int = 0
    #: How many requests are enqueued at a time.
    chunk: int = 5


@dataclass
class Batch:
    """Works in a folder, and the facts of the host that has them."""

    seed: int
    folder: Path
    works: list

    def prepare(self, journal):
        """Writes the files that exist before the host starts."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for work in self.works:
            before = work.content if work.is_upload else work.old
            if before:
                Path(work.path).write_bytes(before.data)
        subprocess.run(["sync", "--file-system", self.folder], check=True)
        journal.write("prepared", seed=self.seed)

    def is_prepared(self, facts):
        return any(fact["fact"] == "prepared" and fact["seed"] == self.seed for fact in facts)


def make_batch(folder, seed, misbehaving, sink):
    chance, works = random.Random(seed), []
    for number, (kind, size, is_slow) in enumerate(KINDS):
        key, path = f"{seed}-{number}", str(folder / f"{number}")
        content = Content(size, chance.getrandbits(32))
        faults = [Behaviour(pace=40_000_000, drop_after=chance.randrange(size + 1)), Behaviour(pace=40_000_000)]
        url = misbehaving.serve(f"/{key}", replace(content), faults if is_slow else [])
        old = Content(size // 2 + 1, chance.getrandbits(32)) if kind == "replace" else None
        works.append(Work(key, kind, f"{sink.url}/{key}" if kind in ("upload", "move") else url, path, content, old))
    return Batch(seed, folder, works)


def bytes_of(path):
    return Path(path).read_bytes() if os.path.exists(path) else None


def lost_before_start(facts, works):
    """Yields what is wrong with the files before an engine has opened the store again."""
    seen = {fact["key"]: fact for fact in facts if fact["fact"] == "seen"}
    claimed = {fact["key"] for fact in facts if fact["fact"] == "claimed"}
    for work in works:
        if work.is_upload:
            continue
        found = bytes_of(work.path)
        allowed = [work.content.data, work.old.data if work.old else None]
        if found not in allowed:
            yield f"the file of {work.key} is {'missing' if found is None else f'wrong: {len(found)} bytes'}"
        elif work.key in (claimed if work.kind == "claim" else seen) and found != work.content.data:
            yield f"the file of {work.key} is not there, although the host has seen its event"


def lost_at_end(facts, works, sink):
    """Yields what is wrong after the host has run to its end. The facts are those of all runs, in order."""
    yield from violations(facts)
    if not facts or facts[-1]["fact"] != "completed":
        yield f"the host has not completed; its last fact: {facts[-1:]}"
    ends = {fact["key"]: fact for fact in facts if fact["fact"] == "seen" and not fact["finished"]}
    for work in works:
        if work.key not in ends:
            yield f"{work.key}: its event never came"
        elif ends[work.key]["status"] != 0:
            yield f"{work.key}: ended with status {ends[work.key]['status']}"
        elif not work.is_upload and bytes_of(work.path) != work.content.data:
            yield f"{work.key}: its file is wrong"
        elif work.is_upload and sink.received.get(work.key) != work.content.data:
            yield f"{work.key}: the server did not receive it"
    for folder in {os.path.dirname(work.path) for work in works}:
        wanted = {os.path.basename(work.path) for work in works if work.kind != "move"}
        yield from (f"{name} was left over" for name in sorted(set(os.listdir(folder)) - wanted))
