"""The annotators as a panel: who is redundant, and does the panel beat its best member?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.annotators import Annotators
from blindfuse.errors import list_names
from blindfuse.model.model import Model
from blindfuse.model.posteriors import most_likely
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

MAX_CHANGED = 0.001
"""Share of the labels that may change without redundant annotators; of fewer than 1,000, none."""
MAX_ANNOTATORS = 200
"""A larger crowd is not a panel: nobody would remove its members one by one."""
MAX_RESPONSES = 2_000_000
"""Responses up to which redundant annotators are searched for."""
MIN_COVERAGE = 0.1
"""Share of the items that the best single annotator must respond to."""
MAX_DIFFERENT = 0.01
"""Share of the fused labels that the model may not reproduce; above it, what the model would do
without some annotators says nothing about the fused labels."""
MIN_PROBABILITY = 1e-9
"""Entries of confusion matrices are raised to this before the logarithm."""


@dataclass(frozen=True, eq=False)
class Panel:
    """The best single annotator compared with the fused labels, and redundant annotators.

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
    redundant
        positions of annotators without whom the model would give the same labels, all of them
        removed together.
    searched
        whether redundant annotators were searched for: not in large crowds, nor where the fused
        labels are not those of the model.
    """

    best: int | None
    differing: float
    label_correct: float
    response_correct: float
    redundant: tuple[int, ...]
    searched: bool
    names: NDArray[Any]

    def summary(self) -> str:
        """The best single annotator, and the redundant ones."""
        sentences = [self._compare_best()]
        if self.redundant:
            chosen = list_names(self.names[list(self.redundant)])
            verb = "is" if len(self.redundant) == 1 else "are"
            sentences.append(
                f"{chosen} {verb} redundant: the others give the same labels without them."
            )
        elif self.searched:
            sentences.append("No annotator is redundant: without any one of them, labels change.")
        return " ".join(sentences)

    def _compare_best(self) -> str:
        """How often the best single annotator differs from the labels, and who is correct there.

        Its accuracy is left out: where annotators are rated by the fused labels, it is above the
        accuracy that the expected error leaves for those.
        """
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


def compare_panel(
    responses: Responses, model: Model, posteriors: Floats, rated: Annotators
) -> Panel:
    """Compare single annotators with the fused labels, whose ``posteriors`` are [item, class].

    ``rated`` are the ratings of the same annotators.
    """
    covering = responses.responses_per_annotator >= max(1, MIN_COVERAGE * responses.n_items)
    compared = covering & ~rated.constant
    best = int(np.argmax(np.where(compared, rated.accuracy, -1))) if compared.any() else None
    is_small = (
        3 <= responses.n_annotators <= MAX_ANNOTATORS and responses.n_responses <= MAX_RESPONSES
    )
    redundant = _redundant(responses, model, posteriors) if is_small else None
    return Panel(
        best=best,
        **_differences(responses, posteriors, best),
        redundant=redundant or (),
        searched=redundant is not None,
        names=responses.annotators,
    )


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


def _redundant(responses: Responses, model: Model, posteriors: Floats) -> tuple[int, ...] | None:
    """Annotators without whom the most probable classes under the model stay the same.

    One after another is removed, those who respond to fewest items first, and put back if more than
    ``MAX_CHANGED`` of all labels would differ from those of the complete panel. None if the model
    does not reproduce the most probable classes under the ``posteriors``.
    """
    starts, items, symbols = responses.by_annotator
    logs = np.log(np.maximum(model.confusions, MIN_PROBABILITY))
    scores = np.tile(np.log(np.maximum(model.prior, MIN_PROBABILITY)), (responses.n_items, 1))
    for m in range(responses.n_annotators):
        own = slice(starts[m], starts[m + 1])
        scores[items[own]] += logs[m][symbols[own]]
    labels, changed = scores.argmax(axis=1), np.zeros(responses.n_items, dtype=bool)
    if np.mean(labels != posteriors.argmax(axis=1)) > MAX_DIFFERENT:
        return None
    allowed = int(MAX_CHANGED * responses.n_items)
    removed: list[int] = []
    for m in np.argsort(responses.responses_per_annotator, kind="stable").tolist():
        own = slice(starts[m], starts[m + 1])
        if starts[m] == starts[m + 1] or len(removed) == responses.n_annotators - 1:
            continue
        touched = items[own]
        without = scores[touched] - logs[m][symbols[own]]
        differs = without.argmax(axis=1) != labels[touched]
        if changed.sum() - changed[touched].sum() + differs.sum() <= allowed:
            scores[touched], changed[touched] = without, differs
            removed.append(m)
    return tuple(sorted(removed))
