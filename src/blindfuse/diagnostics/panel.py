"""The annotators as a panel: who is redundant, and does the panel beat its best member?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import list_names
from blindfuse.model.model import Model
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
        position of the annotator with the highest expected accuracy; None if none responds to
        enough items.
    best_accuracy, fused_accuracy
        expected accuracy of the best annotator, and of the fused labels of the same items: means of
        the posteriors of the classes that they report.
    redundant
        positions of annotators without whom the model would give the same labels, all of them
        removed together.
    searched
        whether redundant annotators were searched for: not in large crowds, nor where the fused
        labels are not those of the model.
    """

    best: int | None
    best_accuracy: float
    fused_accuracy: float
    redundant: tuple[int, ...]
    searched: bool
    names: NDArray[Any]

    def summary(self) -> str:
        """The best single annotator, and the redundant ones."""
        sentences = []
        if self.best is not None:
            sentences.append(
                f"The best single annotator, {list_names(self.names[[self.best]])}, is expected to "
                f"be right on {100 * self.best_accuracy:.1f} % of its items, the fused labels on "
                f"{100 * self.fused_accuracy:.1f} % of the same items."
            )
        if self.redundant:
            chosen = list_names(self.names[list(self.redundant)])
            verb = "is" if len(self.redundant) == 1 else "are"
            sentences.append(
                f"{chosen} {verb} redundant: the others give the same labels without them."
            )
        elif self.searched:
            sentences.append("Nobody is redundant: without any one annotator, labels change.")
        return " ".join(sentences) or "No annotator responds to enough items to be compared."


def compare_panel(responses: Responses, model: Model, posteriors: Floats) -> Panel:
    """Compare single annotators with the fused labels, whose ``posteriors`` are [item, class]."""
    reported = _expected_accuracies(responses, posteriors, posteriors_of_labels=False)
    fused = _expected_accuracies(responses, posteriors, posteriors_of_labels=True)
    covering = responses.responses_per_annotator >= max(1, MIN_COVERAGE * responses.n_items)
    best = int(np.argmax(np.where(covering, reported, -1))) if covering.any() else None
    is_small = (
        3 <= responses.n_annotators <= MAX_ANNOTATORS and responses.n_responses <= MAX_RESPONSES
    )
    redundant = _redundant(responses, model, posteriors) if is_small else None
    return Panel(
        best=best,
        best_accuracy=float("nan") if best is None else float(reported[best]),
        fused_accuracy=float("nan") if best is None else float(fused[best]),
        redundant=redundant or (),
        searched=redundant is not None,
        names=responses.annotators,
    )


def _expected_accuracies(
    responses: Responses, posteriors: Floats, *, posteriors_of_labels: bool
) -> Floats:
    """Mean posterior ``[annotator]`` of the annotator's responses, or of the labels of its items.

    Zero for annotators without responses.
    """
    M, items = responses.n_annotators, responses.item_of_response()
    annotators, symbols = responses.by_item.codes, responses.by_item.symbols
    values = posteriors.max(axis=1)[items] if posteriors_of_labels else posteriors[items, symbols]
    sums = np.bincount(annotators, values, minlength=M)
    return np.asarray(sums / np.maximum(responses.responses_per_annotator, 1))


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
