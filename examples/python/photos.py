"""A small host: it downloads the files of a list, whatever happens to it in the meantime.

  photos.py STORE LIST   hands over the list's files, one "URL<tab>destination" a line, and waits for them
  photos.py STORE        attaches to what was handed over before, and waits for the rest

Kill it at any moment and start it again: nothing is lost, and nothing is downloaded twice. Given the list again when
all is there, it downloads what has changed.
"""

import sys

from backhaul import Application, Hosting, Request


def requests(path):
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            url, destination = line.rstrip("\n").split("\t")
            # The keys make a repetition harmless, should the host die before it returns.
            yield Request(url, destination, key=f"photo-{number}", if_exists="replace", if_changed=True)


def show(event):
    if event.is_session_finished:
        print(f"round {event.round} finished", flush=True)
    elif event.succeeded:
        print(f"done {event.task_id} {event.size} {event.path}", flush=True)
    else:
        print(f"lost {event.task_id} {event.url}: {event.error_message}", flush=True)


def main(store, path=None):
    # The engine is in this process: killed with it, started with it.
    with Application("org.example.photos", store, hosting=Hosting.EMBEDDED) as application:
        with application.session("gallery") if path else application.attach("gallery") as session:
            if path:
                print(f"handed over {len(session.enqueue(requests(path)))} files", flush=True)
            # An earlier start may have acknowledged the last event: then no task is left.
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
