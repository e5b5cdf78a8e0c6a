"""Tables of labels with all that is odd about those of people."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from blindfuse import Responses
from blindfuse.typing import Codes

MOST_ITEMS, MOST_ANNOTATORS, MOST_CLASSES = 30, 8, 5

NAMES: dict[str, list[Any]] = {
    "numbers": [0, 1, 2, 3, 4],
    "text": ["no", "yes", "<b>", "день", " "],
    "truths": [False, True],
    "far numbers": [7, 2, 10**12, 0, 255],
}
"""Class names of one kind each; there are never more classes than names."""


DEFECTS = ["silent", "empty item", "constant", "copier", "all agree", "one each", "one class"]


def spoil(codes: Codes, defect: str, rng: np.random.Generator) -> None:
    """Change codes ``[item, annotator]`` in place."""
    n, m = codes.shape
    match defect:
        case "silent":
            codes[:, rng.integers(m)] = -1
        case "empty item":
            codes[rng.integers(n)] = -1
        case "constant":
            column = codes[:, rng.integers(m)]
            column[column >= 0] = 0
        case "copier":
            codes[:, rng.integers(m)] = codes[:, rng.integers(m)]
        case "all agree":
            codes[...] = np.where(codes >= 0, codes.max(axis=1, keepdims=True), -1)
        case "one each":
            codes[np.arange(m) != rng.integers(m, size=(n, 1))] = -1
        case "one class":
            codes[codes >= 0] = 0


@dataclass(frozen=True, eq=False)
class Table:
    """Labels ``[item][annotator]``, None where missing; all classes and a truth beside."""

    rows: list[list[Any]]
    classes: list[Any]
    truth: list[Any]

    @property
    def n_annotators(self) -> int:
        return len(self.rows[0]) if self.rows else 0

    def wide(self) -> pl.DataFrame:
        columns = {f"a{m}": [row[m] for row in self.rows] for m in range(self.n_annotators)}
        return pl.DataFrame(columns, strict=False)

    def long(self) -> pl.DataFrame:
        cells = [(n, m, said) for n, row in enumerate(self.rows) for m, said in enumerate(row)]
        columns = list(zip(*cells, strict=True)) or [(), (), ()]
        names = "item", "annotator", "label"
        return pl.DataFrame(dict(zip(names, columns, strict=True)), strict=False)

    def responses(self) -> Responses:
        """With every class by name, reported or not."""
        return Responses.from_matrix(self.rows, missing=None, classes=self.classes)


FORMS: dict[str, Callable[[Table], Any]] = {
    "rows": lambda table: table.rows,
    "wide": Table.wide,
    "long": Table.long,
    "responses": Table.responses,
}
"""What a caller may have; some tables cannot be had in some form."""


def odd_table(
    seed: int,
    shape: tuple[int, int, int],
    *,
    kind: str = "numbers",
    skill: float = 0.5,
    missing: float = 0.0,
    defects: Sequence[str] = (),
) -> Table:
    """Labels of N items by M annotators in K classes, right with probability ``skill``."""
    n, m, k = shape
    names = NAMES[kind][:k]
    rng = np.random.default_rng(seed)
    truth = rng.integers(len(names), size=n)
    guesses = rng.integers(len(names), size=(n, m))
    codes = np.where(rng.random((n, m)) < skill, truth[:, None], guesses)
    codes[rng.random((n, m)) < missing] = -1
    for defect in defects if n and m else ():
        spoil(codes, defect, rng)
    rows = [[None if code < 0 else names[code] for code in row] for row in codes.tolist()]
    return Table(rows, names, [names[code] for code in truth.tolist()])


def tables() -> st.SearchStrategy[Table]:
    """Any table, small; the simplest has nothing in it."""
    shapes = st.tuples(
        st.integers(0, MOST_ITEMS), st.integers(0, MOST_ANNOTATORS), st.integers(1, MOST_CLASSES)
    )
    return st.builds(
        odd_table,
        st.integers(0, 2**32 - 1),
        shapes,
        kind=st.sampled_from(list(NAMES)),
        skill=st.sampled_from([0.0, 0.5, 0.9, 1.0]),
        missing=st.sampled_from([0.0, 0.1, 0.5, 0.9]),
        defects=st.lists(st.sampled_from(DEFECTS), max_size=2).map(tuple),
    )
