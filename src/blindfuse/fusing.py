"""The one call that most users make: fuse, and say what was done and why."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.beliefs import most_likely
from blindfuse.diagnostics import Diagnostics, diagnose
from blindfuse.errors import NotConverged
from blindfuse.estimators.base import to_fit
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.gold import gold_codes
from blindfuse.model import Model
from blindfuse.responses import Responses, as_responses
from blindfuse.rules import Choose, by_prediction, by_thresholds
from blindfuse.threads import quiet_blas

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fusion:
    """Fused labels, how sure they are, who is how good, and how far all that can be trusted.

    Attributes
    ----------
    labels ``[item]``, posteriors ``[item, class]``
        in the order of ``responses.items`` and ``responses.classes``.
    model
        confusion matrices and class shares; for new items by the same annotators.
    method, why
        what was used, and the reason in words.
    history ``[iteration]``
        the log-likelihood on the way to the model; empty for methods that do not iterate.
    groups
        positions of annotators of whom the method knows that they err together.
    """

    responses: Responses
    labels: NDArray[Any]
    posteriors: Floats
    model: Model
    method: str
    why: str
    history: Floats
    groups: tuple[tuple[int, ...], ...]
    posteriors_of: Callable[[Responses], Floats] = field(repr=False)

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """How far all that can be trusted; measured when first asked for."""
        return diagnose(self.responses, self.model, self.posteriors, self.groups)

    def predict_proba(self, responses: Any) -> Floats:
        """Posteriors ``[item, class]`` of new items by the same annotators, by the same rule.

        What was learned stays as it is; ``fuse`` new items with the old ones to learn from both.
        """
        new = as_responses(responses, classes=self.responses.classes)
        return self.posteriors_of(new.recoded(self.responses.annotators, self.responses.classes))

    def predict(self, responses: Any) -> NDArray[Any]:
        """Labels ``[item]`` of new items by the same annotators, by the same rule."""
        codes = most_likely(self.predict_proba(responses))
        return np.asarray(self.responses.classes[codes])

    def summary(self) -> str:
        """What was fused, how, and how far to trust it."""
        return f"{self.responses!r}\n{self.method}: {self.why}\n\n{self.diagnostics.summary()}"

    def __repr__(self) -> str:
        return f"Fusion of {self.responses!r}, by {self.method}"


def fuse(
    responses: Any,
    *,
    ordered: bool = False,
    gold: Mapping[Any, Any] | None = None,
    known: Model | None = None,
    known_labels: float = 20.0,
    choose: Choose | None = None,
    seed: int | None = 0,
    threads: int | None = None,
) -> Fusion:
    """Fuse answers without ground truth, as deep as the answers themselves justify.

    Parameters
    ----------
    responses
        Responses, a matrix ``[item, annotator]`` or a frame.
    ordered
        whether the classes are ordered, as grades are.
    gold
        known labels of some items, ``{item: label}``, which are held fixed.
    known, known_labels
        a Model of annotators from earlier work, and how many labels a class it is worth.
    choose
        the rule that decides between methods; :func:`blindfuse.rules.by_prediction` unless given.
    seed
        of the folds in which answers are held out.
    threads
        at most so many; None for all cores.

    Examples
    --------
    >>> from blindfuse import fuse
    >>> fuse([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]]).labels.tolist()
    [0, 1, 0, 1, 0, 1]
    """
    table = to_fit(responses)
    known_items, truth = gold_codes(table, gold or {})

    def polish(some: Responses, /, **parameters: Any) -> DawidSkene:
        method = DawidSkene(known=known, known_labels=known_labels, threads=threads, **parameters)
        return method.fit(some, gold=gold)

    rule = choose or (by_thresholds if ordered and table.n_classes > 2 else by_prediction)
    with quiet_blas(), warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        choice = rule(table, polish, np.random.default_rng(seed), threads)
    found, labels = choice.posteriors, choice.labels
    labels = most_likely(found) if labels is None else labels.copy()
    if len(known_items):
        found = found.copy()
        found[known_items], labels[known_items] = np.eye(table.n_classes)[truth], truth
    return Fusion(
        table,
        np.asarray(table.classes[labels]),
        found,
        choice.model,
        choice.method,
        choice.why,
        choice.history,
        choice.groups,
        choice.posteriors_of or partial(choice.model.posteriors, threads=threads),
    )
