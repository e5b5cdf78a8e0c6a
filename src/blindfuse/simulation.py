"""Synthetic ensembles and crowds, as in Section V-A of the paper."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blindfuse.errors import BadParameter
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated answers with what is never known in earnest.

    ``truth[item]`` are class codes; ``model`` holds the true confusion matrices and prior. With
    copying, these are each annotator's own marginal ones, but answers are no longer independent.
    """

    responses: Responses
    truth: NDArray[np.intp]
    model: Model


def simulate(
    n_items: int,
    n_annotators: int,
    n_classes: int,
    rng: np.random.Generator,
    *,
    prior: ArrayLike | None = None,
    skill: float = 0.0,
    missing: float = 0.0,
    adversaries: float = 0.0,
    cliques: Sequence[Sequence[int]] = (),
    copying: float = 0.0,
) -> Simulation:
    """Draw a truth, annotators and their answers.

    Parameters
    ----------
    prior ``[class]``
        π; uniform if not given.
    skill
        The paper only says that annotators are better than random. Here every column of Γ_m is
        uniform on the simplex, with its largest entry moved to the diagonal, and then mixed with
        the identity: ``skill=0`` is that family itself, ``skill=1`` is perfect.
    missing
        the chance that an annotator does not answer an item.
    adversaries
        share α of annotators (the last ones) whose largest entries are off the diagonal: the rows
        of their matrices are shifted by one class.
    cliques, copying
        groups of annotators' positions; each member but the first copies the first one's answer
        with probability ``copying``, and answers for itself otherwise.
    """
    shares = _checked_prior(prior, n_classes)
    for name, value in (
        ("skill", skill),
        ("missing", missing),
        ("adversaries", adversaries),
        ("copying", copying),
    ):
        if not 0 <= value <= 1:
            raise BadParameter(f"{name}={value} must be between 0 and 1.")
    own = draw_confusions(n_annotators, n_classes, rng, skill)
    n_adversaries = round(adversaries * n_annotators)
    if n_adversaries:
        own[-n_adversaries:] = np.roll(own[-n_adversaries:], 1, axis=1)
    leader = {member: clique[0] for clique in cliques for member in clique[1:]}
    truth = rng.choice(n_classes, size=n_items, p=shares)
    led = {first: _draw(own[first], truth, rng) for first in sorted(set(leader.values()))}

    confusions = own.copy()
    columns, answered_by = [], []
    for m in range(n_annotators):
        items = _answered(n_items, missing, rng)
        labels = led[m][items] if m in led else _draw(own[m], truth[items], rng)
        if m in leader:
            copies = rng.random(len(items)) < copying
            labels = np.where(copies, led[leader[m]][items], labels)
            confusions[m] = (1 - copying) * own[m] + copying * own[leader[m]]
        columns.append(labels)
        answered_by.append(items)
    responses = _gathered(columns, answered_by, n_items, n_classes)
    return Simulation(
        responses, truth, Model(confusions, shares, responses.annotators, responses.classes)
    )


def _gathered(
    columns: list[NDArray[np.int16]],
    answered_by: list[NDArray[np.intp]],
    n_items: int,
    n_classes: int,
) -> Responses:
    """Responses of the annotators' columns of labels to the items that they answered."""
    if all(len(items) == n_items for items in answered_by):
        return Responses.from_matrix(np.stack(columns, axis=1), classes=np.arange(n_classes))
    return Responses.from_codes(
        np.concatenate(answered_by),
        np.repeat(np.arange(len(columns)), [len(items) for items in answered_by]),
        np.concatenate(columns),
        items=np.arange(n_items),
        annotators=np.arange(len(columns)),
        classes=np.arange(n_classes),
    )


def draw_confusions(
    n_annotators: int, n_classes: int, rng: np.random.Generator, skill: float = 0.0
) -> Floats:
    """Confusion matrices ``[annotator, reported, true]`` that are better than random."""
    columns = rng.dirichlet(np.ones(n_classes), size=(n_annotators, n_classes))
    largest = columns.argmax(axis=2)
    m, k = np.indices(largest.shape)
    columns[m, k, largest], columns[m, k, k] = columns[m, k, k], columns[m, k, largest]
    return (1 - skill) * columns.transpose(0, 2, 1) + skill * np.eye(n_classes)


def _draw(
    confusion: Floats, truth: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.int16]:
    """One annotator's answers: f(n) ~ column ``truth[n]`` of the confusion matrix."""
    levels = np.cumsum(confusion, axis=0)[:-1]
    luck = rng.random(len(truth))
    labels = np.zeros(len(truth), dtype=np.int16)
    for level in levels:
        labels += luck > level[truth]
    return labels


def _answered(n_items: int, missing: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """The items that an annotator answers, in order, by skipping ahead: cost is in answers only."""
    if missing == 0:
        return np.arange(n_items)
    if missing == 1:
        return np.empty(0, dtype=np.intp)
    expected = n_items * (1 - missing)
    at = np.empty(0, dtype=np.int64)
    while not len(at) or at[-1] < n_items:
        gaps = rng.geometric(1 - missing, size=int(expected + 4 * expected**0.5) + 4)
        at = np.concatenate([at, np.cumsum(gaps) + (at[-1] if len(at) else -1)])
    return at[at < n_items]


def _checked_prior(prior: ArrayLike | None, n_classes: int) -> Floats:
    shares = np.full(n_classes, 1.0) if prior is None else np.asarray(prior, dtype=float)
    if shares.shape != (n_classes,) or not np.all(shares >= 0) or not shares.sum() > 0:
        raise BadParameter(f"prior={prior!r} must be {n_classes} shares, none negative.")
    return np.asarray(shares / shares.sum(), dtype=np.float64)
