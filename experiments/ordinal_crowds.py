"""Simulated crowds with five ordered classes, in which annotators confuse neighbours."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from blindfuse import Model, Responses, Simulation

Floats = NDArray[np.float64]
OrdinalKind = Literal["noise", "neighbours", "distance", "unordered"]
ORDINAL_KINDS: tuple[OrdinalKind, ...] = get_args(OrdinalKind)
"""Perception with bias and noise; wrong responses are neighbours; the probability of a response
falls with its distance from the class; wrong responses are any other class."""

N_CLASSES, RESPONSES_PER_ITEM = 5, 5


def ordinal_crowd(kind: OrdinalKind, n_items: int, n_annotators: int, seed: int) -> Simulation:
    """Draw a crowd in which five annotators respond to each item."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(N_CLASSES, 8.0))
    truth = rng.choice(N_CLASSES, n_items, p=prior)
    confusions = np.stack([_confusions(kind, rng) for _ in range(n_annotators)])
    chosen = rng.random((n_items, n_annotators)).argsort(axis=1) < RESPONSES_PER_ITEM
    limits = confusions.cumsum(axis=1)[:, :, truth]
    drawn = (rng.random((n_annotators, 1, n_items)) > limits).sum(axis=1).T
    matrix = np.where(chosen, np.minimum(drawn, N_CLASSES - 1), -1)
    responses = Responses.from_matrix(matrix, classes=np.arange(N_CLASSES))
    return Simulation(
        responses, truth, Model(confusions, prior, responses.annotators, responses.classes)
    )


def _confusions(kind: OrdinalKind, rng: np.random.Generator) -> Floats:
    """The confusion matrix ``[reported, true]`` of one annotator."""
    reported, true = np.indices((N_CLASSES, N_CLASSES))
    distance = np.abs(reported - true)
    if kind == "noise":
        fine = np.linspace(-4, 4, 2001)  # perceived positions, in standard deviations
        weights = np.exp(-(fine**2) / 2)
        perceived = (
            np.arange(N_CLASSES) + rng.normal(0, 0.3) + np.outer(fine, [rng.uniform(0.3, 1.2)])
        )
        nearest = np.clip(np.rint(perceived), 0, N_CLASSES - 1)
        matrix = np.stack([(nearest == a).T @ weights for a in range(N_CLASSES)])
    elif kind == "distance":
        matrix = np.exp(-rng.uniform(0.3, 2.5) * distance)
    else:
        accuracy = rng.uniform(0.4, 0.95)
        wrong = (distance == 1) if kind == "neighbours" else (distance > 0)
        matrix = np.where(distance == 0, accuracy, (1 - accuracy) * wrong / wrong.sum(axis=0))
    return np.asarray(matrix / matrix.sum(axis=0))
