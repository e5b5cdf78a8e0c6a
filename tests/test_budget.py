"""The size of the source: lines and public module constants per folder, and lines per module.

Raising a budget is a decision that its commit explains; lowering one after a part is gone is
welcome. ``python -m tests.test_budget`` prints the table of what there is.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "blindfuse"
CONSTANT = re.compile(r"^[A-Z][A-Z0-9_]*(, [A-Z][A-Z0-9_]*)*(: [^=]+)? = ", re.MULTILINE)

BUDGETS = {
    # folder: lines, constants
    ".": (850, 8),
    "auditing": (1_400, 10),
    "cli": (3_100, 26),
    "datasets": (650, 5),
    "diagnostics": (1_750, 25),
    "engines": (1_150, 5),
    "estimators": (3_550, 30),
    "fusion": (2_000, 14),
    "kernels": (2_800, 37),
    "metrics": (700, 1),
    "model": (2_300, 42),
    "moments": (650, 6),
    "numbers": (2_450, 22),
    "readers": (4_250, 28),
    "report": (1_750, 43),
    "responses": (6_000, 46),
    "sets": (1_000, 9),
    "sklearn": (850, 3),
    "solver": (850, 6),
}
TESTS = 26_500
"""Lines of the tests."""
MODULE = 400
"""Lines of a module, but for these."""
LONGER_MODULES = {
    "kernels/sweeps.py": 660,
    "responses/responses.py": 500,
}


def measure(folder: str) -> tuple[int, int]:
    """Lines and constants in a folder with its subfolders; "." is the top level alone."""
    paths = SOURCE.glob("*.py") if folder == "." else (SOURCE / folder).rglob("*.py")
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return sum(text.count("\n") for text in texts), sum(len(CONSTANT.findall(t)) for t in texts)


def folders() -> list[str]:
    return sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


def test_every_folder_has_a_budget() -> None:
    assert list(BUDGETS) == [".", *folders()]


@pytest.mark.parametrize("folder", BUDGETS)
def test_no_folder_grows_past_its_budget(folder: str) -> None:
    lines, constants = measure(folder)
    assert lines <= BUDGETS[folder][0]
    assert constants <= BUDGETS[folder][1]


def test_no_module_is_longer_than_a_person_reads_at_once() -> None:
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        lines = path.read_text(encoding="utf-8").count("\n")
        assert lines <= LONGER_MODULES.get(name, MODULE), name


def test_the_tests_have_a_budget() -> None:
    lines = [
        path.read_text(encoding="utf-8").count("\n") for path in (ROOT / "tests").rglob("*.py")
    ]
    assert sum(lines) <= TESTS


if __name__ == "__main__":
    for name in [".", *folders()]:
        lines, constants = measure(name)
        print(f'    "{name}": ({lines:_}, {constants}),')
