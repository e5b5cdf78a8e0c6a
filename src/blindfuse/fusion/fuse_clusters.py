"""``fuse_clusters``: fuse clusterings of the same items, whose clusters have no common names."""

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import softmax

from blindfuse.errors import NotIdentifiable, counted, list_names
from blindfuse.estimators.base import without_warnings
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.fusion.evidence import SIGNIFICANT_Z
from blindfuse.metrics import adjusted_rand_index
from blindfuse.model.anchored_votes import symbol_counts
from blindfuse.model.model import Model
from blindfuse.model.posteriors import most_likely
from blindfuse.parameters import integer_at_least
from blindfuse.responses.alphabet import NO_ANCHOR
from blindfuse.responses.inputs import Names
from blindfuse.responses.responses import Responses
from blindfuse.result import Columns, Paragraph, json_rows, sorted_columns, summarize
from blindfuse.typing import Array, Codes, Floats

MAX_ITEMS = 4_000
"""Items that the curve is computed from; a sample of larger tables."""
MIN_ITEMS_PER_CLASS = 5
"""Items of a half per class; with fewer, classes describe single items."""


@dataclass(frozen=True, eq=False)
class NumberOfClasses:
    """The chosen number of classes, and the curve that it was chosen by.

    ``candidates`` are the numbers that were tried, and ``prediction`` the mean log probability of a
    held-out cluster, in nats.
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


@dataclass(frozen=True, eq=False)
class ClusterFusion:
    """One class per item, found by several clusterings together.

    ``responses`` are the clusterings, with symbols of their own, and ``model`` has the share of
    every cluster of every run in each class. ``agreement[run]`` is the adjusted Rand index of each
    run and the labels: 1 for the same partition, 0 for chance. ``number`` says how the number of
    classes was chosen; None if it was given.
    """

    responses: Responses
    model: Model
    posteriors: Floats
    labels: Array
    agreement: Floats
    number: NumberOfClasses | None = field(default=None, repr=False)
    kind = "clusters"

    @property
    def confidence(self) -> Floats:
        """Largest posterior per item, ``[item]``."""
        return np.asarray(self.posteriors.max(axis=1))

    def predict_proba(self, responses: Responses) -> Floats:
        """Return posteriors ``[item, class]`` of new items, from the clusters of the same runs."""
        return self.model.posteriors(responses)

    method = "EM"

    @property
    def why(self) -> str:
        """How the clusterings were fused."""
        return (
            "The clusters of every run are matched to the classes by one matrix per run, fitted "
            "from normalised cuts of the graph of items and clusters."
        )

    @property
    def items(self) -> Array:
        """Names of the items, in the order of ``labels``."""
        return self.responses.items

    @property
    def size(self) -> str:
        """What was fused, as a sentence."""
        return (
            f"{counted(self.responses.n_annotators, 'clustering')} of "
            f"{counted(self.responses.n_items, 'item')} into "
            f"{counted(self.responses.n_classes, 'class')}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about how the clusterings were read."""
        return self.responses.remarks

    def paragraphs(self) -> tuple[Paragraph, ...]:
        """The classes, the runs, and items that are not clear, as text."""
        sizes = np.bincount(most_likely(self.posteriors), minlength=len(self.model.classes))
        order = [k for k in np.argsort(-sizes, kind="stable")[:12].tolist() if sizes[k]]
        named = ", ".join(f"{self.model.classes[k]}: {sizes[k]:,}" for k in order)
        rows = [Paragraph("Class sizes", f"{named}.")]
        if self.number is not None:
            rows.insert(0, Paragraph("Number of classes", self.number.summary()))
        empty = self.model.classes[sizes == 0]
        if len(empty):
            text = f"No item belongs to {list_names(empty)}. Ask for fewer classes."
            rows.append(Paragraph("Empty classes", text, warning=True))
        runs, items = self._describe_runs(), self._describe_items()
        return (*rows, Paragraph("Runs", runs), Paragraph("Items", items))

    def summary(self) -> str:
        """What was fused, how, and how far to trust it."""
        return summarize(self, self.responses)

    def item_columns(self) -> Columns:
        """One row per item: its class and the confidence, by column."""
        return {"item": self.items, "label": self.labels, "confidence": self.confidence}

    def annotator_columns(self) -> Columns:
        """One row per run, the least similar to the result first, by column."""
        runs = self.responses.matrix().T
        columns = {
            "run": self.responses.annotators,
            "items": (runs >= 0).sum(axis=1),
            "clusters": np.array([len(np.unique(run[run >= 0])) for run in runs]),
            "adjusted_rand_index": self.agreement,
        }
        return sorted_columns(columns, by="adjusted_rand_index")

    def to_json(self) -> dict[str, Any]:
        """The whole result as one JSON object."""
        return {
            "n_items": self.responses.n_items,
            "n_runs": self.responses.n_annotators,
            "classes": self.responses.classes.tolist(),
            "class_prior": self.model.prior.tolist(),
            "notes": list(self.notes),
            "runs": json_rows(self.annotator_columns()),
            "items": json_rows(self.item_columns()),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what prediction needs to an ``.npz`` file; :meth:`Model.load` reads it."""
        self.model.save(path)

    def _describe_runs(self) -> str:
        low, high = np.quantile(self.agreement, [0.25, 0.75])
        worst = self.responses.annotators[np.argsort(self.agreement, kind="stable")[:1]]
        return (
            f"Adjusted Rand index with the fused classes: {low:.2f} to {high:.2f} for most "
            f"(interquartile range), {self.agreement.min():.2f} for {list_names(worst)}."
        )

    def _describe_items(self) -> str:
        unclear = int(np.count_nonzero(self.confidence < 0.8))
        return (
            f"Confidence below 80 %: {unclear:,} of {len(self.labels):,} items. Runs of one "
            "algorithm on shared features agree more than independent ones, so confidences are "
            "too high; compare them with each other only."
        )

    def __repr__(self) -> str:
        return (
            f"ClusterFusion of {len(self.labels):,} items by {len(self.agreement):,} runs in "
            f"{len(self.model.classes):,} classes"
        )


def fuse_clusters(
    data: Any,
    classes: Names | int | None = None,
    *,
    missing: Any = -1,
    seed: int = 0,
    threads: int | None = None,
    **options: Any,
) -> ClusterFusion:
    """Fuse clusterings of the same items into one partition (ensemble clustering).

    Every run has clusters of its own, and may have any number of them. A model with one matrix
    Γ_m(cluster, class) per run is fitted by EM (:class:`DawidSkene`) from normalised cuts of the
    graph of items and clusters, in time linear in the number of items.

    Parameters
    ----------
    data
        a matrix ``[item, run]`` of cluster numbers or names, a long or wide frame, or
        :class:`Responses`.
    classes
        number of classes, or their names; None to choose the number by held-out prediction.
    missing
        the value of items that a run did not cluster, as of noise in DBSCAN.
    seed, threads
        of the sample of items that the number of classes is chosen by; maximum number of threads.
    **options
        those of :meth:`Responses.from_matrix` or :meth:`Responses.from_frame`.

    Examples
    --------
    >>> from blindfuse import fuse_clusters
    >>> runs = [[0, 5, 1], [0, 5, 1], [0, 5, 2], [1, 7, 0], [1, 7, 0], [1, 7, 2]] * 5
    >>> fuse_clusters(runs, classes=2).labels[:6].tolist()
    [0, 0, 0, 1, 1, 1]
    """
    integer_at_least(0).check("seed", seed)
    clusterings, number = _read_clusterings(data, classes, seed, {"missing": missing, **options})
    fitted = DawidSkene(threads=threads).fit(clusterings)
    codes = most_likely(fitted.posteriors_)
    runs = clusterings.matrix().T
    agreement = np.array([adjusted_rand_index(codes[run >= 0], run[run >= 0]) for run in runs])
    return ClusterFusion(
        clusterings, fitted.model_, fitted.posteriors_, fitted.labels_, agreement, number
    )


def _read_clusterings(
    data: Any, classes: Names | int | None, seed: int, options: dict[str, Any]
) -> tuple[Responses, NumberOfClasses | None]:
    """Return the clusterings with their classes, and how many were chosen if none are given."""
    is_read = isinstance(data, Responses)
    has_classes = is_read and classes is None and not data.is_plain
    if has_classes:
        table = data
    else:
        given = 2 if classes is None else classes
        table = Responses.from_clusters(data, classes=given, **({} if is_read else options))
    if table.n_annotators < 2:
        raise NotIdentifiable(
            f"There is only one clustering, {list_names(table.annotators)}.",
            "Pass two or more of the same items, one per column.",
        )
    if has_classes or classes is not None:
        return table, None
    number = choose_number_of_classes(table, seed)
    return Responses.from_clusters(table, classes=number.best), number


def choose_number_of_classes(responses: Responses, seed: int = 0) -> NumberOfClasses:
    """Choose the number of classes of clusterings by held-out prediction.

    For every K, a model fitted to half of the items predicts, on the other half, the cluster that
    each run reports from the clusters that the other runs report. Runs that saw the same features
    depend on each other beyond any small number of classes, so the prediction improves with every
    further class, but only a little once K has passed the number of classes. The chosen K is where
    the curve of what is predicted (nats per cluster) over log K (nats that a class can tell) bends
    most: the largest vertical distance from the straight line between its ends (Satopää et al.
    2011, "Finding a 'Kneedle' in a Haystack").
    """
    rng = np.random.default_rng(seed)
    several = np.flatnonzero(responses.responses_per_item >= 2)
    items = rng.permutation(several)[:MAX_ITEMS]
    candidates = _candidates(responses, len(items) // 2)
    if len(candidates) < 2:
        raise NotIdentifiable(
            f"{counted(len(items), 'item')} with two or more clusters: too few to choose the "
            "number of classes.",
            "Pass the number of classes: classes=, or --classes on the command line.",
        )
    halves = _halve(responses, items, int(candidates[-1]))
    predicted, alone = np.stack([_predict_held_out(halves, int(k)) for k in candidates[1:]], axis=1)
    gains = predicted - alone
    errors = gains.std(axis=1) / np.sqrt(gains.shape[1])
    if not np.any(gains.mean(axis=1) > SIGNIFICANT_Z * errors):
        raise NotIdentifiable(
            "The runs agree no more than by chance: no number of classes predicts the clusters of "
            "one run from those of the others.",
            "Check that the rows of all runs are the same items; pass the number of classes to "
            "fuse them anyway.",
        )
    curve = np.concatenate([alone[:1], predicted]).mean(axis=1)
    rise = (curve - curve[0]) / (curve.max() - curve[0])
    line = np.log(candidates) / np.log(candidates[-1])
    allowed = (candidates > 1) & (candidates <= responses.n_symbols)
    best = int(np.argmax(np.where(allowed, rise - line, -np.inf)))
    return NumberOfClasses(int(candidates[best]), candidates, curve)


def _candidates(responses: Responses, n_items: int) -> Codes:
    """Every K to try: 1, 2, … up to twice the clusters of the largest run.

    From 12 on, K grows in steps of an eighth.
    """
    largest = int(np.count_nonzero(symbol_counts(responses), axis=1).max(initial=0))
    last = min(2 * largest, n_items // MIN_ITEMS_PER_CLASS)
    values, k = list[int](), 1
    while k < last:
        values.append(k)
        k += 1 if k < 12 else k // 8
    return np.array([*values, last] if last >= 2 else [], dtype=np.intp)


def _halve(responses: Responses, items: Codes, n_symbols: int) -> list[Responses]:
    """The items in two halves, with as many symbols as the largest K needs."""
    symbols = np.arange(max(n_symbols, responses.n_symbols))
    halves = [responses.select_items(np.sort(items[part::2])) for part in (0, 1)]
    return [
        Responses.from_codes(
            *(half.item_of_response(), half.by_item.codes, half.by_item.symbols),
            items=np.arange(half.n_items),
            annotators=half.annotators,
            classes=np.arange(2),
            symbols=symbols,
            anchor=NO_ANCHOR,
        )
        for half in halves
    ]


def _predict_held_out(halves: list[Responses], n_classes: int) -> Floats:
    """Mean log probability of an item's clusters, ``[given others or alone, item]``.

    Alone, a cluster has the share Γ_m π of the same model, so that what the others add is
    dependence between runs and not another shrinkage.
    """
    results = []
    for train, test in (halves, halves[::-1]):
        table = train.with_anchor(n_classes, train.anchor)
        with without_warnings():
            model = DawidSkene(max_iter=50, tolerance=1e-5).fit(table).model_
        floor = 0.5 / train.n_items  # a cluster that the other half does not have
        confusions = np.maximum(model.confusions, floor)
        shares = (confusions @ model.prior)[:, :, None]
        results.append(
            [
                _log_predictions(confusions, model.prior, test),
                _log_predictions(shares, np.ones(1), test),
            ]
        )
    return np.concatenate(results, axis=1)


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
