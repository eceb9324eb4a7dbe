"""What programs were built against stays where it was: packaging/abi has the layout of each earlier version."""

import ctypes
import json
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
LIBRARY = PROJECT / "build" / "lib" / "libbackhaul.so.0"
BASELINES = sorted((PROJECT / "packaging" / "abi").glob("*.json"))

#: Structs without a size of their own, which hosts have arrays of.
FIXED = {"bh_header", "bh_part", "bh_enqueued"}
#: Limits of the library, not of the layout: these may grow.
LIMITS = {"BH_WAIT_MAXIMUM"}


@pytest.fixture(scope="module")
def manifest():
    library = ctypes.CDLL(str(LIBRARY))
    library.bh_abi_json.restype = ctypes.c_char_p
    return json.loads(library.bh_abi_json())


@pytest.fixture(params=BASELINES, ids=lambda path: path.stem)
def earlier(request):
    return json.loads(request.param.read_text(encoding="utf-8"))


def test_there_is_something_to_compare_with():
    assert [path.stem for path in BASELINES] == ["0.3.0"]


def test_each_function_is_there(earlier):
    symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True)
    exported = {line.split()[-1].partition("@")[0] for line in symbols.stdout.splitlines()}
    assert set(earlier["functions"]) - exported == set()


def test_each_field_is_where_it_was(earlier, manifest):
    moved = [
        f"{name}.{field} was at {offset}, and is at {manifest['structs'][name]['fields'].get(field)}"
        for name, struct in earlier["structs"].items()
        for field, offset in struct["fields"].items()
        if manifest["structs"][name]["fields"].get(field) != offset
    ]
    assert not moved, "\n".join(moved)


def test_new_fields_are_at_the_end(earlier, manifest):
    for name, struct in earlier["structs"].items():
        new = set(manifest["structs"][name]["fields"]) - set(struct["fields"])
        last = max(struct["fields"].values())
        assert all(manifest["structs"][name]["fields"][field] > last for field in new), name


def test_no_new_field_lies_in_the_padding_of_an_earlier_struct(earlier, manifest):
    padding = {
        f"{name}.{field}"
        for name, struct in earlier["structs"].items()
        for field, offset in manifest["structs"][name]["fields"].items()
        if field not in struct["fields"] and offset < struct["size"]
    }
    # Read from larger structs only: `a host of an older header asks for nothing` in Tests/C.
    assert padding <= {"bh_session_configuration.preset"}


def test_no_struct_has_shrunk_and_those_without_a_size_have_not_grown(earlier, manifest):
    for name, struct in earlier["structs"].items():
        size = manifest["structs"][name]["size"]
        assert size == struct["size"] if name in FIXED else size >= struct["size"], name


def test_each_constant_has_its_value(earlier, manifest):
    changed = [
        f"{name} was {value}, and is {manifest['constants'].get(name)}"
        for name, value in earlier["constants"].items()
        if name not in LIMITS and manifest["constants"].get(name) != value
    ]
    assert not changed, "\n".join(changed)
