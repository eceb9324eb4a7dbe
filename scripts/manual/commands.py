"""The page of the program `backhaul`, with all commands, from `backhaul help --json`."""

from __future__ import annotations

import json
from typing import Any

from reference import roff

from . import markdown, pages

#: The sections of the help that are described with the command. Options of the other sections belong to several
#: commands, and the page describes them once.
_OWN = {"Options", "Other options"}
_COMMON = "Options of every command"
_VARIANT = "Options with which these transfers run in a session of their own"

def body(table: dict[str, Any]) -> str:
    (introduction,) = [blocks for level, _, blocks in pages.chapter("command-line.md") if level == 1]
    # The page has the table of commands as sections.
    description = "".join(markdown.converted(block) for block in introduction if not block.startswith("|"))
    return (
        ".SH SYNOPSIS\n.B backhaul\n.I command\n.RI [ option ...]\n.RI [ argument ...]\n"
        f".SH DESCRIPTION\n{description.removeprefix('.PP' + chr(10))}"
        f".SH COMMANDS\n{''.join(map(_command, table['commands']))}"
        f".SH OPTIONS OF SEVERAL COMMANDS\n{_shared(table['commands'])}"
        f".SH OPTIONS\n{pages.subheading(_COMMON)}{''.join(map(_option, table['common_options']))}"
        f"{pages.subheading('Options without a command')}{''.join(map(_option, table['other_options']))}"
        f".SH EXIT STATUS\n{''.join(map(_exit_code, table['exit_codes']))}"
        ".SH ENVIRONMENT\n.BR backhaul (7)\nlists the environment variables.\n"
        ".SH FILES\n.BR backhaul (5)\ndescribes the files.\n")


def _command(command: dict[str, Any]) -> str:
    text = pages.subheading(f"backhaul {command['name']} {command['operands']}".rstrip())
    text += markdown.paragraph(f"{command['summary'][0].upper()}{command['summary'][1:]}.")
    text += f".PP\n{roff.preformatted(chr(10).join(command['examples']))}"
    text += "".join(f".PP\n{markdown.paragraph(part)}" for part in command["details"].split("\n\n") if part)
    for section in command["sections"]:
        if section["title"] in _OWN:
            text += "".join(map(_option, section["options"]))
        elif section["title"] != _COMMON:
            names = ", ".join(f"`--{option['name']}`" for option in section["options"])
            text += ".PP\n" + markdown.paragraph(f"{section['title']}: {names}")
    return text


def _shared(commands: list[dict[str, Any]]) -> str:
    """The options of several commands by their titles. The commands of an option follow its text."""
    found: dict[str, dict[str, list[str]]] = {}
    for command in commands:
        for section in command["sections"]:
            if section["title"] not in {*_OWN, _COMMON, _VARIANT}:
                for option in section["options"]:
                    options = found.setdefault(section["title"], {})
                    options.setdefault(json.dumps(option), []).append(command["name"])
    return "".join(
        pages.subheading(title)
        + "".join(_option(json.loads(option), f" (`{'`, `'.join(names)}`)") for option, names in options.items())
        for title, options in found.items())


def _option(option: dict[str, Any], note: str = "") -> str:
    names = ", ".join(f"`{name}`" for name in [f"-{option['letter']}", f"--{option['name']}"] if name != "-None")
    argument = f" \\fI{roff.literal(option['argument'])}\\fP" if option["argument"] else ""
    return f".TP\n{markdown.inline(names)}{argument}\n{markdown.paragraph(option['help'] + note)}"


def _exit_code(code: dict[str, Any]) -> str:
    return f".TP\n{roff.bold(str(code['code']))}\n{markdown.paragraph(code['meaning'])}"
