"""How many classes clusterings have in common, chosen by held-out prediction.

For every K, a model fitted to half of the items predicts, on the other half, the cluster that each
run reports from the clusters that the other runs report. Runs that saw the same features depend on
each other beyond any small number of classes, so the prediction improves with every further class,
but only a little once K has passed the number of classes. The chosen K is where the curve of what
is predicted (nats per cluster) over log K (nats that a class can tell) bends most: the largest
vertical distance from the straight line between its ends (Satopää et al. 2011, "Finding a 'Kneedle'
in a Haystack").
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from blindfuse.errors import NotConverged, NotIdentifiable
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.fusion.evidence import SIGNIFICANT_Z
from blindfuse.responses.anchor import NO_ANCHOR
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats

MAX_ITEMS = 4_000
"""Items that the curve is computed from; a sample of larger tables."""
MIN_ITEMS_PER_CLASS = 5
"""Items of a half per class; with fewer, classes describe single items."""


@dataclass(frozen=True, eq=False)
class NumberOfClasses:
    """The chosen number of classes, and the curve that it was chosen by.

    Attributes
    ----------
    best
        the chosen K.
    candidates, prediction
        every K that was tried, and the mean log probability of a held-out cluster, in nats.
    """

    best: int
    candidates: Codes
    prediction: Floats

    def summary(self) -> str:
        """Say which K was chosen and why."""
        first, chosen = (self.prediction[self.candidates == k][0] for k in (1, self.best))
        return (
            f"{self.best:,} classes were chosen by held-out prediction: they predict a run's "
            f"cluster from the other runs better than one class by {chosen - first:.2f} nats, and "
            f"further classes, up to {self.candidates[-1]:,}, add little."
        )


def choose_number_of_classes(responses: Responses, seed: int = 0) -> NumberOfClasses:
    """Choose the number of classes of clusterings.

    ``responses`` are clusterings with any number of classes, from
    ``Responses.from_clusters(data, classes=2)``.
    """
    rng = np.random.default_rng(seed)
    several = np.flatnonzero(responses.responses_per_item >= 2)
    items = rng.permutation(several)[:MAX_ITEMS]
    candidates = _candidates(responses, len(items) // 2)
    if len(candidates) < 2:
        raise NotIdentifiable(
            f"{len(items):,} items with two or more clusters are too few to choose the number of "
            "classes.",
            "Pass the number of classes.",
        )
    halves = _halve(responses, items, int(candidates[-1]))
    predicted = np.stack([_predict_held_out(halves, int(k)) for k in candidates])
    _require_agreement(predicted)
    curve = predicted.mean(axis=1)
    rise = (curve - curve[0]) / (curve.max() - curve[0])
    line = np.log(candidates) / np.log(candidates[-1])
    allowed = (candidates > 1) & (candidates <= responses.n_symbols)
    best = int(np.argmax(np.where(allowed, rise - line, -np.inf)))
    return NumberOfClasses(int(candidates[best]), candidates, curve)


def _require_agreement(predicted: Floats) -> None:
    """Raise an error unless some K predicts significantly better than one class."""
    gains = predicted[1:] - predicted[0]
    errors = gains.std(axis=1) / np.sqrt(gains.shape[1])
    if not np.any(gains.mean(axis=1) > SIGNIFICANT_Z * errors):
        raise NotIdentifiable(
            "The runs agree no more than by chance: no number of classes predicts the clusters of "
            "one run from those of the others.",
            "Check that the rows of all runs are the same items; pass the number of classes to "
            "fuse them anyway.",
        )


def _candidates(responses: Responses, n_items: int) -> Codes:
    """Every K to try: 1, 2, … up to twice the clusters of the largest run.

    From 12 on, K grows in steps of an eighth.
    """
    largest = int(np.count_nonzero(_counts(responses), axis=1).max(initial=0))
    last = min(2 * largest, n_items // MIN_ITEMS_PER_CLASS)
    values, k = list[int](), 1
    while k < last:
        values.append(k)
        k += 1 if k < 12 else k // 8
    return np.array([*values, last] if last >= 2 else [], dtype=np.intp)


def _counts(responses: Responses) -> NDArray[np.int64]:
    """Number of items in every cluster of every run, ``[annotator, symbol]``."""
    M, R = responses.n_annotators, responses.n_symbols
    cells = responses.by_item.codes.astype(np.int64) * R + responses.by_item.symbols
    return np.bincount(cells, minlength=M * R).reshape(M, R)


def _halve(responses: Responses, items: Codes, n_symbols: int) -> list[Responses]:
    """The items in two halves, with as many symbols as the largest K needs."""
    symbols = np.arange(max(n_symbols, responses.n_symbols))
    halves = []
    for part in (0, 1):
        half = responses.select_items(np.sort(items[part::2]))
        table = Responses.from_codes(
            half.item_of_response(),
            half.by_item.codes,
            half.by_item.symbols,
            items=np.arange(half.n_items),
            annotators=half.annotators,
            classes=np.arange(2),
            symbols=symbols,
            anchor=NO_ANCHOR,
        )
        halves.append(table)
    return halves


def _predict_held_out(halves: list[Responses], n_classes: int) -> Floats:
    """Mean log probability of an item's clusters, each given the others, ``[item]``."""
    results = []
    for train, test in (halves, halves[::-1]):
        confusions, prior = _fit(train, n_classes)
        floor = 0.5 / train.n_items  # a cluster that the other half does not have
        results.append(_log_predictions(np.maximum(confusions, floor), prior, test))
    return np.concatenate(results)


def _fit(responses: Responses, n_classes: int) -> tuple[Floats, Floats]:
    """Confusion matrices and prior; with one class, the shares of the clusters of each run."""
    if n_classes == 1:
        counts = _counts(responses)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        return shares[:, :, None], np.ones(1)
    table = responses.with_anchor(n_classes, responses.anchor)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        model = DawidSkene(max_iter=50, tolerance=1e-5).fit(table).model_
    return model.confusions, model.prior


def _log_predictions(confusions: Floats, prior: Floats, responses: Responses) -> Floats:
    """log Σ_k P(k | other runs) Γ_m(f_m, k), mean over the runs of each item, ``[item]``."""
    items, (_, annotators, symbols) = responses.item_of_response(), responses.by_item
    likelihoods = confusions[annotators, symbols]
    logs = np.log(likelihoods)
    joint = np.log(prior) + np.zeros((responses.n_items, len(prior)))
    np.add.at(joint, items, logs)
    others = softmax(joint[items] - logs, axis=1)
    predicted = np.log((others * likelihoods).sum(axis=1))
    sums = np.bincount(items, predicted, minlength=responses.n_items)
    return np.asarray(sums / responses.responses_per_item)
