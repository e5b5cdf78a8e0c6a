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
    "auditing": (1_215, 9),
    "cli": (2_596, 21),
    "comparisons": (1_773, 14),
    "datasets": (460, 3),
    "diagnostics": (1_509, 22),
    "engines": (1_025, 7),
    "estimators": (3_041, 26),
    "fusion": (1_770, 12),
    "kernels": (1_603, 24),
    "metrics": (613, 1),
    "model": (2_033, 37),
    "moments": (605, 6),
    "numbers": (1_983, 21),
    "readers": (4_128, 22),
    "report": (1_438, 15),
    "responses": (4_899, 28),
    "sets": (935, 6),
    "sklearn": (768, 3),
    "solver": (710, 5),
}
TESTS = 24_740
"""Lines of the tests."""
MODULE = 400
"""Lines of a module."""


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
        assert path.read_text(encoding="utf-8").count("\n") <= MODULE, path.relative_to(SOURCE)


def test_the_tests_have_a_budget() -> None:
    lines = [
        path.read_text(encoding="utf-8").count("\n") for path in (ROOT / "tests").rglob("*.py")
    ]
    assert sum(lines) <= TESTS


if __name__ == "__main__":
    for name in [".", *folders()]:
        lines, constants = measure(name)
        print(f'    "{name}": ({lines:_}, {constants}),')
