"""An image downloader. The user starts a download and closes the program, and the download continues.

  images.py get URL...       enqueues the pictures and exits
  images.py                  shows complete pictures and running downloads, until all downloads are complete
  images.py gallery [PORT]   shows the pictures as a page for the browser, with a button and live progress
  images.py launched         the command with which Backhaul launches the program when the pictures are complete

The pictures and the file images.log are in ~/Pictures/Backhaul. See examples/README.md.
"""

import os
import re
import sys
import threading
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from backhaul import Application, BackhaulError, InUse, InvalidHandle, LaunchCommand, Role, TaskState

FOLDER = Path.home() / "Pictures" / "Backhaul"
LOG = FOLDER / "images.log"
UNFINISHED = (TaskState.WAITING, TaskState.RUNNING, TaskState.SUSPENDED)


def this_program():
    """Returns the launch command, which is the Python interpreter with this file. A launched program does not have the
    environment variables of this process. So the command has the variables that this process needed to find the
    library."""
    needed = {name: os.environ[name] for name in ("PYTHONPATH", "BACKHAUL_LIBRARY") if name in os.environ}
    return LaunchCommand(sys.executable, [Path(__file__).resolve(), "launched"], environment=needed)


def name_of(url):
    """Makes a file name from the last segment of the URL's path. The name has no directories and no control characters,
    and does not begin with a dot."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", urlsplit(url).path.rsplit("/", 1)[-1])[-99:]
    name = re.sub(r"^\.", "_", name)
    return name if name not in ("", LOG.name) else "picture"


def pictures():
    """Returns the names of the complete pictures. Incomplete files are left out: their names begin with a dot."""
    return sorted(path.name for path in FOLDER.iterdir() if path.name[0] != "." and path != LOG
                  and path.is_file() and not path.is_symlink())


def note(line):
    """Writes a line to the log. A launched program has no terminal."""
    # The file is opened for appending, and each line is one write, so the lines of two processes do not mix.
    with open(LOG, "a", encoding="utf-8") as log:
        log.write(f"{line}\n")


class Images:
    """The program with its one session. The role determines which methods of the session the command may call."""

    def __init__(self, role, is_launched=False):
        self.role, self.is_launched = role, is_launched
        # Each run registers its own path as the launch command. If the program was moved, its next run corrects the
        # path.
        self.application = Application("org.example.images.python", launch=this_program())

    @cached_property
    def session(self):
        """Creates the session in the first run, and attaches to it in later runs."""
        return self.application.session("pictures", role=self.role)

    def close(self):
        if "session" in vars(self):
            self.session.close()
        self.application.close()

    def report(self, line):
        if not self.is_launched:
            print(line, flush=True)
        note(f"launched: {line}" if self.is_launched else line)

    def enqueue_download(self, url):
        """Enqueues a download. When this method returns, the task is stored: it survives the end of this program."""
        name = name_of(url)
        if name in pictures():
            return self.report(f"{name} exists already")
        task = self.session.download(url, FOLDER / name, key=name)  # a second enqueue with this key finds this task
        self.report(f"enqueued {name}" if task.is_new else f"{name} was enqueued before")

    # Events: how downloads ended

    def use(self, event):
        if event.is_session_finished:
            self.report(f"round {event.round} finished")
        elif event.is_task_ended and event.succeeded:
            self.report(f"{event.key} is there, {event.size} bytes")
        elif event.is_task_ended:
            self.report(f"{event.key} does not come: {event.error_message}")
        # The event is acknowledged after it was handled. If this program is killed before the acknowledgement, the next
        # run gets the event again.
        event.acknowledge()

    def handle_events(self, timeout=0):
        """Handles events until no event has come for ``timeout`` seconds."""
        for event in self.session.events(timeout=timeout):
            self.use(event)

    def be_launched(self):
        """Handles the events, completes the session (states that its events are processed), and returns, because there
        is no user. A program with several sessions does this for each session of the launch."""
        if self.application.current_launch() is None:
            return  # the user has opened the program, so the launch is over
        try:
            self.handle_events()
        except InUse:
            return  # the user has opened the program; that process reads the events
        self.session.complete()
        self.report("no event is outstanding")

    # When the user opens the program

    def tasks(self):
        """Yields three values for each download that has not ended: its name, its percentage or None, and the reason
        why it waits or None."""
        for task in self.session.tasks(states=UNFINISHED):
            yield task.key, 100 * task.offset // task.size if task.size else None, task.reason_text

    def show(self):
        self.handle_events()  # handles the events since the last run
        for name in pictures():
            print("there:", name)
        while unfinished := list(self.tasks()):
            for name, percent, why in unfinished:
                print(f"on its way: {name}{'' if percent is None else f' {percent} %'}{f', {why}' if why else ''}")
            self.handle_events(timeout=0.5)
        self.handle_events()  # handles the downloads that ended after the last call
        self.session.complete()

    def listen(self):
        """Handles each event when it comes, until the program is closed. While this method runs, Backhaul does not
        launch the program."""
        with suppress(InvalidHandle):  # the application was closed, which ends the wait
            for event in self.session.events():
                self.use(event)


def gallery(images, port):
    # The server is imported here, because only this command needs it.
    from images_page import make_server

    images.handle_events()
    with make_server(images, pictures, FOLDER, port) as server:
        threading.Thread(target=images.listen, daemon=True).start()
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()


def get(urls):
    """Enqueues the URLs, and returns the exit status. If a URL is invalid, the other URLs are still enqueued."""
    failed = 0
    with closing(Images(Role.PRODUCE)) as images:  # `get` needs no events
        for url in urls:
            try:
                images.enqueue_download(url)
            except (BackhaulError, ValueError) as error:
                print(f"images: {url!r}: {error}", file=sys.stderr)
                failed = 1
    return failed


def main(command="", *arguments):
    FOLDER.mkdir(parents=True, exist_ok=True)
    if command == "get" and arguments:
        return get(arguments)
    if command == "launched":
        with closing(Images(Role.CONSUME, is_launched=True)) as images:
            images.be_launched()
    elif command == "gallery" and len(arguments) <= 1 and "".join(arguments).isdigit() >= len(arguments):
        with closing(Images(Role.CONSUME_WHEN_FREE)) as images:
            gallery(images, int(arguments[0]) if arguments else 8000)
    elif not command:
        with closing(Images(Role.CONSUME_WHEN_FREE)) as images:  # waits until a launched process has ended
            images.show()
    else:
        print("usage: images.py [get URL... | gallery [PORT]]", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except (BackhaulError, OSError) as error:
        if sys.argv[1:] == ["launched"]:
            note(f"launched: {error}")  # the launch has failed, so Backhaul launches the program again later
        sys.exit(f"images: {error}")
