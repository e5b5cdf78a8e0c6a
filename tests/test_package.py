"""The package as a whole: imports, public names and conventions."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import blindfuse
from blindfuse.estimators import registry

ROOT = Path(__file__).parents[1]
HEAVY = ("numba", "polars", "sklearn", "scipy", "pandas")
SLOW = ("scipy.stats", "pandas", "sklearn", "altair", "pooch")
"""Modules that take longer to load than fusing a dataset."""


def run(code: str, folder: Path = ROOT) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder
    ).stdout


def test_import_loads_no_heavy_module() -> None:
    loaded = run("import sys, blindfuse; print(*sys.modules)").split()
    assert not set(HEAVY) & set(loaded)


def test_fuse_and_read_load_no_slow_module() -> None:
    loaded = run("import sys, blindfuse; blindfuse.fuse, blindfuse.read; print(*sys.modules)")
    assert not set(SLOW) & set(loaded.split())


def test_import_is_fast() -> None:
    code = "import time; t = time.process_time(); import blindfuse; print(time.process_time() - t)"
    assert min(float(run(code)) for _ in range(3)) < 0.3


def exported_names(module: str) -> set[str]:
    """Return the names that a module imports for type checkers, ``import X as X``."""
    tree = ast.parse((ROOT / "src/blindfuse" / module).read_text())
    return {
        alias.name
        for block in tree.body
        if isinstance(block, ast.If)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
        if alias.asname
    }


def test_every_public_name_can_be_imported_and_type_checked() -> None:
    for name in blindfuse.__all__:
        assert getattr(blindfuse, name).__name__ == name
    typed = exported_names("__init__.py") | set(registry.__all__)
    assert typed == set(blindfuse.__all__) == set(dir(blindfuse))


def test_no_module_shadows_a_public_name() -> None:
    code = """
import pkgutil, importlib, blindfuse
for module in pkgutil.walk_packages(blindfuse.__path__, "blindfuse."):
    if not module.name.startswith("blindfuse.engines."):  # they need optional packages
        importlib.import_module(module.name)
from blindfuse import *
print(*(type(getattr(blindfuse, name)).__name__ for name in blindfuse.__all__))
"""
    assert "module" not in run(code).split()


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("sklearn", "joblib", "sklearn"),
        ("engines.dask", "dask", "dask"),
        ("engines.spark", "pyarrow", "spark"),
    ],
)
def test_a_missing_package_is_an_error_that_names_its_extra(
    module: str, package: str, extra: str
) -> None:
    code = f"import sys; sys.modules[{package!r}] = None\nimport blindfuse.{module}"
    with pytest.raises(subprocess.CalledProcessError) as raised:
        run(code)
    message = f"{package} is not installed. Run: pip install 'blindfuse[{extra}]'."
    assert raised.value.stderr.splitlines()[-1] == f"ModuleNotFoundError: {message}"


def test_an_unknown_name_raises_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        blindfuse.Nothing  # noqa: B018


def test_no_file_in_the_repository_contains_a_local_path() -> None:
    tracked = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout.split()
    for name in tracked:
        text = (ROOT / name).read_text(errors="ignore")
        assert not re.search(r"(?<![\w.])/(?:work|root|home)/", text), name


def test_the_citation_names_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {blindfuse.__version__}\n" in citation
