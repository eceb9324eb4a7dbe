"""The header compiles without a warning in each supported language."""

import re
import shutil
import subprocess

import pytest
from test_programs import HEADER

C = ["c99", "c11", "c17", "c2x"]
CPP = ["c++11", "c++14", "c++17", "c++20", "c++23"]
#: A program that uses each macro whose definition depends on the language.
PROGRAM = """\
#include <backhaul.h>
#include <backhaul.h>

int main(void);
int main(void)
{
    bh_error error = BH_INIT(bh_error);
    bh_request request = BH_INIT(bh_request);
    bh_task_selection selection = BH_INIT(bh_task_selection);
    const bh_event *event = bh_batch_event_at(NULL, 0);
    bh_enqueued enqueued = BH_INIT(bh_enqueued);
    bh_role role = BH_ROLE_CONSUME;
    request.flags = BH_REQUEST_STARTS_SUSPENDED | BH_REQUEST_IF_CHANGED;
    selection.states = BH_STATE(BH_TASK_WAITING) | BH_STATE(BH_TASK_RUNNING);
    error.status = BH_STARTED;
    if (event && BH_HAS(event, bh_event, activity)) return 1;
    if (bh_session_complete(NULL, BH_START, &error) != BH_STARTED) return role == BH_ROLE_OBSERVE;
    return error.status == BH_OK && enqueued.task_id == BH_NO_INDEX && request.url && selection.ids;
}
"""
#: Disabled warnings: warnings about older versions of the languages, and warnings that every C program causes.
CLANG_WITHOUT = [
    "-Wno-c++98-compat", "-Wno-c++98-compat-pedantic", "-Wno-pre-c11-compat", "-Wno-pre-c23-compat",
    "-Wno-pre-c2x-compat", "-Wno-c++20-compat", "-Wno-unsafe-buffer-usage", "-Wno-declaration-after-statement",
    "-Wno-unknown-warning-option",
]
CLANG = ["-Weverything", *CLANG_WITHOUT, "-Werror"]
GCC = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


def compile_for(compiler, standard, warnings, tmp_path, program=PROGRAM):
    source = tmp_path / ("host.cpp" if "++" in standard else "host.c")
    source.write_text(program, encoding="utf-8")
    done = subprocess.run([compiler, f"-std={standard}", *warnings, f"-I{HEADER.parent}", "-fsyntax-only", source],
                          capture_output=True, text=True, check=False)
    messages = done.stdout + done.stderr
    if re.search(r"invalid value '.*' in '-std|unrecognized command-line option '-std", messages):
        pytest.skip(f"{compiler} has no {standard}")
    if messages or done.returncode:
        pytest.fail(messages, pytrace=False)


@pytest.mark.parametrize("standard", [*C, *CPP])
def test_clang_compiles_the_header_without_a_warning(standard, tmp_path):
    compile_for("clang++" if "++" in standard else "clang", standard, CLANG, tmp_path)


@pytest.mark.parametrize("standard", [*C, *CPP])
def test_gcc_compiles_the_header_without_a_warning(standard, tmp_path):
    compiler = "g++" if "++" in standard else "gcc"
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    compile_for(compiler, standard, GCC, tmp_path)


@pytest.mark.parametrize("standard", ["c11", "c2x", "c++17"])
def test_no_struct_of_the_header_has_padding(standard, tmp_path):
    compile_for("clang++" if "++" in standard else "clang", standard, ["-Wpadded", "-Werror"], tmp_path)


def test_the_compiler_warns_if_a_program_ignores_a_result(tmp_path):
    program = PROGRAM.replace("    error.status = BH_STARTED;",
                              "    bh_session_enqueue(NULL, NULL, 0, 0, NULL, NULL);")
    with pytest.raises(pytest.fail.Exception, match="unused-result|warn_unused_result"):
        compile_for("clang", "c11", ["-Wall", "-Werror"], tmp_path, program)


def test_structs_and_enumerations_have_the_same_size_in_all_languages(tmp_path):
    """An enumeration has four bytes in each language."""
    structs = sorted(set(re.findall(r"^typedef struct (bh_\w+) \{", HEADER.read_text(encoding="utf-8"), flags=re.M)))
    assert len(structs) > 25
    prints = "".join(f'    printf("{name} %zu\\n", sizeof({name}));\n' for name in structs)
    enumerations = sorted(set(re.findall(r"^BH_(?:ENUM|FLAGS)\((bh_\w+)\)", HEADER.read_text(encoding="utf-8"),
                                         flags=re.M)))
    prints += "".join(f'    printf("{name} %zu\\n", sizeof({name}));\n' for name in enumerations)
    program = f"#include <backhaul.h>\n#include <stdio.h>\nint main(void)\n{{\n{prints}    return 0;\n}}\n"
    seen = {}
    for standard in ("c99", "c11", "c2x", "c++11", "c++20"):
        suffix, compiler = (".cpp", "clang++") if "++" in standard else (".c", "clang")
        source, made = tmp_path / f"sizes{suffix}", tmp_path / f"sizes-{standard}"
        source.write_text(program, encoding="utf-8")
        # The program prints only constants. In C++, BH_INIT is a template in the header. So the program needs no
        # library.
        subprocess.run([compiler, f"-std={standard}", f"-I{HEADER.parent}", "-o", made, source], check=True)
        seen[standard] = subprocess.run([made], capture_output=True, text=True, check=True).stdout
    assert len(set(seen.values())) == 1, seen
    assert all(line.endswith(" 4") for line in seen["c11"].splitlines() if line.split()[0] in enumerations)
