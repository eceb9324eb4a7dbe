"""The modules of the package do not import each other in a cycle. The package loads asyncio only in programs that use
asyncio."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import backhaul

PACKAGE = Path(backhaul.__file__).parent


def imported(module):
    """Yields the name of each module of the package that ``module`` imports. Imports for type hints count as
    imports."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            yield from [node.module] if node.module else (alias.name for alias in node.names)


def test_there_are_no_import_cycles():
    modules = {module.stem: set(imported(module)) for module in PACKAGE.glob("*.py") if module.stem != "__init__"}
    assert {"_constants", "_handles", "_session"} <= set(modules)
    assert list(TopologicalSorter(modules).static_order())  # raises CycleError if there is a cycle


def test_no_function_imports_a_module_other_than_asyncio():
    late = [
        f"{module.stem}.{function.name}"
        for module in PACKAGE.glob("*.py")
        for function in ast.walk(ast.parse(module.read_text()))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and ast.unparse(node) != "import asyncio"
    ]
    assert late == []


def test_the_import_of_the_package_does_not_load_asyncio():
    program = "import sys, backhaul; sys.exit('asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_each_public_name_of_the_package_exists_and_is_listed_once():
    assert sorted(backhaul.__all__, key=str.lower) == sorted(set(backhaul.__all__), key=str.lower)
    assert all(hasattr(backhaul, name) for name in backhaul.__all__)
