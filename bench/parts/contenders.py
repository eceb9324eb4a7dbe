"""The contenders, which are the programs that the bench times: their command lines, and whether they make files
durable."""

from dataclasses import dataclass
from pathlib import Path
from collections.abc import Callable

#: How many transfers run at the same time.
AT_ONCE = 32


@dataclass(frozen=True)
class Job:
    """The work of one run: the URLs, the file of each URL, and the folders in which the contender may write.

    The file of a URL is the destination of a download, or the file that an upload sends. `results` are the files that
    exist after the work.
    """

    urls: list
    paths: list
    results: list
    folder: Path
    scratch: Path
    certificate: Path
    tls: bool
    uploads: bool
    sources: Path
    #: What Backhaul did with its database in a run of the same transfers (bench/recording.h). None if no contender of
    #: the row needs it.
    recording: Path | None = None

    def write(self, name, lines):
        path = self.scratch / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def pairs(self):
        return self.write("list", (f"{url}\t{path}" for url, path in zip(self.urls, self.paths)))


@dataclass(frozen=True)
class Contender:
    name: str
    command: Callable
    durable: bool = False
    http2: bool = True
    keeps_files: bool = True
    needs_recording: bool = False


def curl(job):
    option = "upload-file" if job.uploads else "output"
    config = job.write("config", (f'url = "{url}"\n{option} = "{path}"' for url, path in zip(job.urls, job.paths)))
    command = ["curl", "-q", "-Z", "--parallel-max", str(AT_ONCE), "--no-progress-meter", "--fail", "--config", config]
    return command + (["--cacert", job.certificate] if job.tls else [])


def curl_and_sync(job):
    command = " ".join(f"'{word}'" for word in curl(job))
    files = " ".join(f"'{path}'" for path in job.results)
    return ["sh", "-c", f"{command} && sync {files}"]


def dd(job):
    """Copies the file from the folder `sources` without a network, which shows the throughput of the disk."""
    [path] = job.paths
    return ["dd", f"if={job.sources / path.name}", f"of={path}", "bs=1M", "conv=fdatasync", "status=none"]


def aria2c(*options):
    def command(job):
        listing = job.write("list", (f"{url}\n dir={path.parent}\n out={path.name}"
                                     for url, path in zip(job.urls, job.paths)))
        certificate = [f"--ca-certificate={job.certificate}"] if job.tls else []
        return ["aria2c", "--no-conf", "--quiet", f"--max-concurrent-downloads={AT_ONCE}", f"--input-file={listing}",
                *options, *certificate]
    return command


def wget2(job):
    listing = job.write("list", job.urls)
    certificate = [f"--ca-certificate={job.certificate}"] if job.tls else []
    return ["wget2", "--no-config", "--quiet", "--progress=none", "--no-hsts", "--no-ocsp", "--no-ocsp-stapling",
            f"--max-threads={AT_ONCE}", f"--directory-prefix={job.folder}", f"--input-file={listing}", *certificate]


def bench_host(programs, hosting, job, store=None, at_once=AT_ONCE):
    """Returns the command of bench/bench_host.c. The store is `store`, or a new one."""
    return [programs / "bench_host", hosting, "put" if job.uploads else "get", store or job.scratch / "store",
            job.pairs(), job.certificate if job.tls else "", str(at_once)]


def contenders(programs):
    """Returns the contenders in the order of a round, in which each contender runs one time. `programs` is the folder
    with bench_host, raw and floor.

    aria2c is last, because it removes its control files. The removal would slow down the next contender.
    """
    certificate = lambda job: [job.certificate] if job.tls else []
    backhaul = lambda hosting: lambda job: bench_host(programs, hosting, job)
    raw = lambda mode: lambda job: [programs / "raw", mode, job.pairs(), *certificate(job)]
    floor = lambda job: [programs / "floor", job.scratch / "rows", job.pairs(), *certificate(job)]
    replaying_floor = lambda job: [
        programs / "floor", job.scratch / "rows", job.pairs(), job.certificate if job.tls else "", job.recording]
    return [
        Contender("Backhaul", backhaul("daemon"), durable=True),
        Contender("Backhaul embedded", backhaul("embedded"), durable=True),
        Contender("curl -Z", curl),
        Contender("curl + sync", curl_and_sync, durable=True),
        Contender("dd, fdatasync", dd, durable=True),
        Contender("wget2", wget2),
        Contender("raw libcurl", raw("discard"), keeps_files=False),
        Contender("raw, written", raw("write")),
        Contender("raw, sync each", raw("each"), durable=True),
        Contender("raw, sync all", raw("all"), durable=True),
        Contender("floor", floor, durable=True),
        Contender("floor + replay", replaying_floor, durable=True, needs_recording=True),
        Contender("aria2c none", aria2c("--file-allocation=none"), http2=False),
        Contender("aria2c", aria2c(), http2=False),
    ]
