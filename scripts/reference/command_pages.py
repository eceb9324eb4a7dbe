"""The pages of the commands with their options, from `backhaul help --json`."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import Any

from . import code, prose

Description = dict[str, Any]


def described() -> Description:
    """Returns what the built program says about itself."""
    command = [os.environ["BACKHAUL_COMMAND"], "help", "--json"]
    table: Description = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return table


class CommandPages:
    def __init__(self, table: Description) -> None:
        self._table = table
        self._names = {command["name"] for command in table["commands"]}

    def texts(self) -> dict[str, str]:
        """Maps the name of each file to its text."""
        pages = {f"{command['name']}.md": self._page(command) for command in self._table["commands"]}
        return {"index.md": self._index(), **pages}

    def _index(self) -> str:
        rows = "".join(
            f"| [`{command['name']}`]({command['name']}.md) | {self._prose(command['summary'])} |\n"
            for command in self._table["commands"]
        )
        exits = "".join(
            f"| {one['code']} | {self._prose(one['meaning'])} |\n" for one in self._table["exit_codes"]
        )
        options = "".join(map(self._option, self._table["common_options"] + self._table["other_options"]))
        return (
            f"# Commands and options\n\n[The command line]({prose.DOCUMENTS}command-line.md) explains what belongs "
            f"together.\n\n## Commands\n\n| command | what it does |\n| --- | --- |\n{rows}\n"
            f"## Options of every command\n\n{options}\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n{exits}"
        )

    def _page(self, command: Description) -> str:
        usage = f"backhaul {command['name']} [OPTION...] {command['operands']}".rstrip()
        sections = "".join(
            f"## {section['title']}\n\n" + "".join(map(self._option, section["options"])) + "\n"
            for section in command["sections"]
        )
        details = "".join(f"{self._prose(' '.join(text.split()))}\n\n" for text in command["details"].split("\n\n"))
        examples = code.block("sh", "\n".join(command["examples"])) if command["examples"] else ""
        summary = self._prose(prose.sentence(command["summary"]))
        return (
            f"# backhaul {command['name']}\n\n{summary}\n\n{code.block('text', usage)}{examples}{details.strip()}\n\n"
            f"{sections}"
        )

    def _option(self, option: Description) -> str:
        names = ([f"-{option['letter']}"] if option["letter"] else []) + [f"--{option['name']}"]
        argument = f" {option['argument']}" if option["argument"] else ""
        return f"- `{', '.join(names)}{argument}` – {self._prose(option['help'])}\n"

    def _prose(self, text: str) -> str:
        """Returns a text of the help with its code as code: options, variables, and what is in backquotes."""
        parts, end = [], 0
        for match in re.finditer(r"`([^`]+)`|(?<![\w-])(--?[a-zA-Z][\w-]*|\$\w+(?:/\w+)*|~/[\w./]+)", text):
            parts += [prose.escaped(text[end : match.start()]), self._link(match[1] or match[2])]
            end = match.end()
        return "".join([*parts, prose.escaped(text[end:])])

    def _link(self, text: str) -> str:
        name = text.removeprefix("backhaul ").split(" ")[0]
        return prose.link(text, f"{name}.md" if name in self._names else None)
