"""The numbers copied from the paper equal those that it prints."""

import pytest

from experiments import (
    classifier_ensembles,
    crowdsourced,
    many_annotators,
    many_classes,
    two_classes,
)
from experiments.methods import BEST, VOTE
from tests.conftest import SHARED

PAPER = SHARED.parent / "paper.md"


def printed_rows(table: str) -> list[list[str]]:
    """Return the rows, header included, of the Markdown table above this caption."""
    if not PAPER.is_file():
        pytest.skip("the paper is not on this machine")
    lines = PAPER.read_text().splitlines()
    end = lines.index(f"TABLE {table}")
    block: list[list[str]] = []
    for line in reversed(lines[:end]):
        if line.startswith("|"):
            block.insert(0, [cell.strip(" *") for cell in line.strip("|").split("|")])
        elif block:
            break
    return [row for row in block if set(row[1]) != {"-"} or row[1] == "-"]


@pytest.mark.parametrize(
    ("table", "copied"),
    [
        ("I", two_classes.PRINTED_1),
        ("II", two_classes.PRINTED_2),
        ("III", two_classes.PRINTED_3),
        ("IV", many_classes.PRINTED_4),
        ("V", many_classes.PRINTED_5),
        ("VI", many_annotators.PRINTED_6),
        ("VII", many_annotators.PRINTED_7),
    ],
)
def test_every_number_of_tables_1_to_7_equals_the_printed_one(
    table: str, copied: dict[tuple[str, str], float]
) -> None:
    _, *rows = printed_rows(table)
    names = {"Alg. 2 fixed $\\boldsymbol{\\pi}$": "Alg. 2 fixed π"}
    for name, *cells in rows:
        values = [value for (row, _), value in copied.items() if row == names.get(name, name)]
        assert values == [float(cell) for cell in cells]
    assert len(copied) == sum(len(row) - 1 for row in rows)


@pytest.mark.parametrize(
    ("table", "copied", "first"),
    [("VIII", classifier_ensembles.PRINTED, 2), ("IX", crowdsourced.PRINTED, 5)],
)
def test_every_number_of_tables_8_and_9_equals_the_printed_one(
    table: str, copied: dict[tuple[str, str], float], first: int
) -> None:
    header, *rows = printed_rows(table)
    datasets = {"MNIST": "mnist", "CoverType": "covtype", "PokerHand": "poker_synthetic"}
    datasets |= {"Connect-4": "connect4", "Magic": "magic", "Dota 2": "dota2"}
    datasets |= {"Adult": "adult", "TREC": "trec", "Bird": "bird"}
    printed = {
        ({"MV": VOTE, "Single best": BEST}.get(method, method), datasets[row[0]]): float(cell)
        for row in rows
        for method, cell in zip(header[first:], row[first:], strict=True)
        if cell != "-"
    }
    assert copied == printed
