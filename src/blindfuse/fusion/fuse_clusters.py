"""``fuse_clusters``: fuse clusterings of the same items, whose clusters have no common names."""

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blindfuse.errors import NotIdentifiable, list_names
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.fusion.number_of_classes import NumberOfClasses, choose_number_of_classes
from blindfuse.metrics import adjusted_rand_index
from blindfuse.model.model import Model
from blindfuse.model.posteriors import most_likely
from blindfuse.parameters import integer_at_least
from blindfuse.responses.inputs import Names
from blindfuse.responses.responses import Responses
from blindfuse.result import Columns, Paragraph, json_rows, sorted_columns, summarize
from blindfuse.typing import Array, Floats


@dataclass(frozen=True, eq=False)
class ClusterFusion:
    """One class per item, found by several clusterings together.

    Attributes
    ----------
    responses
        the clusterings, as :class:`Responses` with symbols of their own.
    model
        the :class:`Model`: the share of every cluster of every run in each class, and the prior.
    posteriors ``[item, class]``, labels ``[item]``, confidence ``[item]``
        the result; confidence is the largest posterior.
    agreement ``[run]``
        adjusted Rand index of each run and the labels: 1 for the same partition, 0 for chance.
    number
        how the number of classes was chosen; None if it was given.
    """

    responses: Responses
    model: Model
    posteriors: Floats
    labels: Array
    agreement: Floats
    number: NumberOfClasses | None = field(default=None, repr=False)

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
            f"{self.responses.n_annotators:,} clusterings of {self.responses.n_items:,} items into "
            f"{self.responses.n_classes:,} classes."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about how the clusterings were read."""
        return self.responses.remarks

    def paragraphs(self) -> tuple[Paragraph, ...]:
        """The classes, the runs, and items that are not clear, as text."""
        sizes = np.bincount(most_likely(self.posteriors), minlength=len(self.model.classes))
        named = ", ".join(f"{name}: {size:,}" for name, size in self._largest(sizes))
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

    def _largest(self, sizes: Array) -> list[tuple[Any, int]]:
        order = np.argsort(-sizes, kind="stable")[:12]
        return [(self.model.classes[k], int(sizes[k])) for k in order if sizes[k]]

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
            f"{unclear:,} of {len(self.labels):,} items have a confidence below 80 %. Runs of "
            "one algorithm on shared features agree more than independent ones, so confidences are "
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
    seed
        of the sample of items that the number of classes is chosen by.
    threads
        maximum number of threads; None for all cores.
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
    if is_read and classes is None and not data.is_plain:
        return _with_several_runs(data), None
    given = 2 if classes is None else classes
    table = Responses.from_clusters(data, classes=given, **({} if is_read else options))
    _with_several_runs(table)
    if classes is not None:
        return table, None
    number = choose_number_of_classes(table, seed)
    return Responses.from_clusters(table, classes=number.best), number


def _with_several_runs(responses: Responses) -> Responses:
    """Return the responses, or raise an error if there is nothing to fuse."""
    if responses.n_annotators < 2:
        raise NotIdentifiable(
            f"There is only one clustering, {list_names(responses.annotators)}.",
            "Pass two or more of the same items, one per column.",
        )
    return responses
