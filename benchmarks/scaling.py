"""Growth of time and peak memory per label with items, annotators and classes.

One parameter varies at a time, with complete and sparse responses. Every method runs at every point
in its own process.
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
from children import in_child, measure
from report import Section

SPARSE_LABELS = 5
"""Labels per item in sparse crowds."""

TIMEOUT_SECONDS = 60
"""Maximum seconds of a method at a point, simulation and compilation included."""

PAGE_BYTES = 4096
"""Smallest amount of memory that can be measured."""

Floats = NDArray[Any]


class Point(NamedTuple):
    """Sizes of the simulated responses; ``sparse`` ones have SPARSE_LABELS labels per item."""

    n_items: int
    n_annotators: int
    n_classes: int
    sparse: bool

    @property
    def n_responses(self) -> int:
        return self.n_items * (SPARSE_LABELS if self.sparse else self.n_annotators)

    def draw(self, n_items: int) -> Responses:
        N, M, K = n_items, self.n_annotators, self.n_classes
        missing = 1 - SPARSE_LABELS / M if self.sparse else 0.0
        return simulate(N, M, K, np.random.default_rng(0), skill=0.7, missing=missing).responses


class Costs(NamedTuple):
    """Seconds and bytes per label; NaN after a timeout."""

    seconds: float
    n_bytes: float


TIMED_OUT = Costs(np.nan, np.nan)


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
    return _growth(
        "Growth with items, K = 3; complete: M = 5, sparse: 5 of 50 annotators per item",
        "N",
        [10**3, 10**4, 10**5, 10**6, 10**7],
        lambda n, sparse: Point(n, 50 if sparse else 5, 3, sparse),
    )


def annotators() -> Section:
    return _growth(
        "Growth with annotators, K = 3; complete: N = 2,000, sparse: 5 labels per item, N = 20,000",
        "M",
        [3, 10, 100, 1000],
        lambda m, sparse: Point(20_000 if sparse else 2000, m, 3, sparse and m > SPARSE_LABELS),
    )


def classes() -> Section:
    return _growth(
        "Growth with classes, N = 5,000; complete: M = 10, sparse: 5 of 50 annotators per item",
        "K",
        [2, 5, 20, 50],
        lambda k, sparse: Point(5000, 50 if sparse else 10, k, sparse),
    )


def _growth(
    title: str, axis: str, sizes: list[int], point: Callable[[int, bool], Point]
) -> Section:
    """Return rows of time and memory along one axis, per method, complete and sparse."""
    section = Section(
        title,
        ["responses", "method", "per label", *(f"{axis} = {size:,}" for size in sizes), "slope"],
        note="Time is relative to the first size. A dash: more than "
        f"{TIMEOUT_SECONDS} seconds, simulation and compilation included. "
        "The slope is that of the total time or memory on log axes over the last three sizes.",
    )
    for sparse, method in product((False, True), METHODS):
        points = [point(size, sparse) for size in sizes]
        seconds, n_bytes = np.array([_costs_at(each, method) for each in points]).T
        labels = np.array([each.n_responses for each in points])
        density = "sparse" if sparse else "complete"
        for quantity, values, shown in (
            ("time", seconds, _relative(seconds)),
            ("bytes", n_bytes, n_bytes),
        ):
            cells = [*shown, _slope(np.array(sizes), values * labels)]
            section.rows.append([density, method, quantity, *map(_cell, cells)])
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
        return in_child(costs, point, method, timeout=TIMEOUT_SECONDS)
    except TimeoutError:
        return TIMED_OUT


def costs(point: Point, method: str) -> Costs:
    """Measure a method at a point, after a run on a hundredth of the items to compile."""
    few, many = point.draw(max(point.n_items // 100, 500)), point.draw(point.n_items)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        METHODS[method](few)
        run = measure(partial(METHODS[method], many), min_seconds=0.1)
    n_bytes = max(run.mebibytes * 2**20, PAGE_BYTES)
    return Costs(run.seconds / many.n_responses, n_bytes / many.n_responses)
