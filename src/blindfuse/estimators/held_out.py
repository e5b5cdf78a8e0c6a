"""Compare models by how well they predict held-out responses, which needs no ground truth.

Responses are divided into folds. A model fitted to the other folds predicts the response f of
annotator m to item n with probability Σ_l P(l | other responses to n) Γ_m(f, l). Models are
compared response by response.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.em import EMEstimator
from blindfuse.estimators.latent_subtypes import LatentSubtypes
from blindfuse.model.posteriors import safe_log
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT
from blindfuse.responses.canonical import MAX_REORDERED, sample_by_content
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats

FOLDS = 5
HELD_OUT_TOLERANCE = 1e-6
"""Tolerance of fits that are only compared; with a looser one, richer models win by chance."""
ENOUGH_PREDICTED = 50_000
"""Responses to predict; more would hardly reduce a standard error that is small already."""
CLEAR_Z = 5.0
"""Standard errors by which predictions must differ for the other folds to be skipped."""
MAX_RESPONSES = 200_000
"""Larger tables are sampled by item; more would hardly change the annotators' estimates."""


@dataclass(frozen=True)
class LatentFit:
    """A fitted model: ``posteriors[item, l]`` and ``confusions[annotator, reported, l]``."""

    posteriors: Floats
    confusions: Floats


FitLatent = Callable[[Responses], LatentFit]


@dataclass(frozen=True)
class Gain:
    """How much better one model predicts than another.

    ``mean`` is in nats per response; ``error`` is its standard error, with items independent.
    """

    mean: float
    error: float

    @property
    def z(self) -> float:
        """The mean in standard errors; zero where both models predict the same."""
        return self.mean / self.error if self.error > 0 else 0.0

    def __str__(self) -> str:
        return f"z = {round(self.z, 1) + 0.0:+.1f}"


def held_out_gain(responses: Responses, fit: FitLatent, over: FitLatent) -> Gain:
    """Return how much better ``fit`` predicts held-out responses than ``over``.

    Each fold is predicted by models fitted to the others, until ENOUGH_PREDICTED responses are
    predicted or one model is clearly better. Responses are in canonical order, so which fold a
    response is in depends on the content of the table only.
    """
    items = responses.item_of_response()
    fold = np.random.default_rng(0).integers(FOLDS, size=responses.n_responses)
    predicted, differences = np.empty(0, np.intp), np.empty(0)
    gain = Gain(0.0, 0.0)
    for k in np.unique(fold):  # a small table may leave folds empty
        held = fold == k
        train = replace(responses.select_responses(~held), probabilities=None)
        cells = items[held], responses.by_item.codes[held], responses.by_item.symbols[held]
        difference = _log_probabilities(fit(train), *cells) - _log_probabilities(
            over(train), *cells
        )
        predicted = np.concatenate([predicted, cells[0]])
        differences = np.concatenate([differences, difference])
        gain = _gain(predicted, differences)
        if abs(gain.z) > CLEAR_Z or len(differences) >= ENOUGH_PREDICTED:
            break
    return gain


def _gain(items: Codes, differences: Floats) -> Gain:
    """The mean of ``differences[response]``, and its standard error, with items independent."""
    by_item = np.bincount(items, differences)[np.bincount(items) > 0]
    squares = np.sum((by_item - by_item.mean()) ** 2)
    return Gain(float(differences.mean()), float(np.sqrt(squares) / len(differences)))


def sample_items(responses: Responses, seed: int) -> Responses:
    """The responses, or those of a random sample of items with about MAX_RESPONSES in total."""
    if responses.n_responses <= MAX_RESPONSES:
        return responses
    if responses.n_responses > MAX_REORDERED:  # hashing the content would take as long as EM
        step = -(-responses.n_responses // MAX_RESPONSES)
        return responses.select_items(np.arange(seed % step, responses.n_items, step))
    return sample_by_content(responses, MAX_RESPONSES / responses.n_responses, seed)


def fit_independent(
    threads: int | None, method: type[EMEstimator] = DawidSkene, **parameters: Any
) -> FitLatent:
    """Return a function that fits a model in which responses are independent given the class."""

    def fit(responses: Responses) -> LatentFit:
        estimator = method(tolerance=HELD_OUT_TOLERANCE, threads=threads, **parameters)
        fitted = estimator.fit(responses)
        return LatentFit(fitted.posteriors_, fitted.model_.confusions)

    return fit


def fit_subtypes(subtypes: int, threads: int | None) -> FitLatent:
    """Return a function that fits latent subtypes: independence given class and subtype."""

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


def _log_probabilities(model: LatentFit, items: Codes, annotators: Codes, labels: Codes) -> Floats:
    likely = np.einsum("al,al->a", model.posteriors[items], model.confusions[annotators, labels])
    return safe_log(likely)
