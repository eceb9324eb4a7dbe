"""The package loads the right library. If a library has an incompatible layout, the package refuses it with a clear
message."""

import copy
import json
import os
import re
import subprocess
import sys
from ctypes import sizeof
from pathlib import Path

import pytest

from backhaul import _ctypes, _functions, _header_names, _library

HEADER = Path(__file__).resolve().parents[3] / "include" / "backhaul.h"
SOURCE = Path(_library.__file__).resolve().parent.parent


def manifest():
    return json.loads(_library.library.bh_abi_json())


def import_with(library, *, path=None):
    environment = {**os.environ, "PYTHONPATH": str(path or SOURCE)}
    environment.pop("BACKHAUL_LIBRARY", None)
    if library is not None:
        environment["BACKHAUL_LIBRARY"] = str(library)
    command = [sys.executable, "-c", "import backhaul; print(backhaul._library.library._name)"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_every_function_of_the_header_is_declared_in_python():
    declared = re.compile(r"^BH_API (?:BH_CHECK_RESULT )?(?:const )?\w+ \*?(bh_\w+)\(", re.MULTILINE)
    functions = set(declared.findall(HEADER.read_text()))
    assert functions == set(_functions.FUNCTIONS)


def test_every_constant_of_the_header_exists_in_python():
    ours = set(_header_names.by_header_name())
    theirs = {name for name in manifest()["constants"] if not name.startswith("BH_VERSION")}
    assert theirs == ours


def test_the_loaded_library_has_the_layout_that_python_declares():
    assert _library.differences(manifest()) == []


def test_a_library_is_accepted_if_a_struct_has_a_new_field_at_its_end():
    newer = manifest()
    newer["structs"]["bh_event"]["size"] += 16
    newer["structs"]["bh_event"]["fields"]["something_new"] = sizeof(_ctypes.bh_event)
    assert _library.differences(newer) == []


def test_a_library_is_refused_if_an_embedded_struct_is_larger():
    newer = manifest()
    newer["structs"]["bh_budget"]["size"] += 8
    assert _library.differences(newer) == ["bh_budget has 24 bytes instead of 16"]


def test_a_library_is_accepted_if_a_new_field_replaces_a_reserved_field():
    newer = manifest()
    fields = newer["structs"]["bh_constraints"]["fields"]
    fields["something_new"] = fields.pop("reserved")
    fields["reserved"] = fields["something_new"] + 8
    assert _library.differences(newer) == []


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (lambda m: m["structs"]["bh_event"]["fields"].update(task_id=24), "bh_event.task_id is at 24 instead of 32"),
        (lambda m: m["structs"].pop("bh_task_info"), "bh_task_info is missing"),
        (lambda m: m["constants"].update(BH_IN_USE=9), "BH_IN_USE is 9 instead of 8"),
        (lambda m: m["constants"].pop("BH_ROLE_CONSUME"), "BH_ROLE_CONSUME is None instead of 1"),
    ],
)
def test_each_difference_in_the_layout_of_a_library_is_reported(change, difference):
    other = copy.deepcopy(manifest())
    change(other)
    assert _library.differences(other) == [difference]


def test_a_missing_library_raises_an_import_error_with_advice(tmp_path):
    done = import_with(tmp_path / "nowhere.so")
    assert done.returncode == 1
    assert "ImportError: Backhaul's library cannot be loaded" in done.stderr
    assert "set BACKHAUL_LIBRARY" in done.stderr


def test_the_import_error_for_a_foreign_library_has_the_name_of_that_library():
    done = import_with("libc.so.6")
    assert done.returncode == 1
    assert "ImportError: libc.so.6 has no function bh_" in done.stderr


def test_a_library_in_the_folder_of_the_package_is_used(tmp_path):
    package = tmp_path / "backhaul"
    package.mkdir()
    for file in (SOURCE / "backhaul").glob("*.py"):
        (package / file.name).write_bytes(file.read_bytes())
    (package / "libbackhaul.so.1").symlink_to(Path(_library.library._name).resolve())
    done = import_with(None, path=tmp_path)
    assert done.stdout.strip() == str(package / "libbackhaul.so.1"), done.stderr
