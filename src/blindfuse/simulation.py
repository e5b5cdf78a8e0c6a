"""Simulated responses with known truth, as in Section V-A of the paper."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from blindfuse.errors import BadParameter
from blindfuse.model.model import Model
from blindfuse.responses.alphabet import Anchor
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated responses with the truth and the model that generated them.

    Attributes
    ----------
    responses
        the responses; items, annotators and classes are named 0, 1, …
    truth ``[item]``
        true class codes.
    model
        the true confusion matrices Γ_m and prior π. For annotators that copy, Γ_m is the marginal
        confusion matrix; the responses are then not conditionally independent.
    """

    responses: Responses
    truth: Codes
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
    dependent_groups: Sequence[Sequence[int]] = (),
    copy_probability: float = 0.0,
) -> Simulation:
    """Simulate the truth, the annotators' confusion matrices and their responses.

    The true class of item n is drawn from π, and the response of annotator m from the column of
    that class in Γ_m, independently for all items and annotators unless some copy.

    Parameters
    ----------
    n_items, n_annotators, n_classes
        N, M and K.
    rng
        source of all random numbers.
    prior ``[class]``
        π, scaled to sum to one; uniform if None.
    skill
        from 0 to 1. With ``skill=0``, every column of Γ_m is drawn uniformly from the probability
        simplex and its largest entry is swapped onto the diagonal. With ``skill=s``,
        Γ_m = (1 − s) Γ_m(0) + s I. The paper only states that annotators are better than random.
    missing
        probability that an annotator does not respond to an item.
    adversaries
        share α of adversarial annotators, which are the last ones. The rows of their confusion
        matrices are shifted by one class, so that the largest entries are off the diagonal.
    dependent_groups
        groups of annotator positions. In each group, all members but the first copy responses of
        the first.
    copy_probability
        probability that such a member copies a response instead of drawing its own.

    Examples
    --------
    >>> import numpy as np
    >>> from blindfuse import simulate
    >>> simulation = simulate(1000, 5, 3, np.random.default_rng(0), skill=0.5, missing=0.2)
    >>> simulation.responses.n_responses, simulation.truth.shape
    (3974, (1000,))
    >>> simulation.model.confusions.shape
    (5, 3, 3)
    """
    prior = _check_prior(prior, n_classes)
    for name, value in (
        ("skill", skill),
        ("missing", missing),
        ("adversaries", adversaries),
        ("copy_probability", copy_probability),
    ):
        if not 0 <= value <= 1:
            raise BadParameter(f"{name}={value} must be between 0 and 1.")
    own = draw_confusions(n_annotators, n_classes, rng, skill)
    n_adversaries = round(adversaries * n_annotators)
    if n_adversaries:
        own[-n_adversaries:] = np.roll(own[-n_adversaries:], 1, axis=1)
    leader = {member: group[0] for group in dependent_groups for member in group[1:]}
    truth = rng.choice(n_classes, size=n_items, p=prior)
    # Leaders respond to all items, because copiers may label items that the leader skips.
    leader_responses = {m: _draw_responses(own[m], truth, rng) for m in sorted({*leader.values()})}

    confusions = own.copy()
    columns, labelled_items = [], []
    for m in range(n_annotators):
        items = _draw_items(n_items, missing, rng)
        if m in leader_responses:
            symbols = leader_responses[m][items]
        else:
            symbols = _draw_responses(own[m], truth[items], rng)
        if m in leader:
            copied = rng.random(len(items)) < copy_probability
            symbols = np.where(copied, leader_responses[leader[m]][items], symbols)
            confusions[m] = (1 - copy_probability) * own[m] + copy_probability * own[leader[m]]
        columns.append(symbols)
        labelled_items.append(items)
    annotators, classes = np.arange(n_annotators), np.arange(n_classes)
    if missing == 0:
        responses = Responses.from_matrix(np.stack(columns, axis=1), classes=classes)
    else:
        responses = Responses.from_codes(
            np.concatenate(labelled_items),
            np.repeat(annotators, [len(items) for items in labelled_items]),
            np.concatenate(columns),
            items=np.arange(n_items),
            annotators=annotators,
            classes=classes,
        )
    model = Model(confusions, prior, responses.annotators, responses.classes)
    return Simulation(responses, truth, model)


def draw_confusions(
    n_annotators: int, n_classes: int, rng: np.random.Generator, skill: float = 0.0
) -> Floats:
    """Draw confusion matrices ``[annotator, reported, true]``; ``skill`` as in :func:`simulate`."""
    columns = rng.dirichlet(np.ones(n_classes), size=(n_annotators, n_classes))
    largest = columns.argmax(axis=2)
    m, k = np.indices(largest.shape)
    columns[m, k, largest], columns[m, k, k] = columns[m, k, k], columns[m, k, largest]
    return (1 - skill) * columns.transpose(0, 2, 1) + skill * np.eye(n_classes)


def _draw_responses(confusion: Floats, truth: Codes, rng: np.random.Generator) -> NDArray[np.int16]:
    """Draw one annotator's responses f(n) from the columns ``truth[n]`` of the confusion matrix."""
    cumulative = np.cumsum(confusion, axis=0)[:-1]
    uniform = rng.random(len(truth))
    symbols = np.zeros(len(truth), dtype=np.int16)
    for row in cumulative:
        symbols += uniform > row[truth]
    return symbols


def _draw_items(n_items: int, missing: float, rng: np.random.Generator) -> Codes:
    """Draw the items that an annotator responds to, in order.

    The gaps between them are geometric, so that the cost is linear in the number of responses.
    """
    if missing == 0:
        return np.arange(n_items)
    if missing == 1:
        return np.empty(0, dtype=np.intp)
    expected = n_items * (1 - missing)
    items = np.empty(0, dtype=np.int64)
    while not len(items) or items[-1] < n_items:
        gaps = rng.geometric(1 - missing, size=int(expected + 4 * expected**0.5) + 4)
        items = np.concatenate([items, np.cumsum(gaps) + (items[-1] if len(items) else -1)])
    return items[items < n_items]


def _check_prior(prior: ArrayLike | None, n_classes: int) -> Floats:
    """Return the class prior ``[class]``, scaled to sum to one."""
    weights = np.full(n_classes, 1.0) if prior is None else np.asarray(prior, dtype=float)
    if weights.shape != (n_classes,) or not np.all(weights >= 0) or not weights.sum() > 0:
        raise BadParameter(
            f"prior={prior!r} must be {n_classes} class probabilities, none of them negative."
        )
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def simulate_scores(
    n_items: int,
    n_annotators: int,
    n_symbols: int,
    n_classes: int,
    rng: np.random.Generator,
    *,
    prior: ArrayLike | None = None,
    separation: float = 1.5,
    missing: float = 0.0,
) -> Simulation:
    """Simulate annotators who give scores from 0 to R − 1 to items of K ordered classes.

    Annotator m perceives class k as ``separation`` · k plus normal noise of its own spread, and
    divides what it perceives into R levels, shifted and stretched as it likes. Γ_m(r, k) is the
    probability of level r, so the returned model is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from blindfuse.simulation import simulate_scores
    >>> simulate_scores(1000, 5, 11, 2, np.random.default_rng(0)).responses.n_symbols
    11
    """
    probabilities = _check_prior(prior, n_classes)
    middle = separation * (n_classes - 1) / 2
    noise = rng.uniform(0.7, 1.5, size=n_annotators)
    bias = rng.normal(0, 0.7, size=n_annotators)
    width = rng.uniform(0.7, 1.3, size=n_annotators)
    levels = np.linspace(-1, 1, n_symbols + 1)[1:-1] * (middle + 1.5)
    cuts = middle + bias[:, None] + width[:, None] * levels
    perceived = (cuts[:, :, None] - separation * np.arange(n_classes)) / noise[:, None, None]
    below = np.pad(ndtr(perceived), [(0, 0), (1, 1), (0, 0)])
    below[:, -1] = 1.0
    confusions = np.diff(below, axis=1)
    truth = rng.choice(n_classes, size=n_items, p=probabilities)
    cumulative = np.cumsum(confusions, axis=1)[:, :-1]
    drawn = rng.random((n_items, n_annotators))
    symbols = (drawn[:, :, None] > cumulative[:, :, truth].transpose(2, 0, 1)).sum(axis=2)
    given = rng.random((n_items, n_annotators)) >= missing
    items, annotators = np.nonzero(given)
    responses = Responses.from_codes(
        items,
        annotators,
        symbols[given],
        items=np.arange(n_items),
        annotators=np.arange(n_annotators),
        classes=np.arange(n_classes),
        symbols=np.arange(n_symbols),
        anchor=Anchor.by_order(np.arange(n_symbols)),
    )
    names = responses.annotators, responses.classes, None, responses.symbols
    return Simulation(responses, truth, Model(confusions, probabilities, *names))
