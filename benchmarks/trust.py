"""fuse with ordered classes, and with labels that next_labels chooses."""

import os

import numpy as np
from numpy.typing import NDArray

from blindfuse import (
    Fusion,
    OrdinalDawidSkene,
    Responses,
    fuse,
    next_labels,
    simulate,
)
from blindfuse.datasets import load
from blindfuse.metrics import error_rate
from blindfuse.model.posteriors import vote_posteriors
from experiments.ordinal_crowds import ORDINAL_KINDS, ordinal_crowd
from report import Check, Section

Floats = NDArray[np.float64]


def has_data() -> bool:
    return "BLINDFUSE_DATA" in os.environ


def error_percent(posteriors: Floats, truth: NDArray[np.intp]) -> float:
    return 100 * error_rate(posteriors, truth)


def ordered() -> Section:
    """Ordered classes: simulated crowds that confuse neighbours, and two public ones."""
    section = Section(
        "Ordered classes, error %",
        ["responses", "vote", "fuse", "fuse, ordered", "expected", "share with OrdinalDawidSkene"],
        note="Simulated: 1,000 items, 20 annotators, 5 responses per item, 20 seeds.",
    )
    for kind in ORDINAL_KINDS:
        drawn = [ordinal_crowd(kind, 1000, 20, seed) for seed in range(20)]
        rows = [_order_errors(one.responses, one.truth) for one in drawn]
        vote, unordered, with_order, expected, used = np.mean(rows, axis=0)
        _add_ordered(section, kind, vote, unordered, with_order, expected, used)
        paired = np.diff(np.array(rows)[:, 1:3], axis=1)[:, 0]
        noise = 2 * paired.std() / np.sqrt(len(rows))
        section.checks += [
            Check(f"{kind}: ordered minus unordered, points", with_order - unordered, noise),
            Check(f"{kind}: |expected / actual − 1|", abs(expected / with_order - 1), 0.3),
        ]
        if kind == "noise":
            section.checks.append(Check("noise: ordered / unordered", with_order / unordered, 0.9))
    for name in ("web", "adult") if has_data() else ():
        crowd = load(name)
        _add_ordered(section, name, *_order_errors(crowd.responses, crowd.truth))
    return section


def _order_errors(responses: Responses, truth: NDArray[np.intp]) -> tuple[float, ...]:
    """Errors of the vote and of fuse without and with the order, what is expected, and if used."""
    unordered, with_order = fuse(responses), fuse(responses, ordered=True)
    assert with_order.expected_error is not None
    found = vote_posteriors(responses), unordered.posteriors, with_order.posteriors
    return (
        *(error_percent(posteriors, truth) for posteriors in found),
        100 * with_order.expected_error.value,
        float(isinstance(with_order.evidence.fitted, OrdinalDawidSkene)),
    )


def _add_ordered(section: Section, name: str, *figures: float) -> None:
    section.rows.append([name, *(f"{figure:.2f}" for figure in figures)])


def choosing_labels() -> Section:
    """Labels chosen by next_labels compared with labels chosen at random, in a simulation."""
    section = Section(
        "Choosing labels: 1,000 items, 20 annotators, 3 labels per item + 200 per step; 3 seeds",
        ["additional labels", "error %, random", "error %, next_labels"],
        note="next_labels may choose at most 40 labels per annotator and step, 4 times the mean.",
    )
    runs = [_errors_by_step(seed) for seed in range(3)]
    random, chosen = (np.mean(errors, axis=0) for errors in zip(*runs, strict=True))
    for step in (1, 4, 8, 12):
        errors = random[step - 1], chosen[step - 1]
        section.rows.append([f"{200 * step:,}", *(f"{error:.1f}" for error in errors)])
    reached = np.flatnonzero(chosen <= random[-1])
    share = (reached[0] + 1) / len(random) if len(reached) else np.inf
    section.checks = [
        Check("share of labels to reach the final error of random choice", share, 0.7)
    ]
    return section


def _errors_by_step(seed: int, steps: int = 12) -> tuple[list[float], list[float]]:
    """Return the error in percent after each step, for random choice and for next_labels."""
    rng = np.random.default_rng(seed)
    full = simulate(1000, 20, 3, rng, skill=0.2)
    matrix = np.array(full.responses.matrix())
    first = rng.random(matrix.shape).argsort(axis=1) < 3

    def fuse_labelled(labelled: NDArray[np.bool_]) -> Fusion:
        return fuse(Responses.from_matrix(np.where(labelled, matrix, -1), classes=[0, 1, 2]))

    def errors_by_step(random: bool) -> list[float]:
        labelled, errors, current = first.copy(), [], fuse_labelled(first)
        for _ in range(steps):
            if random:
                unlabelled = np.argwhere(~labelled)
                chosen = rng.choice(len(unlabelled), 200, replace=False)
                items, annotators = unlabelled[chosen].T
            else:
                suggestion = next_labels(current, 200, max_per_annotator=40)
                items, annotators = suggestion.items, suggestion.annotators
            labelled[items, annotators] = True
            current = fuse_labelled(labelled)
            errors.append(error_percent(current.posteriors, full.truth))
        return errors

    return errors_by_step(random=True), errors_by_step(random=False)
