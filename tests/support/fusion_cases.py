"""One table for every way that ``fuse`` decides, for tests that hold for all of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from scipy.special import softmax

from blindfuse import Fusion, Responses, Simulation, fuse, simulate
from blindfuse.simulation import simulate_scores
from blindfuse.typing import Codes
from experiments.ordinal_crowds import ordinal_crowd


@dataclass(frozen=True, eq=False)
class Case:
    """Responses to fuse, and the options of ``fuse``."""

    responses: Responses
    options: dict[str, Any] = field(default_factory=dict)


def independent(seed: int, n: int = 400, m: int = 6, missing: float = 0.4) -> Simulation:
    """Conditionally independent annotators of three classes, which are not equally frequent."""
    rng = np.random.default_rng(seed)
    return simulate(n, m, 3, rng, skill=0.3, missing=missing, prior=[0.2, 0.3, 0.5])


def copying(seed: int) -> Simulation:
    """Six of fifteen annotators copy one of two others most of the time."""
    rng = np.random.default_rng(seed)
    groups = [(0, 1, 2), (3, 4, 5)]
    options: dict[str, Any] = {"dependent_groups": groups, "copy_probability": 0.9}
    return simulate(800, 15, 3, rng, skill=0.2, missing=0.3, **options)


def pairs_of(drawn: Simulation, seed: int) -> Responses:
    """Two responses of every item, by annotators that are drawn at random."""
    matrix = np.array(drawn.responses.matrix())
    kept = np.random.default_rng(seed).random(matrix.shape).argsort(axis=1) < 2
    return Responses.from_matrix(np.where(kept, matrix, -1), classes=drawn.responses.classes)


def random_clicks(seed: int, n: int = 200, m: int = 4, share: float = 0.5) -> Codes:
    """Responses that do not depend on the item."""
    return (np.random.default_rng(seed).random((n, m)) < share).astype(np.intp)


def one_sided(seed: int) -> tuple[Responses, Codes]:
    """Eight sources that report the second class or abstain, one of both classes, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=1000)
    fires = rng.random((1000, 8)) < np.where(truth == 1, 0.5, 0.08)[:, None]
    both = np.where(rng.random(1000) < 0.7, truth, 1 - truth)
    matrix = np.column_stack([np.where(fires, 1, -1), both])
    return Responses.from_matrix(matrix, classes=[0, 1]), truth


def clusters(seed: int) -> Responses:
    """Clusters of three classes, numbered at random by every annotator."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=300)
    labels = np.stack([rng.permutation(4)[truth] for _ in range(8)], axis=1)
    labels[rng.random(labels.shape) < 0.25] = 3
    return Responses.from_clusters(labels, classes=3)


def outvoted(seed: int) -> tuple[Responses, Codes]:
    """Annotators report the second class for three of ten items of it, so votes miss most."""
    rng = np.random.default_rng(seed)
    truth = rng.random(800) < 0.4
    reported = rng.random((800, 9)) < np.where(truth, 0.3, 0.03)[:, None]
    return Responses.from_matrix(reported.astype(int)), truth.astype(np.intp)


def _scores(seed: int, n_annotators: int, n_classes: int = 2, missing: float = 0.3) -> Responses:
    rng = np.random.default_rng(seed)
    return simulate_scores(400, n_annotators, 6, n_classes, rng, missing=missing).responses


def _gold(seed: int) -> Case:
    drawn = independent(seed)
    return Case(drawn.responses, {"gold": {i: int(drawn.truth[i]) for i in range(0, 100, 7)}})


def _prior_model(seed: int) -> Case:
    drawn = independent(seed)
    return Case(drawn.responses, {"prior_model": drawn.model})


def _probabilities(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    seen = 2 * np.eye(3)[rng.integers(3, size=300)][:, None] + rng.normal(size=(300, 6, 3))
    return Case(Responses.from_probabilities(softmax(seen, axis=2)))


def _ordered(seed: int) -> Case:
    return Case(ordinal_crowd("noise", 400, 12, seed).responses, {"ordered": True})


def _not_ordered(seed: int) -> Case:
    return Case(independent(seed).responses, {"ordered": True})


CASES: dict[str, Callable[[int], Case]] = {
    "plain": lambda seed: Case(independent(seed).responses),
    "gold": _gold,
    "prior model": _prior_model,
    "ordered": _ordered,
    "order that does not help": _not_ordered,
    "copying": lambda seed: Case(copying(seed).responses),
    "outvoted": lambda seed: Case(outvoted(seed)[0]),
    "one-sided": lambda seed: Case(one_sided(seed)[0]),
    "abstentions": lambda seed: Case(one_sided(seed)[0], {"abstentions": True}),
    "scores": lambda seed: Case(_scores(seed, 6)),
    "scores of three classes": lambda seed: Case(_scores(seed, 6, 3)),
    "scores of two annotators": lambda seed: Case(_scores(seed, 2, missing=0.0)),
    "probabilities": _probabilities,
    "clusters": lambda seed: Case(clusters(seed)),
    "two annotators": lambda seed: Case(independent(seed, m=2).responses),
    "one annotator": lambda seed: Case(independent(seed, m=1).responses),
    "two responses per item": lambda seed: Case(pairs_of(independent(seed, m=40, missing=0.0), 0)),
    "random clicks": lambda seed: Case(Responses.from_matrix(random_clicks(seed))),
    "one class": lambda seed: Case(
        Responses.from_matrix(np.zeros((20 + seed, 4), dtype=int), classes=[0, 1])
    ),
}
"""Name to table, given a seed. Items without responses are among those of ``independent``."""


@cache
def fuse_case(name: str, seed: int) -> Fusion:
    """The fusion of a table of CASES."""
    case = CASES[name](seed)
    return fuse(case.responses, **case.options)
