"""The panel on the page: what it is worth as a whole, and how much its members overlap."""

from dataclasses import dataclass

import numpy as np

from blindfuse.diagnostics.diagnose import Diagnostics
from blindfuse.report.names import visible

MAX_LENGTH = 1_000
"""Characters of a sentence that lists names."""
MAX_MEMBERS = 40
"""Annotators that are listed; of more, those with most responses."""


@dataclass(frozen=True)
class PanelMember:
    """An annotator: shares of all items, and whether it is redundant."""

    name: str
    coverage: float
    overlap: float
    conflict: float
    redundant: bool


@dataclass(frozen=True)
class PanelSection:
    """The effective number of votes, the sentences of the diagnostics, and the ``members``.

    ``total`` counts all annotators; ``searched`` says whether redundant ones were searched for.
    """

    effective_votes: float
    sentences: tuple[str, ...]
    members: tuple[PanelMember, ...]
    total: int
    searched: bool


def panel_section(diagnostics: Diagnostics, names: list[str]) -> PanelSection:
    """Return the section; ``names[annotator]`` are those shown on the page."""
    coverage, panel = diagnostics.coverage, diagnostics.panel
    busiest = np.argsort(-diagnostics.annotators.n_responses, kind="stable")[:MAX_MEMBERS]
    members = tuple(
        PanelMember(
            names[m],
            float(coverage.coverage[m]),
            float(coverage.overlap[m]),
            float(coverage.conflict[m]),
            m in panel.redundant,
        )
        for m in busiest.tolist()
    )
    return PanelSection(
        effective_votes=diagnostics.dependence.effective_votes,
        sentences=(visible(panel.summary(), MAX_LENGTH), coverage.summary()),
        members=members,
        total=len(names),
        searched=panel.searched,
    )
