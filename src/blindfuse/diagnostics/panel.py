"""The best single annotator, compared with the fused labels."""

from dataclasses import dataclass

import numpy as np

from blindfuse.diagnostics.annotators import Annotators
from blindfuse.errors import list_names
from blindfuse.model.posteriors import most_likely
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array, Floats

MIN_COVERAGE = 0.1
"""Share of the items that the best single annotator must respond to."""


@dataclass(frozen=True, eq=False)
class Panel:
    """The best single annotator compared with the fused labels.

    Attributes
    ----------
    best
        position of the annotator with the highest estimated accuracy; None if none reports more
        than one class and responds to enough items.
    differing
        share of its items to which it gives another class than the fused label.
    label_correct, response_correct
        probability that the fused label, and that its response, is correct on these items: means of
        their posteriors; NaN if there are none.
    """

    best: int | None
    differing: float
    label_correct: float
    response_correct: float
    names: Array

    def summary(self) -> str:
        """How often the best single annotator differs from the labels, and who is correct there."""
        if self.best is None:
            return (
                "No annotator reports more than one class and responds to at least "
                f"{100 * MIN_COVERAGE:.0f} % of the items, so none is compared with the fused "
                "labels."
            )
        best = f"The best single annotator is {list_names(self.names[[self.best]])}."
        if self.differing == 0:
            return f"{best} Its responses are the fused labels of its items."
        return (
            f"{best} It differs from the fused labels on {100 * self.differing:.2g} % of its "
            f"items; there, the fused labels are expected to be correct on "
            f"{100 * self.label_correct:.0f} %, and its responses on "
            f"{100 * self.response_correct:.0f} %."
        )


def compare_panel(responses: Responses, posteriors: Floats, rated: Annotators) -> Panel:
    """Compare the best annotator with the fused labels, whose ``posteriors`` are [item, class].

    ``rated`` are the ratings of the same annotators.
    """
    covering = responses.responses_per_annotator >= max(1, MIN_COVERAGE * responses.n_items)
    compared = covering & ~rated.constant
    best = int(np.argmax(np.where(compared, rated.accuracy, -1))) if compared.any() else None
    return Panel(best, **_differences(responses, posteriors, best), names=responses.annotators)


def _differences(responses: Responses, posteriors: Floats, m: int | None) -> dict[str, float]:
    """How often annotator ``m`` differs from the labels, and who is correct there."""
    if m is None:
        return dict.fromkeys(("differing", "label_correct", "response_correct"), float("nan"))
    starts, items, symbols = responses.by_annotator
    own = slice(starts[m], starts[m + 1])
    of_items, reported = posteriors[items[own]], symbols[own]
    labels, rows = most_likely(of_items), np.arange(len(of_items))
    differs = labels != reported
    if not differs.any():
        return {"differing": 0.0, "label_correct": float("nan"), "response_correct": float("nan")}
    return {
        "differing": float(differs.mean()),
        "label_correct": float(of_items[rows, labels][differs].mean()),
        "response_correct": float(of_items[rows, reported][differs].mean()),
    }
