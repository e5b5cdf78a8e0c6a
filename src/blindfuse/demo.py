"""The main job on data that needs no network: 15 classifiers look at handwritten digits.

As in Section V-B of the paper: each classifier (nearest neighbours, support vector machines,
trees) is trained on its own small random subset of scikit-learn's bundled digits and then labels
all of them. blindfuse sees their answers only; the truth is used to measure the errors.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits

from blindfuse import DawidSkene, Fusion, fuse
from blindfuse.checking import GoldCheck, check_on_gold
from blindfuse.experiments.ensembles import answers
from blindfuse.metrics import error_rate

SUBSET = 100


@dataclass(frozen=True)
class Judged:
    """A classifier's accuracy, as estimated without the truth and as it really is."""

    name: str
    blind: float
    true: float


@dataclass(frozen=True, eq=False)
class Demo:
    """A fusion, the truth that it has not seen, and what that says of it.

    ``annotators`` are from the best to the worst; ``errors`` are shares of wrong labels, by what
    they were labelled.
    """

    fusion: Fusion
    truth: dict[int, int]
    check: GoldCheck
    annotators: list[Judged]
    errors: dict[str, float]


def play(step: Callable[[str], None] = lambda step: None) -> Demo:
    """Train, fuse, and look the truth up; ``step`` is told what comes next."""
    step("training 15 classifiers on 100 digits each")
    pixels, truth = load_digits(return_X_y=True)
    responses = answers(pixels, truth, SUBSET, np.random.default_rng(0))
    step("fusing their answers")
    fusion = fuse(responses)
    known = dict(enumerate(truth.tolist()))
    check = check_on_gold(fusion, known)
    blind = fusion.diagnostics.annotators.accuracy
    true = (responses.matrix() == truth[:, None]).mean(axis=0)
    judged = [Judged(str(responses.annotators[m]), blind[m], true[m]) for m in np.argsort(-blind)]
    plain = DawidSkene().fit(responses)
    errors = {
        "best single annotator": float(1 - true.max()),
        "majority vote": check.vote.value,
        "Dawid–Skene": error_rate(plain.posteriors_, truth),
        "blindfuse": check.error.value,
    }
    return Demo(fusion, known, check, judged, errors)
