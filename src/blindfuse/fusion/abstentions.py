"""Whether a missing response says something: sources that report few classes, applied to all items.

A labelling function reports its class or abstains, and abstains more often where another class is
true. In a crowd, by contrast, most annotators never saw the item. The responses show which it is:
where every source had the choice on every item, the number of responses varies between items as
that of independent sources does, and pairs of sources respond together as often as a model with
"no response" as a symbol predicts.
"""

import numpy as np

from blindfuse.diagnostics.fit import measure_fit
from blindfuse.diagnostics.pairs import count_pairs
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.fusion.selection import MIN_ONE_SIDED, one_sided_share
from blindfuse.model.anchored_votes import symbol_counts
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses
from blindfuse.responses.symbols import MAX_CELLS, NO_RESPONSE

MIN_ITEMS = 500
"""Minimum number of items; the variance of the number of responses is then known to about 6 %."""
MAX_DEVIATION = 0.2
"""How far the variance of the number of responses per item, relative to that of independent
sources, may be from one. It is zero if the number is fixed, as in most crowds, and larger than one
if some items get more responses from all sources.
"""
MIN_SOURCES_PER_CLASS = 3
"""Sources per class that determine a model of sources with one class each (Lemma 1)."""
MIN_CONSISTENT = 0.95
"""Share of the responses that must be most frequent in the class that they name under the model.
Otherwise its classes describe which sources respond together, not what they report."""


def explain_abstentions(responses: Responses, threads: int | None = None) -> str | None:
    """Return why missing responses are used as a symbol, in a sentence; None if they are not."""
    if not _could_abstain(responses):
        return None
    share = one_sided_share(responses, symbol_counts(responses))
    if share < MIN_ONE_SIDED:
        return None
    table = responses.with_abstentions()
    model = DawidSkene(threads=threads).fit(table).model_
    dispersion = relative_dispersion(responses, model)
    if abs(dispersion - 1) > MAX_DEVIATION:
        return None
    fit = measure_fit(count_pairs(table).compare_with(model), table.n_annotators)
    if not fit.holds or _consistent_share(responses, model) < MIN_CONSISTENT:
        return None
    return (
        "Annotators abstain as if all had seen every item (variance of the number of responses "
        f'per item: {dispersion:.2f} of that expected), so "{NO_RESPONSE}" is used as a symbol; '
        "abstentions=False leaves it out."
    )


def _could_abstain(responses: Responses) -> bool:
    cells = responses.n_items * responses.n_annotators
    return (
        responses.is_plain
        and not responses.is_complete
        and responses.n_items >= MIN_ITEMS
        and responses.n_annotators >= MIN_SOURCES_PER_CLASS * responses.n_classes
        and cells <= MAX_CELLS
        and NO_RESPONSE not in responses.classes.tolist()
    )


def _consistent_share(responses: Responses, model: Model) -> float:
    """The share of responses that are most frequent in the class that they name."""
    _, annotators, symbols = responses.by_item
    return float(np.mean(model.confusions.argmax(axis=2)[annotators, symbols] == symbols))


def relative_dispersion(responses: Responses, model: Model) -> float:
    """Variance of the number of responses per item, relative to the model's.

    With P(m responds | k) = c_mk, the model's is Σ_k π_k (Σ_m c_mk (1 − c_mk) + (Σ_m c_mk − c̄)²),
    where c̄ is the mean number. The last symbol of the model is "no response".
    """
    responds = 1 - model.confusions[:, -1]
    number = responds.sum(axis=0)
    within = (responds * (1 - responds)).sum(axis=0)
    between = (number - model.prior @ number) ** 2
    expected = float(model.prior @ (within + between))
    return float(responses.responses_per_item.var() / max(expected, 1e-12))
