"""Runs the rows (measurements) of the bench that transfer files. In each round, each contender (measured program) runs
one time. The results of the runs are compared with the *bars*: the worst figures that the project accepts."""

import sys
from dataclasses import asdict
from statistics import median

from . import measure, report
from .contenders import contenders
from .counting import counting_environment, read_counts
from .files import Files, are_large, free_blocks
from .preloading import preloading_environment
from .rows import PLAIN
from .workplace import environment


class Transfers:
    """Runs rows. `extent` is full or quick. If `rounds` is set, it replaces each row's number of rounds."""

    def __init__(self, folder, programs, daemon, extent, rounds):
        self._folder, self._programs, self._daemon = folder, programs, daemon
        self._extent, self._rounds = extent, rounds
        self._environment = environment()

    def run(self, row, server, bars):
        """Measures all protocols of a row, and returns its results as values for JSON."""
        amount = row.amounts[self._extent]
        files = Files(server.files / self._folder.name, amount.sizes)
        results = []
        for protocol in row.bars:
            taking_part = [each for each in contenders(self._programs) if each.name in row.contenders]
            cell = Cell(row, protocol, files, server, taking_part)
            if any(contender.needs_recording for contender in taking_part):
                cell.recording = self._recorded(cell)
            runs = self._timed(cell, self._rounds or amount.rounds)
            counts = self._counted(cell)
            report.table(f"{cell.title}, {report.rounds(runs['Backhaul'])}", cell.labels(runs), cell.labels(counts),
                         ("curl -Z", row.ceiling))
            add_bars(bars, cell, runs, counts)
            results.append(as_values(row, protocol, files, runs, counts))
            if not cell.is_large:
                for folder in cell.folders:
                    free_blocks(folder)
        free_blocks(files.folder)
        return results

    def _recorded(self, cell):
        """Makes a separate run of Backhaul, and returns the path of a recording: what the daemon did with its database
        (bench/recorder.c). The daemon has ended after the run, so the recording is complete."""
        def environment(job):
            variables = {"BENCH_RECORDING": str(job.scratch / "recording")}
            return preloading_environment(
                job, self._programs / "recorder.so", variables, self._daemon, self._environment)

        [contender] = [each for each in cell.contenders if each.name == "Backhaul"]
        return self._untimed(cell, contender, "recorded", environment).scratch / "recording"

    def _untimed(self, cell, contender, name, environment):
        """Makes one run that is not timed, and returns its job. `environment` returns the environment for the job."""
        show_progress(f"{cell.name}, {name}: {contender.name}")
        job = self._job(cell, contender, name)
        measure.run(contender, job, cell.files, cell.server, environment(job))
        cell.finish(contender, job, digests=False)
        show_progress("")
        return job

    def _timed(self, cell, rounds):
        runs = {contender.name: [] for contender in cell.contenders}
        for number in range(rounds):
            for contender in cell.contenders:
                show_progress(f"{cell.name}, round {number + 1} of {rounds}: {contender.name}")
                job = self._job(cell, contender, number)
                runs[contender.name].append(measure.run(contender, job, cell.files, cell.server, self._environment))
                cell.finish(contender, job, digests=number == 0)
        show_progress("")
        return runs

    def _counted(self, cell):
        """Makes separate runs for the contenders that sync their files. These runs count what a contender demands of
        the disk: the syncs and the bytes of the write-ahead log."""
        environment = lambda job: counting_environment(job, self._programs, self._daemon, self._environment)
        return {contender.name: read_counts(self._untimed(cell, contender, "counted", environment))
                for contender in cell.contenders if contender.durable}

    def _job(self, cell, contender, number):
        name = f"{self._folder.name}-{'plain' if cell.protocol == PLAIN else 'tls'}-{number}-{contender.name}"
        folder = self._folder / name.replace(" ", "_").replace(",", "")
        return measure.prepare(cell.files, cell.server, folder, cell.protocol != PLAIN, cell.row.uploads,
                               cell.recording)


class Cell:
    """The runs of a row with one HTTP version. `folders` has the folders that the runs have filled. `recording` is the
    path of the recording, or None."""

    def __init__(self, row, protocol, files, server, taking_part):
        self.row, self.protocol, self.files, self.server = row, protocol, files, server
        self.contenders, self.folders, self.recording = taking_part, [], None
        self.is_large = are_large(files.sizes.values())
        self.name = f"{row.name} over {protocol}"
        network = " at {} ms of round-trip time and {} % loss".format(*row.delay) if row.delay else ""
        self.title = f"{self.name}{network}: {files.description}{' uploaded' if row.uploads else ''}"

    def finish(self, contender, job, digests):
        """Checks the files of a run. If the files are large, releases their blocks."""
        self.folders.append(job.folder)
        measure.check(contender, job, self.files, digests)
        if self.is_large and contender.keeps_files:
            free_blocks(job.folder)

    def labels(self, values):
        """Adds "(1.1)" to the names of contenders that use HTTP/1.1 although the cell is for HTTP/2."""
        other = {each.name for each in self.contenders if not each.http2 and self.protocol != PLAIN}
        return {f"{name} (1.1)" if name in other else name: value for name, value in values.items()}


def add_bars(bars, cell, runs, counts):
    row, protocol = cell.row, cell.protocol
    for bar in row.bars[protocol]:
        choices = [(median(report.ratios(bar.figure, runs["Backhaul"], runs[reference])), limit, reference)
                   for reference, limit in bar.limits if reference in runs]
        if choices:
            bars.ratio(cell.name, bar.figure, choices)
    if protocol in row.wal_bytes:
        bars.at_most(f"{cell.name}: bytes of the WAL for each file",
                     counts["Backhaul"].wal_bytes / len(cell.files.sizes), row.wal_bytes[protocol], "B")


def as_values(row, protocol, files, runs, counts):
    return {
        "row": row.name, "protocol": protocol, "files": len(files.sizes), "bytes": files.bytes,
        "runs": {name: [asdict(run) for run in each] for name, each in runs.items()},
        "counts": {name: asdict(count) for name, count in counts.items()},
        "wall_ratios": {name: report.ratios("wall", each, runs["curl -Z"]) for name, each in runs.items()},
        "bars": [{"figure": bar.figure, "limits": [list(limit) for limit in bar.limits]}
                 for bar in row.bars[protocol]],
    }


def show_progress(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
