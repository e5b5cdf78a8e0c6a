"""How cost grows with items, annotators and classes: time and peak memory a label.

From a middle point, one axis at a time, complete and sparse; every point in a process of its own.
"""

import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from blindfuse import BlindEnsemble, DawidSkene, Responses, fuse, simulate
from children import in_child, measured
from report import Section

SPARSE = 5
"""Labels an item in sparse crowds."""


class Point(NamedTuple):
    """A size of the work; ``sparse`` answers are SPARSE an item."""

    n_items: int
    n_annotators: int
    n_classes: int
    sparse: bool

    def draw(self, n_items: int) -> Responses:
        N, M, K = n_items, self.n_annotators, self.n_classes
        missing = 1 - SPARSE / M if self.sparse else 0.0
        return simulate(N, M, K, np.random.default_rng(0), skill=0.7, missing=missing).responses


class Costs(NamedTuple):
    """Seconds and bytes a label."""

    seconds: float
    n_bytes: float


METHODS: dict[str, Callable[[Responses], object]] = {
    "DawidSkene": lambda responses: DawidSkene().fit(responses),
    "BlindEnsemble": lambda responses: BlindEnsemble().fit(responses),
    "fuse": fuse,
}

MEASURED = {"time a label, relative": 0, "bytes a label": 1}


def items() -> Section:
    """Five annotators, or fifty of whom five answer; three classes."""
    return _swept(
        "Growth with items, K = 3; complete: M = 5, sparse: 5 of 50 annotators an item",
        "N",
        [10**3, 10**4, 10**5, 10**6, 10**7],
        lambda n, sparse: Point(n, 50 if sparse else 5, 3, sparse),
    )


def annotators() -> Section:
    return _swept(
        "Growth with annotators, K = 3; complete: N = 2,000, sparse: 5 labels an item, N = 20,000",
        "M",
        [3, 10, 30, 100, 300, 1000],
        lambda m, sparse: Point(20_000 if sparse else 2000, m, 3, sparse and m > SPARSE),
    )


def classes() -> Section:
    return _swept(
        "Growth with classes, N = 10,000; complete: M = 5, sparse: 5 of 50 annotators an item",
        "K",
        [2, 5, 10, 20, 50],
        lambda k, sparse: Point(10_000, 50 if sparse else 5, k, sparse),
    )


def _swept(
    title: str, axis: str, sizes: list[int], point: Callable[[int, bool], Point]
) -> Section:
    names = [f"{axis} = {size:,}" for size in sizes]
    section = Section(
        title,
        ["answers", "method", "measured", *names, "slope"],
        note="Time is relative to the first size. The slope is that of all time or memory on "
        "log axes, over the last three sizes.",
    )
    for sparse in (False, True):
        points = [point(size, sparse) for size in sizes]
        found = [in_child(costs, each) for each in points]
        labels = [each.n_items * (SPARSE if each.sparse else each.n_annotators) for each in points]
        for method, (what, which) in product(METHODS, MEASURED.items()):
            each_label = np.array([costs_of[method][which] for costs_of in found])
            shown = each_label if which else each_label / each_label[0]
            slope = np.polyfit(np.log(sizes[-3:]), np.log(each_label * labels)[-3:], 1)[0]
            cells = [f"{value:.3g}" for value in shown]
            kind = "sparse" if sparse else "complete"
            section.rows.append([kind, method, what, *cells, f"{slope:.2f}"])
    return section


def costs(point: Point) -> dict[str, Costs]:
    """Every method at one point, after a hundredth of the items, for which it compiles."""
    few, many = point.draw(max(point.n_items // 100, 500)), point.draw(point.n_items)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, method in METHODS.items():
            method(few)
            run = measured(partial(method, many), enough=0.1)
            n_bytes = max(run.mebibytes, 1 / 256) * 2**20  # a page, at least
            found[name] = Costs(run.seconds / many.n_labels, n_bytes / many.n_labels)
    return found
