"""Estimated accuracies of annotators: on simulated crowds with known skills, and on public ones."""

import os
import warnings
from collections import Counter
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse import DawidSkene, Fusion, OneCoin, Responses, fuse
from blindfuse.datasets import Crowd, load
from blindfuse.diagnostics.annotators import Annotators
from blindfuse.metrics import error_rate
from blindfuse.model.posteriors import weighted_votes
from blindfuse.model.shrinkage import implied_model
from children import in_child, process_memory
from experiments.hard_to_rate import KINDS, hard_crowd
from experiments.skilled_crowds import (
    FAMILIES,
    N_SPECIAL,
    Family,
    skilled_crowd,
)
from report import Check, Section, public_data

Floats = NDArray[np.float64]

SEEDS = range(int(os.environ.get("BLINDFUSE_SEEDS", "10")))
SIZES: list[tuple[Family, int, int]] = [
    ("coin", 10, 300),
    *(
        (family, n_classes, n_responses)
        for family in FAMILIES
        for n_classes in (2, 5, 20, 50)
        for n_responses in (20, 100, 500, 2000)
    ),
]
MIN_GOLD = 20
"""Gold responses from which on an annotator's measured accuracy is compared."""


ERRORS_BEFORE = {"fewer than four": 14.794, "four or more": 21.910}
"""Mean error of DawidSkene in percent in version 0.1, by number of classes, without weak
supervision (sets that begin with ws_)."""
CORRELATION_BEFORE = 0.87
"""Median correlation of estimated and measured accuracies by `fuse` in version 0.1."""


class Ratings(NamedTuple):
    """Figures of one crowd.

    ``possible`` and ``possible_spread`` are the correlation and the spread of accuracies that the
    same prior gives where all classes are known.
    """

    correlation: float
    possible: float
    spread: float
    possible_spread: float
    coverage: float
    guessers: float
    error: float
    one_coin: float
    full: float
    unshrunk: float

    @property
    def best_error(self) -> float:
        """The error of the best rival."""
        return min(self.one_coin, self.full, self.unshrunk)


def rate(family: Family, n_classes: int, n_responses: int, seed: int) -> Ratings:
    crowd = skilled_crowd(family, n_classes, n_responses, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fusion = fuse(crowd.responses)
        rivals = OneCoin(), DawidSkene(shrinkage=3.0), DawidSkene(shrinkage=None)
        errors = [
            error_rate(method.fit(crowd.responses).posteriors_, crowd.truth) for method in rivals
        ]
    rated, true = fusion.diagnostics.annotators, crowd.model.accuracies
    known = implied_model(crowd.responses, np.eye(n_classes)[crowd.truth], None).accuracies
    estimates = rated.accuracy, known
    return Ratings._make(
        [
            *(float(np.corrcoef(estimate, true)[0, 1]) for estimate in estimates),
            *(float(estimate.std() / true.std()) for estimate in estimates),
            coverage(rated, true),
            float(rated.accuracy[:N_SPECIAL].mean()),
            error_rate(fusion.posteriors, crowd.truth),
            *errors,
        ]
    )


def coverage(rated: Annotators, true: Floats) -> float:
    """The share of annotators with responses whose interval contains the true accuracy."""
    inside = (rated.low <= true) & (true <= rated.high)
    return float(inside[rated.n_responses > 0].mean())


def simulated() -> Section:
    """Guessers, correlation, spread and coverage where the true accuracies are known."""
    section = Section(
        "Annotators: estimated accuracies of simulated crowds",
        [
            *("family", "classes", "responses"),
            *("correlation", "with known classes", "spread", "with known classes"),
            *("coverage", "guessers", "error"),
            *("best of one-coin and full", "standard error of the difference"),
        ],
        note="Means of ten crowds of 40 annotators, about six responses per item; five guess (in "
        "the adversarial family they avoid the true class). Spread is the standard deviation of "
        "estimated over true accuracies, coverage that of 95 % intervals. Where even known classes "
        "give a correlation below 0.98 or a spread beyond 15 %, because of the noise of few "
        "responses and the shrinkage that it calls for, the required figure is relative to that. "
        "The best of one-coin, full and unshrunk confusion matrices is the best over all ten "
        "crowds; with 20 responses per annotator these have 1,330 items, and two percent of the "
        "errors are two items.",
    )
    for family, n_classes, n_responses in SIZES:
        found = [rate(family, n_classes, n_responses, seed) for seed in SEEDS]
        mean = Ratings(*np.mean(found, axis=0).tolist())
        rival = [mean.one_coin, mean.full, mean.unshrunk].index(mean.best_error)
        differences = [one.error - one[-3 + rival] for one in found]
        noise = float(np.std(differences) / np.sqrt(max(len(found) - 1, 1)))
        section.rows.append(
            [
                *(family, str(n_classes), f"{n_responses:,}"),
                *("–" if np.isnan(value) else f"{value:.3f}" for value in mean[:6]),
                *(f"{100 * value:.1f} %" for value in (mean.error, mean.best_error, noise)),
            ]
        )
        name = f"{family}, K = {n_classes}, {n_responses:,} responses"
        section.checks += _checks(name, mean)
        if family == "coin" and n_classes >= 10:
            section.checks.append(Check(f"{name}: guessers", mean.guessers, 0.2))
    return section


def _checks(name: str, mean: Ratings) -> list[Check]:
    """Coverage, error, correlation and spread of one setting."""
    reachable = min(mean.possible, 1.0)
    correlation = 0.98 if reachable >= 0.98 else 0.98 * reachable
    is_shrunk = abs(mean.possible_spread - 1) > 0.15
    spread = mean.spread / mean.possible_spread if is_shrunk else mean.spread
    covered = round(mean.coverage, 9)
    return [
        Check(f"{name}: coverage", covered, 0.98),
        Check(f"{name}: coverage", covered, 0.92, at_most=False),
        Check(f"{name}: error over the best", mean.error / mean.best_error, 1.02),
        Check(f"{name}: correlation", mean.correlation, correlation, at_most=False),
        Check(f"{name}: |spread − 1|", abs(spread - 1), 0.15),
    ]


def families() -> Section:
    """Coverage of 95 % intervals where accuracies are hard to estimate."""
    section = Section(
        "Annotators: coverage of accuracy intervals by kind of crowd",
        ["kind", "coverage", "bias, points", "width", "error", "methods"],
        note="Means of ten crowds each, 95 % intervals; crowds in experiments/hard_to_rate.py.",
    )
    for kind in KINDS:
        figures, methods = [], Counter[str]()
        for seed in SEEDS:
            crowd = hard_crowd(kind, seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fusion = fuse(crowd.responses)
            rated, true = fusion.diagnostics.annotators, crowd.model.accuracies
            bias, width = rated.accuracy - true, rated.high - rated.low
            error = error_rate(fusion.posteriors, crowd.truth)
            figures.append([coverage(rated, true), 100 * bias.mean(), width.mean(), error])
            methods[fusion.method] += 1
        covered, bias, width, error = np.mean(figures, axis=0)
        used = ", ".join(f"{name} ({number})" for name, number in methods.most_common())
        numbers = f"{covered:.3f}", f"{bias:+.1f}", f"{width:.3f}", f"{100 * error:.1f} %"
        section.rows.append([kind, *numbers, used])
        section.checks.append(Check(f"{kind}: coverage", float(covered), 0.9, at_most=False))
    return section


def measured_accuracies(
    responses: Responses, truth: NDArray[np.intp]
) -> tuple[Floats, NDArray[np.intp]]:
    """Shares of correct responses on gold items, and their numbers, ``[annotator]`` each."""
    items = responses.item_of_response()
    has_gold = truth[items] >= 0
    right = responses.by_item.symbols == truth[items]
    annotators, M = responses.by_item.codes, responses.n_annotators
    number = np.bincount(annotators[has_gold], minlength=M)
    correct = np.bincount(annotators[has_gold & right], minlength=M)
    return correct / np.maximum(number, 1), number


def public() -> Section:
    """Estimated beside measured accuracies, and errors of Dawid–Skene, on public crowds."""
    section = Section(
        "Annotators: estimated and measured accuracies of public crowds",
        [
            *("set", "classes", "annotators", "correlation", "spread"),
            *("spread of agreement", "coverage", "DawidSkene error"),
        ],
        note=f"Annotators with at least {MIN_GOLD} gold responses; sets with fewer than five of "
        "them have no correlation. Ratings are those of `fuse`. The spread of agreement is that of "
        "the share of other annotators' responses to the same items that are equal, which no model "
        "and no label is needed for, over the spread of measured accuracies: where even that is "
        "far above one, agreement does not show accuracy.",
    )
    folder = public_data()
    errors: dict[str, list[float]] = {name: [] for name in ERRORS_BEFORE}
    correlations, coverages = [], []
    for name in sorted(path.name for path in (Path(folder) / "crowd").iterdir()):
        crowd = load(name, folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            error = 100 * error_rate(DawidSkene().fit(crowd.responses).posteriors_, crowd.truth)
            figures = compare_ratings(fuse(crowd.responses), crowd)
        K, M = crowd.responses.n_classes, crowd.responses.n_annotators
        shown = ["–"] * 4 if figures is None else [f"{figure:.2f}" for figure in figures]
        section.rows.append([name, str(K), f"{M:,}", *shown, f"{error:.2f} %"])
        if name.startswith("ws_"):
            continue
        errors["fewer than four" if K < 4 else "four or more"].append(error)
        if figures is not None:
            correlations.append(figures.correlation)
            coverages.append(figures.coverage)
            factor = max(figures.spread, 1 / figures.spread)
            section.checks.append(Check(f"{name}: spread, factor", factor, 1.5))
        if name == "web":
            section.checks.append(Check("web: error of DawidSkene, %", error, 16))
    section.checks += [
        Check(f"mean error of DawidSkene, {classes} classes, %", float(np.mean(found)), before)
        for (classes, found), before in zip(errors.items(), ERRORS_BEFORE.values(), strict=True)
    ]
    median = float(np.median(correlations))
    section.checks += [
        Check("median correlation", median, CORRELATION_BEFORE, at_most=False),
        Check("mean coverage", float(np.mean(coverages)), 0.85, at_most=False),
    ]
    return section


class Compared(NamedTuple):
    """Estimated compared with measured accuracies; spreads are without sampling noise."""

    correlation: float
    spread: float
    agreement_spread: float
    coverage: float


def compare_ratings(fusion: Fusion, crowd: Crowd) -> Compared | None:
    accuracy, number = measured_accuracies(crowd.responses, crowd.truth)
    chosen = number >= MIN_GOLD
    if np.count_nonzero(chosen) < 5:
        return None
    rated = fusion.diagnostics.annotators
    estimated, measured = rated.accuracy[chosen], accuracy[chosen]
    noise = np.mean(measured * (1 - measured) / number[chosen])
    deviation = np.sqrt(max(measured.var() - noise, 1e-9))
    inside = (rated.low[chosen] <= measured) & (measured <= rated.high[chosen])
    return Compared(
        float(np.corrcoef(estimated, measured)[0, 1]),
        float(estimated.std() / deviation),
        float(agreement_with_others(crowd.responses)[chosen].std() / deviation),
        float(inside.mean()),
    )


def agreement_with_others(responses: Responses) -> Floats:
    """Share of other annotators' responses to the same items that are equal, ``[annotator]``."""
    items, (_, annotators, symbols) = responses.item_of_response(), responses.by_item
    votes = weighted_votes(responses)[items]
    equal = votes[np.arange(len(items)), symbols] - 1
    M, others = responses.n_annotators, votes.sum(axis=1) - 1
    number = np.bincount(annotators, others, minlength=M)
    return np.bincount(annotators, equal, minlength=M) / np.maximum(number, 1)


DIAGNOSED = [
    (2_000, 20, 50),
    (2_000, 20, 100),
    (2_000, 20, 300),
    (200, 20, 203),
    (20_000, 5_000, 50),
    (400_000, 1_000_000, 10),
]
"""Items, annotators and classes."""


def diagnostics() -> Section:
    """Time and memory of the diagnostics, compared with those of the fusion."""
    section = Section(
        "Diagnostics: time and memory compared with the fusion",
        [
            *("items", "annotators", "classes", "fusion, s", "diagnostics, s"),
            "peak memory / fusion's",
        ],
        note="Processor time, which does not depend on what else the machine does.",
    )
    for size in DIAGNOSED:
        n_items = size[0]
        fused, diagnosed, before, after = in_child(time_diagnostics, *size, timeout=1200)
        seconds = f"{fused:.1f}", f"{diagnosed:.1f}"
        section.rows.append([*(f"{one:,}" for one in size), *seconds, f"{after / before:.2f}"])
        name = f"{size[1]:,} annotators, K = {size[2]}"
        section.checks += [
            Check(f"{name}: seconds beyond the fusion's", diagnosed - fused, 1),
            *([Check(f"{name}: seconds of the fusion", fused, 3)] if n_items <= 200 else []),
            Check(f"{name}: peak memory / fusion's", after / before, 2),
        ]
    return section


def time_diagnostics(n_items: int, n_annotators: int, n_classes: int) -> tuple[float, ...]:
    """Processor seconds of fusion and diagnostics, and peak memory of the process after each."""
    _ = fuse(_sparse_crowd(60, 20, n_classes)).diagnostics  # compile
    responses = _sparse_crowd(n_items, n_annotators, n_classes)
    started = process_time()
    fusion = fuse(responses)
    fused, before = process_time(), process_memory("VmHWM")
    _ = fusion.diagnostics
    return fused - started, process_time() - fused, before, process_memory("VmHWM")


def _sparse_crowd(n_items: int, n_annotators: int, n_classes: int) -> Responses:
    """Five responses per item by annotators with accuracies of 30 to 95 %."""
    rng, per_item = np.random.default_rng(0), 5
    truth = np.repeat(rng.integers(n_classes, size=n_items), per_item)
    first = rng.integers(n_annotators, size=n_items)[:, None]
    annotators = (first + np.arange(per_item) * (n_annotators // per_item)) % n_annotators
    right = rng.random(truth.size) < rng.uniform(0.3, 0.95, n_annotators)[annotators.ravel()]
    return Responses.from_codes(
        np.repeat(np.arange(n_items), per_item),
        annotators.ravel(),
        np.where(right, truth, rng.integers(n_classes, size=truth.size)),
        items=np.arange(n_items),
        annotators=np.arange(n_annotators),
        classes=np.arange(n_classes),
    )
