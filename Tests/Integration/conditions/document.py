"""Writes the section "Six scenarios" of docs/conditions.md from the stored records of the scenarios.

Usage: python -m conditions.document
"""

from pathlib import Path

from conditions.record import Record

PAGE = Path(__file__).resolve().parents[3] / "docs" / "conditions.md"
TITLE = "## Six scenarios"
NAMES = ["laptop", "hotspot", "slow", "hot", "overnight", "month"]

_HEAD = f"""{TITLE}

`scripts/test conditions` runs these scenarios. They use a fake `/sys` with uevents, a system bus with a fake
NetworkManager, links with a chosen speed, and a clock that the test sets. In each scenario the file is complete at the
end, and only bytes in transit are fetched twice. When a condition changes and the transfer must wait, it stops within a
second. The second table of each scenario has the wait records (`bh_task_waits`) of a test run.
`scripts/document-scenarios` writes this section.
"""


def _wrapped(text, width=118):
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _cell(text):
    return text.replace("|", "\\|")


def _scenario(record):
    lines = [f"### {record.title}", "", *_wrapped(f"{record.story} Options: {asked(record.asks)}."), ""]
    lines += ["| when | what happens |", "| --- | --- |"]
    lines += [f"| {when} | {_cell(what)} |" for when, what in record.steps]
    lines += ["", "| waited from | to | for | because |", "| --- | --- | --- | --- |"]
    for whose, began, ended, reason, sentence in record.waits:
        why = f"{whose}: {sentence}" if whose else sentence
        lines.append(f"| {began} | {ended} | `BH_REASON_{reason.upper()}` | {_cell(why)} |")
    return [*lines, ""]


def asked(words):
    return f"`{words}`" if words.startswith("--") else words


def section():
    lines = [_HEAD]
    for name in NAMES:
        lines += _scenario(Record.load(name))
    return "\n".join(lines)


def page(text):
    """Returns the page with the new section. The new section replaces the old one. If there is no old section, the new
    section is inserted before the last section of the page."""
    begin = text.find(TITLE)
    if begin < 0:
        begin = end = text.rindex("\n## ") + 1
    else:
        end = text.find("\n## ", begin) + 1 or len(text)
    return text[:begin] + section() + "\n" * (end < len(text)) + text[end:]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
