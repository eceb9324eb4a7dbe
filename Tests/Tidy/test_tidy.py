"""Rules for every file of the project. Each failure lists the wrong places as path:line."""

import re

import pytest

from tree import BUILT, PROJECT, header, kept, sources, swift, targets

# Maps the C module of a library to the only Swift module that may import it.
OWNERS = {"CSQLite": "BackhaulStore", "CCurl": "BackhaulTransport", "CUV": "BackhaulLoop",
          "CSystemd": "BackhaulBus", "CPostgreSQL": "BackhaulFleet", "CCrypto": "BackhaulDisk", "CNcurses": "backhaul"}
# The libraries that are a part of Swift or of the system. Every module may import them.
LANGUAGE = {"Swift", "Glibc", "Synchronization"}
# The modules through which Swift calls C: the C modules of the package, and Glibc.
C_MODULES = {"CBackhaul", "CBackhaulTesting", "CLinux", "CUV", "CCurl", "CSQLite", "CSystemd", "CPostgreSQL",
             "CCrypto", "CNcurses", "Glibc"}

# The folders of the programs. Programs are not part of the library, so they may print and exit.
PROGRAMS = ("Sources/backhaul/", "Sources/backhauld/")

LONGEST_LINE = 120
LARGEST_FILE = 200_000
LONGEST_FILE = 500
LONGEST_TEST = 500
LONGEST_WITH_REASON = {
    "include/backhaul.h": "the API and its manual, read by chapter",
}


def expect_none(places):
    """Fails if the list of wrong places is not empty. Each place is a triple of source, line number and fault."""
    if places:
        pytest.fail("\n".join(f"{source.name}:{number}: {text}" for source, number, text in places), pytrace=False)


def test_each_module_imports_only_the_dependencies_that_package_swift_lists():
    wrong = []
    for target, dependencies in targets().items():
        for source in swift(f"Sources/{target}"):
            wrong += [(source, number, f"imports {module}") for number, module in source.imports()
                      if module not in dependencies | LANGUAGE]
    expect_none(wrong)


def test_each_library_is_imported_by_only_one_module():
    wrong = [(source, number, f"only {OWNERS[module]} imports {module}")
             for source in swift("Sources") for number, module in source.imports()
             if module in OWNERS and not source.name.startswith(f"Sources/{OWNERS[module]}/")]
    expect_none(wrong)


def test_shipped_code_does_not_import_foundation():
    wrong = [(source, number, module) for source in swift("Sources", "bindings/swift/Sources")
             if not source.name.startswith(("bindings/swift/Sources/BackhaulFoundation/",
                                            "bindings/swift/Sources/BackhaulURLSession/"))
             for number, module in source.imports() if module.startswith("Foundation")]
    expect_none(wrong)


def test_the_library_prints_nothing():
    printing = r"(?<![\w.])(print|debugPrint|dump|puts|printf|NSLog|perror)\("
    wrong = [(source, number, "prints") for source in swift("Sources") for number in source.matches(printing)
             if not source.name.startswith(PROGRAMS)]
    expect_none(wrong)


def test_no_file_contains_a_marker_of_unfinished_work():
    # Each word is divided here, so this file does not contain the words.
    markers = re.compile(r"\b(" + "|".join(("TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK", "break" r"point\(\)")) + r")\b")
    wrong = [(source, number, line.strip()) for source in sources()
             for number, line in enumerate(source.lines, 1) if markers.search(line)]
    expect_none(wrong)


def test_no_file_contains_a_path_on_a_developers_machine():
    paths = re.compile("/(" + "|".join(("wo" "rk/", "ro" "ot/", "tm" "p/wt-", "op" "t/swift")) + ")")
    wrong = [(source, number, line.strip()) for source in sources()
             for number, line in enumerate(source.lines, 1) if paths.search(line)]
    expect_none(wrong)


def test_unsafe_and_unchecked_code_has_a_reason_in_a_comment():
    """A comment just above the declaration, or in the first line of its body, has `Unchecked:` or `Unsafe:`."""
    wrong = [(source, number, "say why in a comment that begins with Unchecked: or Unsafe:")
             for source in swift("Sources", "bindings/swift/Sources")
             for number in source.matches(r"@unchecked|nonisolated\(unsafe\)|unsafeBitCast|unsafeDowncast")
             if not source.has_reason(number, ("Unchecked:", "Unsafe:"))]
    expect_none(wrong)


def test_uses_of_pointers_have_a_reason_in_a_comment():
    """At the C boundary, and in the module of threads and descriptors, one reason in a file is enough (`Unsafe:` or
    `Unchecked:`). In other files, each use of a pointer has its own reason."""
    wrong = []
    for source in swift("Sources", "bindings/swift/Sources"):
        uses = source.matches(r"\b(Unsafe(Mutable)?(Raw)?(Buffer)?Pointer|OpaquePointer|Unmanaged)\b")
        at_the_border = bool(C_MODULES & {module for _, module in source.imports()})
        at_the_border |= source.name.startswith("Sources/BackhaulPlatform/")
        if at_the_border and re.search(r"//.*\b(Unsafe|Unchecked): ", source.text):
            continue
        wrong += [(source, number, "a pointer without its reason (Unsafe: …)") for number in uses
                  if not source.has_reason(number, ("Unsafe:", "Unchecked:"))]
    expect_none(wrong)


def test_the_library_never_ends_the_process_in_which_it_runs():
    wrong = [(source, number, "traps") for source in swift("Sources")
             for number in source.matches(r"\b(fatalError|preconditionFailure|abort|exit)\(|\btry!|\bas!")
             if not source.name.startswith(PROGRAMS) and not source.has_reason(number, ("Cannot fail:",))]
    expect_none(wrong)


def test_only_directoryreader_reads_directory_entries():
    """A directory entry (`dirent`) is shorter than its declared size. Swift copies the declared size, so it reads
    memory after the end of the entry."""
    wrong = [(source, number, "use BackhaulPlatform's DirectoryReader")
             for source in swift("Sources", "bindings/swift/Sources", "Tests")
             for number in source.matches(r"\b(opendir|fdopendir|readdir|scandir)\(|\bd_name\b")
             if not source.name.endswith("/DirectoryReader.swift")
             and not source.name.endswith("/DirectoryReaderTests.swift")]
    expect_none(wrong)


def test_no_build_product_or_large_file_is_committed():
    wrong = [name for name in kept() if BUILT & set(name.split("/"))
             or (PROJECT / name).is_file() and (PROJECT / name).stat().st_size > LARGEST_FILE]
    assert not wrong


def test_no_source_file_has_too_many_lines():
    """A generated file may have any length."""
    wrong = []
    for source in sources():
        if source.path.suffix not in {".swift", ".c", ".h", ".py"} or source.name in LONGEST_WITH_REASON:
            continue
        if source.lines and source.lines[0].startswith(("# Generated from ", "// Generated from ")):
            continue
        limit = LONGEST_TEST if "ests/" in source.name else LONGEST_FILE
        if len(source.lines) > limit:
            wrong.append((source, len(source.lines), f"more than {limit} lines"))
    expect_none(wrong)


def test_lines_fit_into_120_columns():
    unbreakable = re.compile(r"\s*\||.*https?://")
    wrong = [(source, number, f"{len(line)} columns") for source in sources()
             for number, line in enumerate(source.lines, 1) if len(line) > LONGEST_LINE
             if not (source.path.suffix == ".md" and unbreakable.match(line))]
    expect_none(wrong)


def is_makefile(source):
    return source.path.name == "Makefile" or source.name == "packaging/debian/rules"


def test_no_line_ends_with_a_blank_or_begins_with_a_tab():
    wrong = [(source, number, "blanks or tabs") for source in sources()
             for number, line in enumerate(source.lines, 1)
             if line != line.rstrip() or (line.startswith("\t") and not is_makefile(source))]
    expect_none(wrong)


def test_each_function_of_the_header_is_documented():
    """Declarations without a blank line between them share the comment above the first declaration."""
    wrong = [function.name for function in header().functions if not function.documentation]
    assert not wrong


def test_the_compiler_checks_each_implementation_against_the_header():
    pattern = re.compile(r"@c\s+@implementation\s+public\s+func\s+(bh_\w+)")
    implemented = {name for source in swift("Sources/BackhaulABI") for name in pattern.findall(source.text)}
    declared = {function.name for function in header().functions}
    assert len(declared) > 60
    assert declared - implemented == set(), "without @c @implementation"
    assert implemented - declared == set(), "not in the header"


def test_each_swift_module_is_a_target_of_the_package():
    folders = {path.name for path in (PROJECT / "Sources").iterdir() if path.is_dir()}
    bindings = {path.name for path in (PROJECT / "bindings/swift/Sources").iterdir()}
    elsewhere = bindings | {"CBackhaul", "TestSupport", "CFuzzer", "FuzzCalls"}
    assert folders == {name for name in targets() if not name.endswith("Tests")} - elsewhere
