"""Compare models by how well they predict held-out responses, which needs no ground truth.

Responses are divided into folds. A model fitted to the other folds predicts the response f of
annotator m to item n with probability Σ_l P(l | other responses to n) Γ_m(f, l). Models are
compared response by response.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.em import EMEstimator
from blindfuse.estimators.latent_subtypes import LatentSubtypes
from blindfuse.model.posteriors import safe_log
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT
from blindfuse.responses.canonical import MAX_REORDERED, sample_by_content
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Flags, Floats

Cells = tuple[Codes, Codes, Codes]
"""Items, annotators and symbols of responses."""

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


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Log-probabilities of held-out responses, fold by fold; a fold is fitted when first used."""

    fit: Callable[[Responses], LatentFit]
    folds: list[tuple[Responses, Cells]]
    scores: list[Floats] = field(default_factory=list)

    def of_first(self, n_folds: int) -> Floats:
        """The scores ``[response]`` of the first ``n_folds`` folds."""
        for train, cells in self.folds[len(self.scores) : n_folds]:
            self.scores.append(_log_probabilities(self.fit(train), *cells))
        return np.concatenate(self.scores[:n_folds])


class HeldOut:
    """Responses divided into folds, each predicted by models fitted to the other folds.

    Folds are added until ENOUGH_PREDICTED responses are held out. Responses are in canonical order,
    so which fold a response is in depends on the content of the table only. ``predicted`` says
    whose responses are held out, ``[annotator]``; by default everyone's.
    """

    def __init__(self, sample: Responses, predicted: Flags | None = None) -> None:
        items = sample.item_of_response()
        fold = np.random.default_rng(0).integers(FOLDS, size=sample.n_responses)
        if predicted is not None:
            fold[~predicted[sample.by_item.codes]] = -1
        self._folds: list[tuple[Responses, Cells]] = []
        n_predicted = 0
        for k in np.unique(fold[fold >= 0]):  # a small table may leave folds empty
            held = fold == k
            cells = items[held], sample.by_item.codes[held], sample.by_item.symbols[held]
            table = replace(sample.select_responses(~held), probabilities=None)
            self._folds.append((table, cells))
            n_predicted += int(np.count_nonzero(held))
            if n_predicted >= ENOUGH_PREDICTED:
                break

    def predict(self, fit: Callable[[Responses], LatentFit]) -> HeldOutScores:
        """Scores of the held-out responses under this model."""
        return HeldOutScores(fit, self._folds)

    def gain(self, one: HeldOutScores, over: HeldOutScores) -> Gain:
        """How much better one model predicts than the other.

        Once it is clearly better or worse, the remaining folds are skipped.
        """
        return self._gain_until(lambda found: abs(found.z) > CLEAR_Z, one, over)

    def is_better(self, one: HeldOutScores, over: HeldOutScores, significant_z: float) -> bool:
        """Whether one model predicts significantly better than the other.

        Folds are also skipped once they show no gain: to be significant, the others would have to
        contradict them.
        """
        found = self._gain_until(lambda found: not 0 < found.z <= CLEAR_Z, one, over)
        return found.z > significant_z

    def _gain_until(
        self, is_clear: Callable[[Gain], bool], one: HeldOutScores, over: HeldOutScores
    ) -> Gain:
        for n_folds in range(1, len(self._folds) + 1):
            differences = one.of_first(n_folds) - over.of_first(n_folds)
            found = self._gain(differences, n_folds)
            if is_clear(found):
                break
        return found

    def _gain(self, differences: Floats, n_folds: int) -> Gain:
        items = np.concatenate([cells[0] for _, cells in self._folds[:n_folds]])
        by_item = np.bincount(items, differences)
        has_response = np.bincount(items) > 0
        deviations = by_item[has_response] - by_item[has_response].mean()
        n = len(differences)
        return Gain(float(differences.mean()), float(np.sqrt(np.sum(deviations**2)) / n))


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
) -> Callable[[Responses], LatentFit]:
    """Return a function that fits a model in which responses are independent given the class."""

    def fit(responses: Responses) -> LatentFit:
        estimator = method(tolerance=HELD_OUT_TOLERANCE, threads=threads, **parameters)
        fitted = estimator.fit(responses)
        return LatentFit(fitted.posteriors_, fitted.model_.confusions)

    return fit


def fit_subtypes(subtypes: int, threads: int | None) -> Callable[[Responses], LatentFit]:
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


def _log_probabilities(
    model: LatentFit,
    items: Codes,
    annotators: Codes,
    labels: Codes,
) -> Floats:
    likely = np.einsum("al,al->a", model.posteriors[items], model.confusions[annotators, labels])
    return safe_log(likely)
