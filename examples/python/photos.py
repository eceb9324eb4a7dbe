"""A small program that downloads the files of a list. Backhaul's engine makes the transfers inside this program.

photos.py STORE LIST   enqueues the files of LIST and waits for them. Each line is "URL<tab>destination"

photos.py STORE   attaches to the session of an earlier run, and waits for the remaining files

If the program is killed and started again, no file is lost, and none is downloaded twice. After all files have
arrived, a run with the same list downloads the files that have changed.
"""

import sys

from backhaul import Application, Hosting, Request


def requests(path):
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            url, destination = line.rstrip("\n").split("\t")
            # The requests have keys, so the enqueue may be repeated after a crash.
            yield Request(url, destination, key=f"photo-{number}", if_exists="replace", if_changed=True)


def show(event):
    if event.is_session_finished:
        print(f"round {event.round} finished", flush=True)
    elif event.succeeded:
        print(f"done {event.task_id} {event.size} {event.path}", flush=True)
    else:
        print(f"lost {event.task_id} {event.url}: {event.error_message}", flush=True)


def main(store, path=None):
    # The engine is in this process, and ends with it.
    with Application("org.example.photos", store, hosting=Hosting.EMBEDDED) as application:
        with application.session("gallery") if path else application.attach("gallery") as session:
            if path:
                print(f"enqueued {len(session.enqueue(requests(path)))} files", flush=True)
            # If an earlier run has acknowledged the last event, no task is left.
            if any(True for _ in session.tasks()) or session.poll(timeout=0).items:
                for event in session.events():
                    show(event)
                    event.acknowledge()
                    if event.is_session_finished:
                        break
            session.complete()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        print("usage: photos STORE [LIST]", file=sys.stderr)
        sys.exit(2)
    main(*sys.argv[1:])
