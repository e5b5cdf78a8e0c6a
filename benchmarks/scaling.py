"""How cost grows with items, annotators and classes: time and peak memory a label.

One axis at a time, complete and sparse; every method at every point in a process of its own.
"""

import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from multiprocessing import TimeoutError
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse import BlindEnsemble, DawidSkene, Responses, fuse, simulate
from children import in_child, measured
from report import Section

SPARSE = 5
"""Labels an item in sparse crowds."""

PATIENCE = 60
"""Seconds that a method may take at a point, with the drawing of answers and compiling."""

PAGE = 4096
"""Bytes: the least that can be measured."""

Floats = NDArray[Any]


class Point(NamedTuple):
    """A size of the work; ``sparse`` answers are SPARSE an item."""

    n_items: int
    n_annotators: int
    n_classes: int
    sparse: bool

    @property
    def n_responses(self) -> int:
        return self.n_items * (SPARSE if self.sparse else self.n_annotators)

    def draw(self, n_items: int) -> Responses:
        N, M, K = n_items, self.n_annotators, self.n_classes
        missing = 1 - SPARSE / M if self.sparse else 0.0
        return simulate(N, M, K, np.random.default_rng(0), skill=0.7, missing=missing).responses


class Costs(NamedTuple):
    """Seconds and bytes a label; not numbers, if it took too long."""

    seconds: float
    n_bytes: float


TOO_LONG = Costs(np.nan, np.nan)


def by_dawid_skene(responses: Responses) -> object:
    return DawidSkene().fit(responses)


def by_blind_ensemble(responses: Responses) -> object:
    return BlindEnsemble().fit(responses)


METHODS: dict[str, Callable[[Responses], object]] = {
    "DawidSkene": by_dawid_skene,
    "BlindEnsemble": by_blind_ensemble,
    "fuse": fuse,
}


def items() -> Section:
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
        [3, 10, 100, 1000],
        lambda m, sparse: Point(20_000 if sparse else 2000, m, 3, sparse and m > SPARSE),
    )


def classes() -> Section:
    return _swept(
        "Growth with classes, N = 5,000; complete: M = 10, sparse: 5 of 50 annotators an item",
        "K",
        [2, 5, 20, 50],
        lambda k, sparse: Point(5000, 50 if sparse else 10, k, sparse),
    )


def _swept(title: str, axis: str, sizes: list[int], point: Callable[[int, bool], Point]) -> Section:
    """A row for each method and kind of answers: time, and memory, along one axis."""
    section = Section(
        title,
        ["answers", "method", "a label", *(f"{axis} = {size:,}" for size in sizes), "slope"],
        note=f"Time is relative to the first size. A dash: with drawing and compiling, more "
        f"than {PATIENCE} seconds. "
        "The slope is that of the whole time or memory on log axes, over the last three sizes.",
    )
    for sparse, method in product((False, True), METHODS):
        points = [point(size, sparse) for size in sizes]
        seconds, n_bytes = np.array([_costs_at(each, method) for each in points]).T
        labels = np.array([each.n_responses for each in points])
        kind = "sparse" if sparse else "complete"
        for what, found, shown in (
            ("time", seconds, _relative(seconds)),
            ("bytes", n_bytes, n_bytes),
        ):
            cells = [*shown, _slope(np.array(sizes), found * labels)]
            section.rows.append([kind, method, what, *map(_cell, cells)])
    return section


def _relative(seconds: Floats) -> Floats:
    known = seconds[~np.isnan(seconds)]
    return np.asarray(seconds / known[0]) if len(known) else seconds


def _slope(sizes: Floats, costs: Floats) -> float:
    known = np.flatnonzero(~np.isnan(costs))[-3:]
    if len(known) < 2:
        return np.nan
    return float(np.polyfit(np.log(sizes[known]), np.log(costs[known]), 1)[0])


def _cell(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3g}"


def _costs_at(point: Point, method: str) -> Costs:
    try:
        return in_child(costs, point, method, patience=PATIENCE)
    except TimeoutError:
        return TOO_LONG


def costs(point: Point, method: str) -> Costs:
    """One method at one point, after a hundredth of the items, for which it compiles."""
    few, many = point.draw(max(point.n_items // 100, 500)), point.draw(point.n_items)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        METHODS[method](few)
        run = measured(partial(METHODS[method], many), enough=0.1)
    n_bytes = max(run.mebibytes * 2**20, PAGE)
    return Costs(run.seconds / many.n_responses, n_bytes / many.n_responses)
