"""Simulated crowds whose annotators differ in skill, for testing the estimates of accuracy.

Forty annotators label the same number of items each, about six per item, and five of them guess.
"""

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from blindfuse import Model, Responses, Simulation

Floats = NDArray[np.float64]
Family = Literal["coin", "class", "biased", "adversarial"]
FAMILIES: tuple[Family, ...] = get_args(Family)
"""One accuracy per annotator; accuracies that vary by class, with own confusions; a favourite
wrong class; and annotators who avoid the true class instead of guessing."""

N_ANNOTATORS, N_SPECIAL, RESPONSES_PER_ITEM = 40, 5, 6
"""Annotators, those of them who guess (or are adversarial, the first ones), responses per item."""


def skilled_crowd(family: Family, n_classes: int, n_responses: int, seed: int) -> Simulation:
    """Draw a crowd in which every annotator gives ``n_responses`` responses."""
    rng = np.random.default_rng(seed)
    n_items = max(N_ANNOTATORS * n_responses // RESPONSES_PER_ITEM, 30)
    truth = rng.choice(n_classes, size=n_items, p=rng.dirichlet(np.full(n_classes, 10.0)))
    confusions = np.stack([_confusions(family, m, n_classes, rng) for m in range(N_ANNOTATORS)])
    items = [rng.choice(n_items, min(n_responses, n_items), replace=False) for _ in confusions]
    symbols = [
        _draw(confusion, truth[own], rng) for confusion, own in zip(confusions, items, strict=True)
    ]
    annotators = np.repeat(np.arange(N_ANNOTATORS), [len(own) for own in items])
    return as_simulation(
        np.concatenate(items), annotators, np.concatenate(symbols), truth, confusions
    )


def as_simulation(
    items: NDArray[Any],
    annotators: NDArray[Any],
    symbols: NDArray[Any],
    truth: NDArray[Any],
    confusions: Floats,
) -> Simulation:
    """The simulation of these responses, whose model has the class proportions of the truth."""
    M, K, _ = confusions.shape
    responses = Responses.from_codes(
        items,
        annotators,
        symbols,
        items=np.arange(len(truth)),
        annotators=np.arange(M),
        classes=np.arange(K),
    )
    prior = np.bincount(truth, minlength=K) / len(truth)
    return Simulation(
        responses, truth, Model(confusions, prior, responses.annotators, responses.classes)
    )


def _confusions(family: Family, m: int, K: int, rng: np.random.Generator) -> Floats:
    """The confusion matrix ``[reported, true]`` of annotator m."""
    skill = 1 / K + (1 - 1 / K) * rng.beta(2, 1.5)
    special = m < N_SPECIAL
    recalls = np.full(K, skill)
    if special:
        recalls = np.full(K, 0.3 / K if family == "adversarial" else 1 / K)
    elif family == "class":
        recalls = 1 / (1 + np.exp(-np.log(skill / (1 - skill)) - rng.normal(0, 0.8, K)))
    others = np.ones((K, K))
    if family == "class" and not special:
        others = rng.dirichlet(np.ones(K), size=K).T
    elif family == "biased" and not special:
        others[m % K] = 2.0 * K
    others[np.diag_indices(K)] = 0
    return np.asarray(others / others.sum(axis=0) * (1 - recalls) + np.diag(recalls))


def _draw(confusion: Floats, truth: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    limits = confusion.cumsum(axis=0)[:, truth]
    reported = (rng.random(len(truth)) > limits).sum(axis=0)
    return np.asarray(np.minimum(reported, len(confusion) - 1))
