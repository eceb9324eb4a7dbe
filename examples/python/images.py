"""Press download, leave, come back, the picture is there.

  images.py get URL...       hands the pictures over and ends at once
  images.py                  shows what is there and what is on its way, live, until all of it is there
  images.py gallery [PORT]   shows the pictures as a page for the browser, with a button and live progress
  images.py launched         how Backhaul starts it when the pictures are there; nobody else needs to

The pictures lie in ~/Pictures/Backhaul, with images.log beside them. See examples/README.md for the story.
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
ON_THEIR_WAY = (TaskState.WAITING, TaskState.RUNNING, TaskState.SUSPENDED)


def this_program():
    """What is to be launched: the interpreter, with this very file. A launched program has a clean environment, so what
    this one needed to find the library comes along."""
    needed = {name: os.environ[name] for name in ("PYTHONPATH", "BACKHAUL_LIBRARY") if name in os.environ}
    return LaunchCommand(sys.executable, [Path(__file__).resolve(), "launched"], environment=needed)


def name_of(url):
    """The last segment of the URL's path; nothing in it can lead elsewhere, hide the file or confuse a terminal."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", urlsplit(url).path.rsplit("/", 1)[-1])[-99:]
    name = re.sub(r"^\.", "_", name)
    return name if name not in ("", LOG.name) else "picture"


def pictures():
    """The names of the pictures that are there. A part file hides behind a dot."""
    return sorted(path.name for path in FOLDER.iterdir() if path.name[0] != "." and path != LOG
                  and path.is_file() and not path.is_symlink())


def note(line):
    """In the log, which is all that a launched program has to say something."""
    # One write to a file opened for appending: lines of two programs never mix.
    with open(LOG, "a", encoding="utf-8") as log:
        log.write(f"{line}\n")


class Images:
    """The program, as far as its command lets it: its session, and what it says."""

    def __init__(self, role, is_launched=False):
        self.role, self.is_launched = role, is_launched
        # Each start says anew what is to be launched, so a program that was moved is found after its next start.
        self.application = Application("org.example.images.python", launch=this_program())

    @cached_property
    def session(self):
        """Made when it is first needed, found again ever after: the same way from the button and from a launch."""
        return self.application.session("pictures", role=self.role)

    def close(self):
        if "session" in vars(self):
            self.session.close()
        self.application.close()

    def say(self, line):
        if not self.is_launched:
            print(line, flush=True)
        note(f"launched: {line}" if self.is_launched else line)

    def hand_over(self, url):
        """The button. When this returns the picture will come, whatever happens to this program."""
        name = name_of(url)
        if name in pictures():
            return self.say(f"{name} is there already")
        task = self.session.download(url, FOLDER / name, key=name)  # pressed twice, it is still one download
        self.say(f"handed over {name}" if task.is_new else f"{name} was handed over before")

    # Events: the only place that knows how a download ended

    def use(self, event):
        if event.is_session_finished:
            self.say(f"round {event.round} finished")
        elif event.is_task_ended and event.succeeded:
            self.say(f"{event.key} is there, {event.size} bytes")
        elif event.is_task_ended:
            self.say(f"{event.key} does not come: {event.error_message}")
        # After it was used: killed in between, this program is told again.
        event.acknowledge()

    def handle_events(self, timeout=0):
        """Uses what there is, and what comes until nothing has come for so many seconds."""
        for event in self.session.events(timeout=timeout):
            self.use(event)

    def be_launched(self):
        """Nobody looks: use the events, say that nothing is outstanding, and be gone. A program with several sessions
        does this for each that the launch names."""
        if self.application.current_launch() is None:
            return  # the user was faster, and it is over
        try:
            self.handle_events()
        except InUse:
            return  # the user has opened the program, which will see to it all
        self.session.complete()
        self.say("nothing is outstanding")

    # The program as the user opens it

    def tasks(self):
        """What is on its way, each as name, hundredths that are here or None, and why it does not move."""
        for task in self.session.tasks(states=ON_THEIR_WAY):
            yield task.key, 100 * task.offset // task.size if task.size else None, task.reason_text

    def show(self):
        self.handle_events()  # first what happened meanwhile
        for name in pictures():
            print("there:", name)
        while on_their_way := list(self.tasks()):
            for name, percent, why in on_their_way:
                print(f"on its way: {name}{'' if percent is None else f' {percent} %'}{f', {why}' if why else ''}")
            self.handle_events(timeout=0.5)
        self.handle_events()  # of those that ended between the two
        self.session.complete()

    def listen(self):
        """Uses events as they come, for as long as the program is open: while it is, nothing is launched."""
        with suppress(InvalidHandle):  # closed, which ends the waiting
            for event in self.session.events():
                self.use(event)


def gallery(images, port):
    # Only this command has a page; the others need not load a server.
    from images_page import make_server

    images.handle_events()
    with make_server(images, pictures, FOLDER, port) as server:
        threading.Thread(target=images.listen, daemon=True).start()
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()


def get(urls):
    """The status to exit with. One bad address does not keep the others from coming."""
    failed = 0
    with closing(Images(Role.PRODUCE)) as images:  # the button needs no events
        for url in urls:
            try:
                images.hand_over(url)
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
        with closing(Images(Role.CONSUME_WHEN_FREE)) as images:  # waits for a launched one that is just at work
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
            note(f"launched: {error}")  # it has not completed, so it is launched again, later
        sys.exit(f"images: {error}")
