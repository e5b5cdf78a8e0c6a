"""All diagnostics of a fusion, in the order in which they are reported."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.annotators import Annotators, rate_annotators
from blindfuse.diagnostics.calibration import ErrorInterval
from blindfuse.diagnostics.coverage import Coverage, measure_coverage
from blindfuse.diagnostics.dependence import Dependence, find_dependence
from blindfuse.diagnostics.expected_error import ExpectedError, estimate_error, expect_error
from blindfuse.diagnostics.fit import Fit, measure_fit
from blindfuse.diagnostics.identifiability import Identifiability, check_identifiability
from blindfuse.diagnostics.items import Items, rate_items
from blindfuse.diagnostics.pairs import count_pairs
from blindfuse.diagnostics.panel import Panel, compare_panel
from blindfuse.model.checks import check_numbers
from blindfuse.model.decisions import decide
from blindfuse.model.implied import implied_model
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses
from blindfuse.responses.symbols import without_abstentions

Floats = NDArray[np.float64]

ALL_GOLD = (
    "Every label is a gold label, so there is no fused label that could be wrong. Fuse without "
    "gold labels to measure the error of the fused labels on them."
)


DISTRUSTED_ERROR = 0.2
"""Expected share of wrong labels that is a reason to distrust them by itself."""


@dataclass(frozen=True)
class Paragraph:
    """One diagnostic as text.

    ``warning`` says whether it is a reason to distrust the labels. The command line prints a
    ``detail`` only if it is a warning.
    """

    heading: str
    text: str
    warning: bool
    detail: bool = False


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """How many labels are wrong, which items and annotators to check, and whether the model fits.

    ``paragraphs()`` is the ordered list that ``summary()``, the command line and the report read;
    the command line omits details that are not warnings.
    ``all_gold`` says whether every label is a gold label, and ``n_checked`` on how many checked
    items the expected error was measured.
    """

    expected_error: ExpectedError
    items: Items
    annotators: Annotators
    coverage: Coverage
    panel: Panel
    dependence: Dependence
    fit: Fit
    identifiability: Identifiability
    all_gold: bool = False
    n_checked: int = 0

    def paragraphs(self) -> tuple[Paragraph, ...]:
        """Every diagnostic as text under its heading."""
        annotators, dependence = self.annotators, self.dependence
        error = self.expected_error.summary(self.fit.verdict, self.n_checked)
        fit, identifiability = self.fit, self.identifiability
        high = not self.all_gold and self.expected_error.value >= DISTRUSTED_ERROR
        return (
            Paragraph("Expected error", ALL_GOLD if self.all_gold else error, warning=high),
            Paragraph("Items", self.items.summary(), warning=False),
            Paragraph("Annotators", annotators.summary(), warning=annotators.has_adversaries),
            Paragraph("Coverage", self.coverage.summary(), warning=False, detail=True),
            Paragraph("Panel", self.panel.summary(), warning=False, detail=True),
            Paragraph("Dependence", dependence.summary(), warning=dependence.is_ignored),
            Paragraph("Fit", fit.summary(), warning=not fit.holds, detail=True),
            Paragraph(
                "Identifiability",
                identifiability.summary(),
                warning=not identifiability.holds or len(identifiability.rare_classes) > 0,
                detail=True,
            ),
        )

    def summary(self) -> str:
        """All paragraphs, one per line."""
        return "\n".join(f"{one.heading}: {one.text}" for one in self.paragraphs())


def diagnose(
    responses: Responses,
    model: Model,
    posteriors: Floats,
    groups: Sequence[Sequence[int]] = (),
    all_gold: bool = False,
    expected: ErrorInterval | None = None,
    labels: NDArray[np.intp] | None = None,
    is_fitted: bool = True,
    n_checked: int = 0,
) -> Diagnostics:
    """Compute all diagnostics of these responses under a model and its posteriors.

    ``groups`` are positions of annotators that the method merged because their errors are
    correlated. Their agreement does not count against the fit, but is still listed as dependence.
    ``all_gold`` says whether every label is a gold label; then no error can be expected.
    ``expected`` is the expected error if it is known already. ``labels[item]`` are class codes by
    which annotators are rated, if not by the model. Unless the model ``is_fitted`` to these
    responses, whether errors are correlated is judged by the model that the posteriors imply: how
    often annotators report a class varies by chance, which would count as misfit of all their
    pairs. ``n_checked`` is the number of checked items that ``expected`` was measured on.
    """
    shape = responses.n_items, responses.n_classes
    posteriors = check_numbers(posteriors, "posteriors", shape, minimum=0).astype(float)
    known = model.for_annotators(responses.annotators, responses.classes, responses.symbols)
    decided = (responses, known) if responses.is_plain else decide(responses, known)
    # Annotators with symbols of their own agree if decisions are equal, not if symbols are.
    table, reference = decided if responses.anchor.kind == "none" else (responses, known)
    if not is_fitted:
        reference = implied_model(table, posteriors, None)
        expected = expected or expect_error(table, reference, posteriors)
    pairs = count_pairs(table).compare_with(reference)
    expected = expected or expect_error(responses, known, posteriors)
    rated = rate_annotators(*decided, posteriors, labels, expected)
    return Diagnostics(
        expected_error=estimate_error(responses, known, posteriors, expected),
        items=rate_items(responses, posteriors),
        annotators=replace(rated, roc_area=_roc_areas(responses, known)),
        coverage=measure_coverage(without_abstentions(responses, decided[0])),
        panel=compare_panel(*decided, posteriors, rated),
        dependence=find_dependence(pairs, responses.annotators, merged=groups),
        fit=measure_fit(pairs.outside_groups(groups), responses.n_annotators),
        identifiability=check_identifiability(responses, known),
        all_gold=all_gold,
        n_checked=n_checked,
    )


def _roc_areas(responses: Responses, model: Model) -> Floats | None:
    """Areas under the ROC curve, for annotators who report more than one of two classes."""
    if responses.is_plain or responses.n_classes != 2:
        return None
    return model.roc_areas
