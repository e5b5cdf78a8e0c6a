"""Dependent annotators of fused labels: a map of excess agreement, and the dependent pairs."""

import numpy as np

from blindfuse.diagnostics.dependence import Dependence
from blindfuse.report.blocks import Block, Row, Section, Table, Text, percent
from blindfuse.report.charts import heat_map
from blindfuse.report.names import distinct_names
from blindfuse.typing import Floats

MAX_ANNOTATORS = 30
"""Annotators on the map; of more, members of dependent groups and then those with most pairs."""
MAX_NAME_LENGTH = 40
"""Characters of a name; the map repeats names in every cell."""
MAX_LISTED_PAIRS = 20
"""Dependent pairs that are listed by name."""
TIPS = (
    ("first", "annotator", ""),
    ("second", "and", ""),
    ("value", "excess agreement", "+.1%"),
    ("framed", "significant", ""),
)


def dependence_section(dependence: Dependence) -> Section:
    """Return the map and the pairs; members of a dependent group are neighbours."""
    names = distinct_names(dependence.names, MAX_NAME_LENGTH)
    places = _map_rows(dependence)
    cells = _cells(dependence, places, names)
    blocks: list[Block] = [Text("No two annotators share enough items to test this.")]
    if cells:
        shown = [names[dependence.tested[i]] for i in places]
        blocks = [
            Text(_explanation(dependence, len(shown))),
            heat_map(
                *("dependence", shown, cells, TIPS),
                f"Map of excess agreement between {len(shown)} annotators; dependent pairs are "
                "listed below.",
            ),
        ]
    pairs = _pairs(dependence, names)
    if pairs:
        shown_of = f"The first {len(pairs)} of {len(dependence.pairs):,} dependent pairs"
        which = shown_of if len(pairs) < len(dependence.pairs) else "Dependent pairs"
        caption = f"{which}. Excess agreement is (observed − expected) / (1 − expected)."
        blocks.append(Table(caption, ("Annotator", "And", "Excess agreement#"), pairs))
    elif cells:
        blocks.append(Text("No pair stands out from the others."))
    return Section("dependence", "Dependence", "Dependent annotators", tuple(blocks))


def _explanation(dependence: Dependence, n_shown: int) -> str:
    text = (
        "Each cell shows whether two annotators agree more often (blue) or less often (orange) "
        "than the model predicts from their accuracy. Darker cells deviate more. A frame marks a "
        "dependent pair: its excess agreement is significantly larger than that of the other pairs."
    )
    if n_shown < len(dependence.names):
        text += (
            f" The map shows {n_shown} of the {dependence.n_annotators:,} annotators whose pairs "
            "were tested."
        )
    return text


def _cells(dependence: Dependence, places: list[int], names: list[str]) -> list[Row]:
    """Both cells of every tested pair on the map."""
    dependent = {frozenset(pair) for pair in dependence.pairs.tolist()}
    tested, excess = dependence.tested.tolist(), dependence.excess_matrix
    return [
        {
            "first": names[tested[i]],
            "second": names[tested[j]],
            "value": round(float(excess[i, j]), 4),
            "framed": frozenset((tested[i], tested[j])) in dependent,
        }
        for i in places
        for j in places
        if not np.isnan(excess[i, j])
    ]


def _pairs(dependence: Dependence, names: list[str]) -> list[tuple[str, str, str]]:
    """The dependent pairs with the largest excess agreement."""
    order = np.argsort(-dependence.excess, kind="stable")[:MAX_LISTED_PAIRS]
    excess = dependence.excess[order].tolist()
    return [
        (names[first], names[second], percent(value, 0))
        for (first, second), value in zip(dependence.pairs[order].tolist(), excess, strict=True)
    ]


def _map_rows(dependence: Dependence) -> list[int]:
    """Rows of ``excess_matrix`` on the map: dependent groups first, the largest first."""
    row_of = {int(m): i for i, m in enumerate(dependence.tested)}
    groups = sorted(dependence.groups, key=len, reverse=True)
    grouped = [row_of[m] for group in groups for m in group]
    return list(dict.fromkeys([*grouped, *_other_rows(dependence.excess_matrix)]))[:MAX_ANNOTATORS]


def _other_rows(excess_matrix: Floats) -> list[int]:
    """All rows in order if the map has space for them, else those with most pairs first."""
    if len(excess_matrix) <= MAX_ANNOTATORS:
        return list(range(len(excess_matrix)))
    n_pairs = np.count_nonzero(~np.isnan(excess_matrix), axis=1)
    return np.argsort(-n_pairs, kind="stable").tolist()  # type: ignore[no-any-return]
