"""The numbers copied from the paper equal those that it prints."""

import pytest

from experiments import classifier_ensembles, crowdsourced
from experiments.methods import BEST, VOTE
from experiments.printed import PRINTED_ROWS
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
    ("number", "table"), list(enumerate(["I", "II", "III", "IV", "V", "VI", "VII"], 1))
)
def test_every_number_of_tables_1_to_7_equals_the_printed_one(number: int, table: str) -> None:
    _, *rows = printed_rows(table)
    names = {"Alg. 2 fixed $\\boldsymbol{\\pi}$": "Alg. 2 fixed π"}
    printed = {names.get(name, name): tuple(map(float, cells)) for name, *cells in rows}
    assert PRINTED_ROWS[f"table{number}"] == printed


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
