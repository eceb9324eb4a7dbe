"""The record of a scenario: its steps and waits, as docs/conditions.md shows them. In a scenario, conditions such as
power change during downloads. A step is a change, for example that the power is lost. A wait is a time in which a
download waits."""

import json
import re
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

#: The folder with one file for each scenario.
FOLDER = Path(__file__).resolve().parent / "records"


@dataclass
class Record:
    """The record of a scenario. The *engine* runs the downloads. The *calendar* is the date and time that the engine
    sees. If the test sets the calendar, the record's times are dates and times of the calendar. Otherwise, the times
    are seconds since the scenario began."""

    name: str
    title: str
    story: str
    #: The demands of the session on the system, as options of the command line.
    asks: str
    #: For each step: the time, and what happened at this time.
    steps: list = field(default_factory=list)
    #: For each wait: the task, the begin, the end, the reason, and the text of the reason.
    waits: list = field(default_factory=list)

    def begin(self, env, calendar=None):
        self._begin, self._system, self._calendar = time.time(), str(env.machine.system), calendar

    def step(self, what):
        self.steps.append([self._text(time.time() * 1_000 + (self._calendar.moved if self._calendar else 0)), what])

    def add_waits(self, waits, whose=""):
        """Adds the wait records of a task. A wait record has the begin, the end and the reason of a time in which the
        task waited. When the calendar is set, the engine changes the times of its earlier wait records. So this
        function keeps the times that an earlier call has added."""
        mine = [wait for wait in self.waits if wait[0] == whose]
        for number, wait in enumerate(waits):
            ended = self._text(wait.ended_ms) if wait.ended_ms else ""
            if number < len(mine):
                mine[number][2] = mine[number][2] or ended
            else:
                self.waits.append([whose, self._text(wait.began_ms), ended, wait.reason.name.lower(),
                                   wait.reason_text.replace(self._system, "/sys")])

    def _text(self, milliseconds):
        if self._calendar:
            return time.strftime("%d %b %H:%M", time.gmtime(milliseconds / 1_000)).lstrip("0")
        return f"{max(0, round(milliseconds / 1_000 - self._begin))} s"

    def keep(self):
        FOLDER.mkdir(exist_ok=True)
        (FOLDER / f"{self.name}.json").write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n")

    @property
    def pattern(self):
        """Returns the steps and waits without numbers, such as seconds, bytes and percent. So each run of the scenario
        gives the same result."""
        def without_numbers(text):
            return re.sub(r"\d[\d.,]*", "#", re.sub(r"\d+ [kM]?B/s", "# B/s", text))
        return [without_numbers(what) for _, what in self.steps], [
            (whose, reason, without_numbers(sentence), bool(ended))
            for whose, _, ended, reason, sentence in self.waits]

    @classmethod
    def load(cls, name):
        return cls(**json.loads((FOLDER / f"{name}.json").read_text()))
