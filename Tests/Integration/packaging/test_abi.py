"""The binary interface stays compatible: packaging/abi has the layout of each earlier version."""

import ctypes
import json
import os
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
LIBRARY = PROJECT / "build" / "lib" / "libbackhaul.so.1"
BASELINES = sorted((PROJECT / "packaging" / "abi").glob("*.json"))

#: Constants that are limits of the library. They are no part of the binary interface, so they may grow.
LIMITS = {"BH_WAIT_MAXIMUM"}


@pytest.fixture(scope="module")
def manifest():
    library = ctypes.CDLL(str(LIBRARY))
    library.bh_abi_json.restype = ctypes.c_char_p
    return json.loads(library.bh_abi_json())


@pytest.fixture(scope="module")
def functions():
    symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True)
    return {line.split()[-1].partition("@")[0] for line in symbols.stdout.splitlines()}


@pytest.fixture(params=BASELINES, ids=lambda path: path.stem)
def earlier(request):
    return json.loads(request.param.read_text(encoding="utf-8"))


def test_the_layout_of_this_version_is_stored(manifest, functions):
    """With BACKHAUL_KEEP_ABI=1 the test writes the layout of this version. This is done before a release."""
    path = PROJECT / "packaging" / "abi" / f"{manifest['version']}.json"
    if os.environ.get("BACKHAUL_KEEP_ABI"):
        kept = {"version": manifest["version"], "functions": sorted(functions), "structs": manifest["structs"],
                "constants": manifest["constants"]}
        path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    assert path in BASELINES


def test_each_function_of_an_earlier_version_exists(earlier, functions):
    assert set(earlier["functions"]) - functions == set()


def test_each_field_has_the_offset_of_the_earlier_version(earlier, manifest):
    moved = [
        f"{name}.{field} was at {offset}, and is at {manifest['structs'][name]['fields'].get(field)}"
        for name, struct in earlier["structs"].items()
        for field, offset in struct["fields"].items()
        if not field.startswith("reserved") and manifest["structs"][name]["fields"].get(field) != offset
    ]
    assert not moved, "\n".join(moved)


def reserved(struct):
    """Returns the offsets of a struct's reserved bytes: from each reserved field to the next field, or to
    the end of the struct."""
    ends = sorted([*struct["fields"].values(), struct["size"]])
    return {offset for field, begin in struct["fields"].items() if field.startswith("reserved")
            for offset in range(begin, ends[ends.index(begin) + 1])}


def test_a_new_field_is_at_the_end_of_its_struct_or_replaces_reserved_bytes(earlier, manifest):
    misplaced = [
        f"{name}.{field}" for name, struct in earlier["structs"].items()
        for field, offset in manifest["structs"][name]["fields"].items()
        if field not in struct["fields"] and offset < struct["size"] and offset not in reserved(struct)
    ]
    assert misplaced == []


def test_no_struct_shrinks_and_only_structs_with_a_size_field_grow(earlier, manifest):
    """Only structs with the field ``struct_size`` may grow."""
    for name, struct in earlier["structs"].items():
        size, grows = manifest["structs"][name]["size"], "struct_size" in struct["fields"]
        assert size >= struct["size"] if grows else size == struct["size"], name


def test_each_constant_has_the_value_of_the_earlier_version(earlier, manifest):
    changed = [
        f"{name} was {value}, and is {manifest['constants'].get(name)}"
        for name, value in earlier["constants"].items()
        if name not in LIMITS and manifest["constants"].get(name) != value
    ]
    assert not changed, "\n".join(changed)
