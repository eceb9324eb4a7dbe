"""Tests of the script scripts/test: how the script runs a suite of tests, and how it ends the suite's process."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from testbed.host import until

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "test"


LOADED = f"""
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.SourceFileLoader("suites", {str(SCRIPT)!r})
suites = importlib.util.module_from_spec(importlib.util.spec_from_loader("suites", loader))
loader.exec_module(suites)
"""
DEFAULT = ["env", "--default-signal=HUP,INT,QUIT"]


@pytest.fixture(scope="module")
def suites():
    names = {}
    exec(LOADED, names)
    return names["suites"]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT], ids=lambda number: number.name)
def test_a_suite_does_not_ignore_a_signal_even_if_the_caller_of_the_script_ignores_the_signal(suites, tmp_path, number):
    before = signal.signal(number, signal.SIG_IGN)
    try:
        status, _ = suites.run_bounded(["sh", "-c", f"kill -{int(number)} $$"], tmp_path / "log")
    finally:
        signal.signal(number, before)
    assert status == -number


def test_a_suite_that_prints_regularly_runs_to_its_end(suites, tmp_path):
    talks = ["sh", "-c", "for i in 1 2 3 4 5 6; do echo; sleep 0.5; done"]
    assert suites.run_bounded(talks, tmp_path / "log", silence=2)[0] == 0


def test_if_a_suite_prints_nothing_the_script_names_its_processes_and_ends_them(suites, tmp_path):
    log = tmp_path / "log"
    assert suites.run_bounded(["sh", "-c", "sleep 1000 & echo $!; wait"], log, silence=1)[0] == -signal.SIGKILL
    started, *_, silence, first, second = log.read_text().splitlines()
    assert silence == "error: silent for 1 seconds: ended"
    assert f"error: process {started} with state S: sleep 1000 " in (first, second)
    until(lambda: is_running(int(started)), lambda is_running: not is_running)


FAILS_ONCE = """
import pathlib
def test_that_fails_the_first_time():
    mark = pathlib.Path(__file__).with_suffix(".ran")
    ran = mark.exists()
    mark.touch()
    assert ran
"""


@pytest.mark.parametrize("text, status, last", [
    (FAILS_ONCE, 0, "1 passed, 0 failed, 1 unsteady"),
    ("def test_that_fails_the_first_time(): assert False", 1, "0 passed, 1 failed")], ids=["once", "always"])
def test_a_failed_test_runs_again_and_is_named_and_fails_the_run_only_if_it_fails_twice(
        suites, tmp_path, monkeypatch, capsys, text, status, last):
    monkeypatch.setattr(suites, "REPORTS", tmp_path / "reports")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_one.py").write_text(text)
    assert suites.run([suites.pytest("one", "a test", str(tmp_path / "tests"))]) == status
    output = capsys.readouterr().out
    assert "one: ran again: " in output and "test_that_fails_the_first_time" in output
    assert output.splitlines()[-1] == last


def test_tests_do_not_run_again_if_many_fail(suites, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(suites, "REPORTS", tmp_path / "reports")
    (tmp_path / "test_many.py").write_text("import pytest\n@pytest.mark.parametrize('one', range(6))\n"
                                           "def test_fails(one): assert False\n")
    assert suites.run([suites.pytest("many", "tests", str(tmp_path))]) == 1
    assert "ran again" not in capsys.readouterr().out


def test_a_suite_that_succeeds_but_writes_no_report_fails(suites, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(suites, "REPORTS", tmp_path / "reports")
    assert suites.run([suites.Suite("one", "a test", ["true"], "one.xml")]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 1 failed"


def test_a_suite_starts_when_its_builds_are_complete_and_not_before(suites, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(suites, "REPORTS", tmp_path / "reports")
    built, script = tmp_path / "built", tmp_path / "script"
    build = suites.Suite("release", "a build", ["sh", "-c", f"sleep 0.3; touch {built}"], needs=())
    script.write_text(f"test -e {built}")
    assert suites.run([suites.Suite("one", "a test", ["sh", script])], [build]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [
        ["release", "built"], ["one", "1"], ["1", "passed,"]]


def test_after_a_failed_build_no_suite_starts_and_its_output_is_shown(suites, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(suites, "REPORTS", tmp_path / "reports")
    build = suites.Suite("release", "a build", ["sh", "-c", "echo wrong; exit 1"], needs=())
    assert suites.run([suites.Suite("one", "a test", ["touch", tmp_path / "ran"])], [build]) == 1
    assert "wrong" in capsys.readouterr().out
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_the_suites_end_when_a_signal_ends_the_script(tmp_path, number):
    program = LOADED + "\nsuites.REPORTS = suites.Path(sys.argv.pop())" \
        "\nsuites.BUILDS.clear()" \
        "\nsuites.SUITES[:] = [suites.Suite('long', '', ['sh', '-c', 'echo $$; sleep 1000'])]\nsuites.main()"
    running = subprocess.Popen([*DEFAULT, sys.executable, "-c", program, tmp_path / "reports"])
    log = tmp_path / "reports" / "long.log"
    suite = int(until(lambda: log.exists() and log.read_text(), lambda text: text))
    running.send_signal(number)
    assert running.wait() == 128 + number
    until(lambda: is_running(suite), lambda is_running: not is_running)


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False
