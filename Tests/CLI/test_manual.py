"""The pages of the manual: programs that read them find no fault, and they have what the help has."""

import json
import os
import re
import subprocess

import pytest

from command_line import COMMAND, PROJECT

PAGES = ["man1/backhaul.1", "man5/backhaul.5", "man7/backhaul.7", "man8/backhauld.8"]


def make(folder):
    subprocess.run([PROJECT / "scripts" / "make-manual", folder], check=True, timeout=120,
                   env={**os.environ, "SOURCE_DATE_EPOCH": "86400"})
    return folder


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return make(tmp_path_factory.mktemp("man"))


def read(*command):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MAN_KEEP_FORMATTING": ""}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)


@pytest.mark.parametrize("page", PAGES)
def test_man_and_mandoc_report_nothing_about_a_page(pages, page):
    shown = read("man", "--warnings", "--local-file", str(pages / page))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "SEE ALSO" in shown.stdout
    # Remarks about style are no faults: they are about the lengths of lines in the file.
    assert read("mandoc", "-T", "lint", "-W", "warning", str(pages / page)).stdout == ""


def test_no_page_names_a_file_that_its_readers_do_not_have(pages):
    assert [page for page in PAGES if ".md" in (pages / page).read_text()] == []


def test_the_same_sources_make_the_same_pages(pages, tmp_path):
    made = make(tmp_path / "again")
    assert [(pages / page).read_bytes() for page in PAGES] == [(made / page).read_bytes() for page in PAGES]
    assert "1970-01-02" in (made / PAGES[0]).read_text()


def test_the_page_of_the_program_has_each_command_option_and_exit_code(pages):
    text = read("man", "--local-file", str(pages / PAGES[0])).stdout
    table = json.loads(subprocess.run([COMMAND, "help", "--json"], capture_output=True, check=True).stdout)
    assert re.findall(r"^   backhaul (\S+)", text, flags=re.MULTILINE) == [
        command["name"] for command in table["commands"]]
    for command in table["commands"]:
        for option in (option for section in command["sections"] for option in section["options"]):
            assert re.search(rf"^ +(?:-., )?--{re.escape(option['name'])}\b", text, flags=re.MULTILINE), option
    assert re.findall(r"^ +(\d) +the |^ +(\d) ", text.split("EXIT STATUS")[1], flags=re.MULTILINE)


def test_the_page_of_the_daemon_has_each_option_of_its_help(pages):
    text = (pages / "man8/backhauld.8").read_text().replace("\\-", "-")
    daemon = PROJECT / "build" / "libexec" / "backhaul" / "backhauld"
    listed = re.findall(r"^  (--\w+)", read(str(daemon), "--help").stdout, flags=re.MULTILINE)
    assert listed and all(option in text for option in listed)
