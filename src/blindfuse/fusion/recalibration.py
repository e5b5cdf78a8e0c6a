"""The expected error of a choice, and posteriors whose confidence agrees with it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.calibration import (
    EXPLAINED_DEPENDENCE,
    EXPLAINED_SPREAD,
    NO_ERROR,
    ErrorInterval,
    combine,
    probability_of_shared_errors,
)
from blindfuse.diagnostics.correlated_errors import score_correlated_symbols
from blindfuse.diagnostics.visible import Independence, ReferenceModels, Visible, observe
from blindfuse.fusion.choice import Choice, FuseContext, PosteriorsOf
from blindfuse.model.recalibration import Recalibration, mean_error, power_for_error
from blindfuse.responses.gold import gold_codes
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

SCORE_POWER = 1.6
"""Ratio of the score test of levels and of decisions, where items have effects that judges share.
Simulated: 1.5 to 2.2 with 11 levels, 4 to 6 judges and 300 or 800 items."""
SEARCHED = 20_000
"""Maximum number of items with which the recalibration is searched for."""


@dataclass(frozen=True, eq=False)
class RecalibratedPosteriors:
    """Posteriors of a method, recalibrated for items with responses.

    An item without responses keeps its posterior, the class prior.
    """

    posteriors_of: PosteriorsOf
    recalibration: Recalibration

    def __call__(self, responses: Responses) -> Floats:
        posteriors = self.posteriors_of(responses)
        return recalibrate_items(posteriors, responses, self.recalibration)


def recalibrate_items(
    posteriors: Floats, responses: Responses, recalibration: Recalibration
) -> Floats:
    """The posteriors ``[item, class]``, recalibrated where the item has responses."""
    answered = responses.responses_per_item > 0
    if answered.all():
        return recalibration(posteriors)
    corrected = posteriors.copy()
    corrected[answered] = recalibration(posteriors[answered])
    return corrected


def with_expected_error(choice: Choice, context: FuseContext) -> Choice:
    """The choice with its expected error, and posteriors whose mean error is that.

    Labels stay the same. A choice that ``keeps_posteriors`` keeps them, and only states the error.
    A choice whose error is known stays as it is.
    """
    if choice.expected_error is not None:
        return choice
    responses, is_gold = context.responses, _gold_mask(context)
    counted = (responses.responses_per_item > 0) & ~is_gold
    n_counted = int(np.count_nonzero(counted))
    share, rest = n_counted / responses.n_items, _error_of_rest(choice, counted, is_gold)
    if not n_counted:
        return replace(choice, expected_error=NO_ERROR.scaled(0.0, rest))
    expected, dependence = _expect(choice, context, is_gold, n_counted)
    if choice.keeps_posteriors or dependence == 0:
        return replace(choice, expected_error=expected.scaled(share, rest))
    raw = choice.posteriors
    step = -(-n_counted // SEARCHED)
    recalibration = power_for_error(raw[np.flatnonzero(counted)[::step]], expected.value)
    posteriors = recalibrate_items(raw, responses, recalibration)
    reached = mean_error(posteriors[counted])
    inner = choice.posteriors_of or choice.model.posteriors
    return replace(
        choice,
        expected_error=expected.moved_to(reached).scaled(share, rest),
        posteriors=posteriors,
        labels=choice.label_codes(),
        posteriors_of=RecalibratedPosteriors(inner, recalibration),
    )


def measure(
    choice: Choice, context: FuseContext, is_gold: NDArray[np.bool_] | None = None
) -> tuple[float, Independence, Callable[[], Visible]]:
    """What the relation between visible figures and the error needs.

    The mean of 1 − the confidence, the evidence of independence, and a function that measures what
    else is visible, which takes longer. Items with gold labels are left out. Symbols that are not
    classes count as the class that they speak for.
    """
    responses, labels = context.responses, choice.label_codes()
    observed = observe(responses, choice.model, labels, choice.posteriors, is_gold)

    def fitted() -> ReferenceModels:
        return ReferenceModels(context.mixed_membership, context.mace)

    def visible() -> Visible:
        return observed.visible(fitted if responses.is_plain else None, context.threads)

    if choice.independence is not None:
        return observed.error_of_model(context.threads), choice.independence, visible
    independence = observed.independence(_representatives(choice, responses.n_annotators))
    return mean_error(observed.posteriors), independence, visible


def _expect(
    choice: Choice, context: FuseContext, is_gold: NDArray[np.bool_], n_items: int
) -> tuple[ErrorInterval, float]:
    """The expected error of the counted items, and the probability of dependence."""
    own, independence, visible = measure(choice, context, is_gold)
    K = context.responses.n_classes
    if choice.explains_dependence:
        dependence, spread = EXPLAINED_DEPENDENCE, EXPLAINED_SPREAD
        return combine(own, dependence, visible(), n_items, K, own_spread=spread), dependence
    if not context.responses.is_plain:
        independence = _independence_of_symbols(choice, context, independence)
    dependence = probability_of_shared_errors(independence)
    merged = independence.merged
    seen = visible() if dependence > 0 or merged else None
    expected = combine(own, dependence, seen, n_items, K, merged=merged)
    expected = expected.widened_to(choice.possible_errors).raised_to(choice.outvoted)
    return expected, dependence


def _representatives(choice: Choice, n_annotators: int) -> NDArray[np.intp]:
    """All annotators but those whom the method merged with an earlier one."""
    merged = [m for group in choice.groups for m in group[1:]]
    return np.setdiff1d(np.arange(n_annotators), merged)


def _independence_of_symbols(
    choice: Choice, context: FuseContext, of_decisions: Independence
) -> Independence:
    """The evidence of symbols, which say more than the classes that they speak for.

    A score of many levels has more power than right or wrong, as a larger table would have.
    """
    responses = context.responses
    posteriors = choice.model.posteriors(responses, threads=context.threads)
    z = score_correlated_symbols(responses, choice.model, posteriors).z
    power = SCORE_POWER**2 if responses.anchor.kind == "order" else 1.0
    n_items = int(power * of_decisions.n_items)
    return replace(of_decisions, z=z, n_items=n_items, of_symbols=True)


def _gold_mask(context: FuseContext) -> NDArray[np.bool_]:
    is_gold = np.zeros(context.responses.n_items, dtype=bool)
    is_gold[gold_codes(context.responses, context.gold)[0]] = True
    return is_gold


def _error_of_rest(choice: Choice, counted: NDArray[np.bool_], is_gold: NDArray[np.bool_]) -> float:
    """What items without responses and without gold labels add to the share of wrong labels."""
    rest = ~counted & ~is_gold
    return float(np.sum(1 - choice.posteriors[rest].max(axis=1)) / len(counted))
