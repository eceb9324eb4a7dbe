"""A type checker accepts the words of the enumerations, and refuses other words."""

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import backhaul

PROJECT = Path(__file__).resolve().parents[3]
#: mypy --strict reports an error that is missing, because the comment that ignores it is then not used.
PROGRAM = """
from backhaul import Activity, Application, Constraints, IfExists, IfExistsWord, Request, TransferRules

def use(application: Application, word: IfExistsWord) -> None:
    session = application.session("a", cookies="memory")
    task = session.download("https://example.org/", if_exists="replace", body_source="snapshot", refresh="url")
    task.claim("/home/me/a", if_exists=word)
    session.start.claim(task, "/home/me/a", if_exists=IfExists.SKIP)
    session.upload("https://example.org/", body_source="consume")
    session.set_activity(Activity("a", 1_000, quality_of_service="utility"))
    Constraints(preset="overnight", maximum_thermal_state="fair")
    TransferRules(redirects="same_origin")

    application.session("a", cookies="wrong")  # type: ignore[arg-type]
    session.download("https://example.org/", if_exists="overwrite")  # type: ignore[arg-type]
    session.upload("https://example.org/", body_source="wrong")  # type: ignore[arg-type]
    task.claim("/home/me/a", if_exists="wrong")  # type: ignore[arg-type]
    session.start.claim(task, "/home/me/a", if_exists="wrong")  # type: ignore[arg-type]
    Request("https://example.org/", refresh="wrong")  # type: ignore[arg-type]
    Activity("a", 1_000, quality_of_service="wrong")  # type: ignore[arg-type]
    Constraints(preset="wrong", maximum_thermal_state="fair")  # type: ignore[arg-type]
    Constraints(preset="overnight", maximum_thermal_state="wrong")  # type: ignore[arg-type]
    TransferRules(redirects="wrong")  # type: ignore[arg-type]
"""


def test_mypy_accepts_the_words_of_an_enumeration_and_refuses_others(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", PROJECT / "build" / "mypy", program]
    environment = {**os.environ, "MYPYPATH": str(PROJECT / "bindings" / "python" / "src")}
    checked = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("alias", [name for name in backhaul.__all__ if name.endswith("Word")])
def test_the_words_for_an_enumeration_are_those_of_its_members_without_the_default(alias):
    members = vars(backhaul)[alias.removesuffix("Word")]
    assert list(get_args(vars(backhaul)[alias])) == [str(member) for member in members if member.name != "DEFAULT"]
