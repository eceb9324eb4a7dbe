"""The C API, called from C in every right and wrong way that a host can."""

import re
import subprocess

import pytest
from conftest import HEADER, HERE, programs


@pytest.mark.parametrize("source, name", [pytest.param(source, name, id=f"{source.name}: {name.replace('_', ' ')}")
                                          for source, name in programs()])
def test_c(source, name, compile_program, tmp_path):
    ended = subprocess.run([compile_program(source), name, tmp_path / "store"], timeout=120, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if ended.returncode != 0 or ended.stdout:
        pytest.fail(f"{source.name} {name} ended with {ended.returncode}\n{ended.stdout}", pytrace=False)


def test_every_function_with_a_handle_is_among_the_calls():
    header = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.S)
    taking = set(re.findall(r"\b(bh_\w+)\((?:const )?bh_(?:application|session|ticket|batch) \*", header))
    calls = "".join(part.read_text(encoding="utf-8") for part in HERE.glob("calls*.h"))
    called = set(re.findall(r"ENTRY\((bh_\w+),", calls))
    assert len(taking) > 50
    assert called == taking
