"""The package as a whole: what it imports, what it promises, what its documents say."""

import ast
import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import blindfuse
from blindfuse.estimators import blind_ensemble

ROOT = Path(__file__).parents[1]
HEAVY = ("numba", "polars", "sklearn", "scipy", "pandas")
SLOW = ("scipy.stats", "pandas", "sklearn", "altair", "pooch")
"""What takes longer to load than a crowd to fuse."""


def run(code: str, folder: Path = ROOT) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder
    ).stdout


def test_importing_loads_nothing_heavy() -> None:
    loaded = run("import sys, blindfuse; print(*sys.modules)").split()
    assert not set(HEAVY) & set(loaded)


def test_fusing_loads_nothing_that_takes_longer_than_itself() -> None:
    loaded = run("import sys, blindfuse; blindfuse.fuse, blindfuse.read; print(*sys.modules)")
    assert not set(SLOW) & set(loaded.split())


def test_importing_is_instant() -> None:
    code = "import time; t = time.perf_counter(); import blindfuse; print(time.perf_counter() - t)"
    assert min(float(run(code)) for _ in range(3)) < 0.3


def test_every_public_name_is_there_for_people_and_for_type_checkers() -> None:
    for name in blindfuse.__all__:
        assert getattr(blindfuse, name).__name__ == name
    tree = ast.parse((ROOT / "src/blindfuse/__init__.py").read_text())
    typed = {
        alias.name
        for block in tree.body
        if isinstance(block, ast.If)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert typed == set(blindfuse.__all__) == set(dir(blindfuse))


def test_no_module_hides_a_public_name() -> None:
    code = """
import pkgutil, importlib, blindfuse
for module in pkgutil.walk_packages(blindfuse.__path__, "blindfuse."):
    if not module.name.startswith("blindfuse.engines."):  # which need what may not be there
        importlib.import_module(module.name)
from blindfuse import *
print(*(type(getattr(blindfuse, name)).__name__ for name in blindfuse.__all__))
"""
    assert "module" not in run(code).split()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        blindfuse.Nothing  # noqa: B018


def test_a_kernel_calls_only_kernels_of_its_own_file() -> None:
    """Numba's cache on disk does not notice when another file's kernel changes.

    What the machine itself can do, and vectors, are instructions rather than kernels.
    """
    for path in (ROOT / "src/blindfuse/kernels").glob("*.py"):
        imported = re.findall(r"from blindfuse\.(\S+) import", path.read_text())
        assert set(imported) <= {"kernels.machine", "kernels.vectors"}


def test_docstring_examples() -> None:
    assert doctest.testmod(blind_ensemble, raise_on_error=True).attempted > 0


def test_nothing_in_the_repository_names_a_machine() -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split()
    for name in tracked:
        text = (ROOT / name).read_text(errors="ignore")
        assert not re.search(r"(?<![\w.])/(?:work|root|home)/", text), name
