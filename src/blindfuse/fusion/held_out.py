"""Which model predicts answers that it has not seen: a judge that needs no truth.

Answers are dealt into folds. A model fitted to the others predicts each answer f of annotator m to
item n by Σ_l P(l | other answers to n) Γ_m(f, l). Models are compared answer by answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.latent_subtypes import LatentSubtypes
from blindfuse.model.posteriors import safe_log
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]
Cells = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]
"""Items, annotators and labels of answers."""

FOLDS = 5
HELD_OUT_TOLERANCE = 1e-6
"""Tolerance of fits that are only compared; with a looser one, richer models win by chance."""
ENOUGH_ANSWERS = 50_000
"""Answers to predict: more hardly move a standard error that is small already."""
HOPELESS = 5.0
"""Standard errors by which a model that predicts worse is not looked at any further."""
MOST_ANSWERS = 500_000
"""Above this, items are sampled: more hardly move what is learned of annotators."""


@dataclass(frozen=True)
class LatentFit:
    """A fitted model: ``beliefs[item, l]`` and ``confusions[annotator, reported, l]``."""

    beliefs: Floats
    confusions: Floats


@dataclass(frozen=True)
class Gain:
    """By how much one model predicts better than another.

    ``mean`` is in nats an answer, ``error`` its standard error over items, which are independent.
    """

    mean: float
    error: float

    @property
    def z(self) -> float:
        """The mean in standard errors; zero where both models say the same."""
        return self.mean / self.error if self.error > 0 else 0.0

    def __str__(self) -> str:
        return f"{self.mean:+.4f} nats an answer, standard error {self.error:.4f}"


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Log-probabilities of held-out answers by a model without them; fitted when asked for."""

    fit: Callable[[Responses], LatentFit]
    folds: list[tuple[Responses, Cells]]
    known: list[Floats] = field(default_factory=list)

    def of_first(self, n_folds: int) -> Floats:
        """Those ``[answer]`` of so many folds."""
        for train, cells in self.folds[len(self.known) : n_folds]:
            self.known.append(_log_probabilities(self.fit(train), *cells))
        return np.concatenate(self.known[:n_folds])


class HeldOut:
    """Answers dealt into folds, each to be predicted by models that were fitted to the others.

    Folds end when ENOUGH_ANSWERS are to be predicted. Models are compared answer by answer on the
    same ones, fold by fold, until one has no hope.
    """

    def __init__(self, responses: Responses, rng: np.random.Generator) -> None:
        sample = sample_items(responses, rng)
        items = sample.item_of_response()
        fold = rng.integers(FOLDS, size=sample.n_responses)
        self._folds: list[tuple[Responses, Cells]] = []
        predicted = 0
        for k in np.unique(fold):  # a few answers may leave folds empty
            held = fold == k
            cells = items[held], sample.by_item.codes[held], sample.by_item.labels[held]
            self._folds.append((_only(sample, items, ~held), cells))
            predicted += int(np.count_nonzero(held))
            if predicted >= ENOUGH_ANSWERS:
                break

    def predict(self, fit: Callable[[Responses], LatentFit]) -> HeldOutScores:
        """The held-out answers by a model without them."""
        return HeldOutScores(fit, self._folds)

    def gain(self, one: HeldOutScores, over: HeldOutScores) -> Gain:
        """How much better one model's predictions are than another's.

        Folds after one in which it is clearly worse would not change that, and are left out.
        """
        for n_folds in range(1, len(self._folds) + 1):
            differences = one.of_first(n_folds) - over.of_first(n_folds)
            found = self._gain(differences, n_folds)
            if found.z < -HOPELESS:
                break
        return found

    def _gain(self, differences: Floats, n_folds: int) -> Gain:
        items = np.concatenate([cells[0] for _, cells in self._folds[:n_folds]])
        by_item = np.bincount(items, differences)
        answered = np.bincount(items) > 0
        deviations = by_item[answered] - by_item[answered].mean()
        n = len(differences)
        return Gain(float(differences.mean()), float(np.sqrt(np.sum(deviations**2)) / n))


def sample_items(responses: Responses, rng: np.random.Generator) -> Responses:
    """All items, or so many at random that they have MOST_ANSWERS."""
    if responses.n_responses <= MOST_ANSWERS:
        return responses
    count = int(responses.n_items * MOST_ANSWERS / responses.n_responses)
    return responses.select_items(np.sort(rng.choice(responses.n_items, count, replace=False)))


def fit_independent(threads: int | None) -> Callable[[Responses], LatentFit]:
    """Fits Dawid–Skene: annotators conditionally independent given the class."""

    def fit(responses: Responses) -> LatentFit:
        method = DawidSkene(
            shrinkage=DEFAULT_PSEUDO_COUNT, tolerance=HELD_OUT_TOLERANCE, threads=threads
        )
        fitted = method.fit(responses)
        return LatentFit(fitted.posteriors_, fitted.model_.confusions)

    return fit


def fit_subtypes(subtypes: int, threads: int | None) -> Callable[[Responses], LatentFit]:
    """Fits latent subtypes: annotators conditionally independent given class and subtype."""

    def fit(responses: Responses) -> LatentFit:
        method = LatentSubtypes(
            subtypes=subtypes,
            shrinkage=DEFAULT_PSEUDO_COUNT,
            tolerance=HELD_OUT_TOLERANCE,
            threads=threads,
        )
        fitted = method.fit(responses)
        return LatentFit(fitted.subtype_posteriors(responses), fitted.subtype_confusions_)

    return fit


def _only(responses: Responses, items: NDArray[np.intp], chosen: NDArray[np.bool_]) -> Responses:
    """The responses with these answers only, and all items and annotators."""
    return Responses.from_codes(
        items[chosen],
        responses.by_item.codes[chosen],
        responses.by_item.labels[chosen],
        items=responses.items,
        annotators=responses.annotators,
        classes=responses.classes,
    )


def _log_probabilities(
    model: LatentFit,
    items: NDArray[np.intp],
    annotators: NDArray[np.intp],
    labels: NDArray[np.intp],
) -> Floats:
    likely = np.einsum("al,al->a", model.beliefs[items], model.confusions[annotators, labels])
    return safe_log(likely)
