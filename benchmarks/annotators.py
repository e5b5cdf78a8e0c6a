"""Estimated accuracies of annotators: on simulated crowds with known skills, and on public ones."""

import os
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse import DawidSkene, Fusion, OneCoin, fuse
from blindfuse.datasets import Crowd, load
from blindfuse.metrics import error_rate
from experiments.skilled_crowds import FAMILIES, N_SPECIAL, Family, skilled_crowd
from report import Check, Section, to_text

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


class Ratings(NamedTuple):
    """Figures of one crowd."""

    correlation: float
    spread: float
    coverage: float
    guessers: float
    error: float
    best_error: float


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
    return Ratings(
        float(np.corrcoef(rated.accuracy, true)[0, 1]),
        float(rated.accuracy.std() / true.std()),
        float(np.mean((rated.low <= true) & (true <= rated.high))),
        float(rated.accuracy[:N_SPECIAL].mean()),
        error_rate(fusion.posteriors, crowd.truth),
        min(errors),
    )


def simulated(sizes: list[tuple[Family, int, int]] | None = None) -> Section:
    """Guessers, correlation, spread and coverage where the true accuracies are known."""
    section = Section(
        "Annotators: estimated accuracies of simulated crowds",
        [
            *("family", "classes", "responses", "correlation", "spread", "coverage"),
            *("guessers", "error", "best of one-coin and full"),
        ],
        note="Means of ten crowds of 40 annotators, about six responses per item; five guess (in "
        "the adversarial family they avoid the true class). Spread is the standard deviation of "
        "estimated over true accuracies, coverage that of 95 % intervals.",
    )
    for family, n_classes, n_responses in sizes or SIZES:
        found = [rate(family, n_classes, n_responses, seed) for seed in SEEDS]
        mean = Ratings(*np.mean(found, axis=0).tolist())
        section.rows.append(
            [
                *(family, str(n_classes), f"{n_responses:,}"),
                *(f"{value:.3f}" for value in mean[:4]),
                *(f"{100 * value:.1f} %" for value in mean[4:]),
            ]
        )
        name = f"{family}, K = {n_classes}, {n_responses:,} responses"
        section.checks += [
            Check(f"{name}: coverage", mean.coverage, 0.98),
            Check(f"{name}: coverage", mean.coverage, 0.92, at_most=False),
            Check(f"{name}: error over the best", mean.error / mean.best_error, 1.02),
        ]
        if n_responses >= 300:
            section.checks += [
                Check(f"{name}: correlation", mean.correlation, 0.98, at_most=False),
                Check(f"{name}: |spread − 1|", abs(mean.spread - 1), 0.15),
            ]
        if family == "coin" and n_classes >= 10:
            section.checks.append(Check(f"{name}: guessers", mean.guessers, 0.2))
        print(" ".join(section.rows[-1]), flush=True)
    return section


def measured_accuracies(crowd: Crowd) -> tuple[Floats, NDArray[np.intp]]:
    """Shares of correct responses on gold items, and their numbers, ``[annotator]`` each."""
    responses = crowd.responses
    items = responses.item_of_response()
    has_gold = crowd.truth[items] >= 0
    right = responses.by_item.symbols == crowd.truth[items]
    annotators, M = responses.by_item.codes, responses.n_annotators
    number = np.bincount(annotators[has_gold], minlength=M)
    correct = np.bincount(annotators[has_gold & right], minlength=M)
    return correct / np.maximum(number, 1), number


def public(names: list[str] | None = None) -> Section:
    """Estimated beside measured accuracies, and errors of Dawid–Skene, on public crowds."""
    section = Section(
        "Annotators: estimated and measured accuracies of public crowds",
        ["set", "classes", "annotators", "correlation", "spread", "coverage", "DawidSkene error"],
        note=f"Annotators with at least {MIN_GOLD} gold responses; sets with fewer than five of "
        "them have no correlation.",
    )
    folder = os.environ.get("BLINDFUSE_DATA")
    if folder is None:
        section.note = "Left out: set BLINDFUSE_DATA to the folder of the datasets."
        return section
    for name in names or sorted(path.name for path in (Path(folder) / "crowd").iterdir()):
        crowd = load(name, folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            error = error_rate(DawidSkene().fit(crowd.responses).posteriors_, crowd.truth)
            figures = compared(fuse(crowd.responses), crowd)
        size = [str(crowd.responses.n_classes), f"{crowd.responses.n_annotators:,}"]
        section.rows.append([name, *size, *figures, f"{100 * error:.2f} %"])
        print(" ".join(section.rows[-1]), flush=True)
    return section


def compared(fusion: Fusion, crowd: Crowd) -> list[str]:
    accuracy, number = measured_accuracies(crowd)
    chosen = number >= MIN_GOLD
    if np.count_nonzero(chosen) < 5:
        return ["–"] * 3
    rated = fusion.diagnostics.annotators
    estimated, measured = rated.accuracy[chosen], accuracy[chosen]
    noise = np.mean(measured * (1 - measured) / number[chosen])
    spread = estimated.std() / np.sqrt(max(measured.var() - noise, 1e-9))
    inside = (rated.low[chosen] <= measured) & (measured <= rated.high[chosen])
    correlation = np.corrcoef(estimated, measured)[0, 1]
    return [f"{correlation:.2f}", f"{spread:.2f}", f"{inside.mean():.2f}"]


if __name__ == "__main__":
    if sys.argv[1] == "public":
        print(to_text(public(sys.argv[2:])))
    else:
        chosen = [(a, int(b), int(c)) for a, b, c in (one.split("-") for one in sys.argv[2:])]
        print(to_text(simulated(chosen)))  # type: ignore[arg-type]
