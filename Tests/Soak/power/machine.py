"""A machine with one disk, which loses its power."""

import ctypes
import json
import multiprocessing
import subprocess
import uuid
from contextlib import closing, contextmanager

import daemons
import disk
from testbed.durability import Plan, lost_at_end, lost_before_start, make_batch
from testbed.journal import Journal
from testbed.programs import durable_host
from testbed.work_dirs import new_place

BOOT = "/proc/sys/kernel/random/boot_id"
#: The longest time of a host, in seconds.
PATIENCE = 300
HOSTS = multiprocessing.get_context("forkserver")
# Each host imports the main module again, so what that module imports must be loaded before.
HOSTS.set_forkserver_preload(["machine", "servers.misbehaving", "servers.receiving"])


def facts_of(lines):
    return [json.loads(line) for line in lines.splitlines()]


class Machine:
    """A machine with one disk. `violations` has what was lost."""

    def __init__(self, kind, folder, misbehaving, sink):
        self.kind, self.folder, self._misbehaving, self._sink = kind, folder, misbehaving, sink
        self.image, self._present, self._next = folder / "image", folder / "present", folder / "next"
        self._fuse, self._mount, self._boot = folder / "fuse", folder / "disk", folder / "boot"
        self._fuse.mkdir()
        self._mount.mkdir()
        self._boot.write_text("")
        # The engine trusts unsynced bytes only if the machine has not been started since.
        if ctypes.CDLL(None, use_errno=True).mount(bytes(self._boot), BOOT.encode(), None, 4096, None):
            raise OSError(ctypes.get_errno(), "cannot replace the id of the boot")
        self.violations, self.batches, self.facts = [], [], b""

    def new_disk(self):
        made = self.folder / "made"
        disk.make(self.kind, made)
        disk.copy(made, self.image)
        made.unlink()
        self.batches, self.facts = [], b""

    def add_batch(self, seed):
        self.batches.append(make_batch(self._mount / str(seed), seed, self._misbehaving, self._sink))

    def run(self, hosting, seed, ignores_flushes):
        """Starts the machine, and runs a host to its end. Returns the record of the disk."""
        disk.copy(self.image, self._present)
        with disk.Recording(HOSTS, self._fuse, self._present, self.facts, ignores_flushes) as recording:
            with disk.Mounted(self.kind, self._fuse / "disk", self._mount):
                self._run_host(self._fuse / "facts", hosting, seed)
        return recording.record

    def replay(self, seed):
        """Starts the machine with a disk that is not recorded, and runs a host to its end."""
        facts = self.folder / "facts"
        facts.write_bytes(self.facts)
        with disk.Mounted(self.kind, self.image, self._mount):
            self._run_host(facts, "EMBEDDED", seed)

    def _run_host(self, facts, hosting, seed):
        self._boot.write_text(f"{uuid.uuid4()}\n")
        with closing(Journal(facts)) as journal:
            known = list(journal.facts())
            prepared = [batch for batch in self.batches if batch.is_prepared(known)]
            lost = list(lost_before_start(known, [work for batch in prepared for work in batch.works]))
            for batch in self.batches:
                if batch not in prepared:
                    batch.prepare(journal)
            works = [work for batch in self.batches for work in batch.works]
            if not lost:
                self._start_host(Plan(str(self._mount / "store"), str(facts), works, hosting, seed))
            self.violations += lost or lost_at_end(list(journal.facts()), works, self._sink)

    def _start_host(self, plan):
        host = HOSTS.Process(target=durable_host.run, args=(plan,))
        host.start()
        host.join(PATIENCE)
        host.kill()
        host.join()
        if plan.hosting == "DAEMON":
            daemons.end_daemons(self._mount)

    def cut_power(self, record, position, chance, image=None):
        """Makes the disk as the power cut leaves it. Returns a description of the cut."""
        fate = chance.choice(disk.FATES)
        durable, left = disk.cut(record, position, fate, chance)
        disk.copy(image or self.image, self._next)
        disk.apply(durable + left, self._next)
        self._next.replace(self.image)
        return f"{fate}, {len(left)} writes after the last flush, entry {position} of {len(record)}"

    def explain(self, first, what):
        """Adds the description of the run to the violations that it had, and prints them."""
        self.violations[first:] = [f"{what}: {violation}" for violation in self.violations[first:]]
        for violation in self.violations[first:][:5]:
            print(violation, flush=True)


@contextmanager
def memory():
    """A folder in memory, which ends with this process. A real disk would only be slower."""
    with new_place() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
