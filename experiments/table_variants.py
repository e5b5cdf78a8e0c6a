"""Variants of tables with a truth: what the same annotators would give in another project.

A rule that was built with whole public tables has seen each of them. Fewer annotators, fewer items,
fewer responses per item and two classes instead of many make tables that it has not seen.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from blindfuse import Responses
from experiments.calibration_tables import drop_unused, limit_responses, sample_items

Codes = NDArray[np.intp]
Variant = tuple[Responses, Codes]
"""Responses, and the true class codes ``[item]``: −1 if unknown, K if nobody reports the class."""

PANEL = 40
"""Up to this number of annotators, a variant keeps three to ten of them; beyond, a share."""
ITEMS = 60, 1500
"""Items of a small table."""
MAX_ITEMS = 8_000
"""Items of a table before it is varied; of more, a random sample."""
MIN_KNOWN = 30
"""Items with a truth that a variant must have."""


def fewer_annotators(responses: Responses, truth: Codes, rng: np.random.Generator) -> Variant:
    """Three to ten annotators, or 10 to 60 % of many."""
    M = responses.n_annotators
    number = int(rng.integers(3, min(M, 10) + 1)) if M <= PANEL else int(M * rng.uniform(0.1, 0.6))
    chosen = np.sort(rng.choice(M, number, replace=False))
    return drop_unused(responses.select_annotators(chosen), truth)


def fewer_items(responses: Responses, truth: Codes, rng: np.random.Generator) -> Variant:
    """60 to 1,500 items; those with a truth, where few have one."""
    few = np.mean(truth >= 0) < 0.5
    candidates = np.flatnonzero(truth >= 0) if few else np.arange(responses.n_items)
    number = min(len(candidates), int(np.exp(rng.uniform(*np.log(ITEMS)))))
    chosen = np.sort(rng.choice(candidates, number, replace=False))
    return drop_unused(responses.select_items(chosen), truth[chosen])


def fewer_annotators_and_items(
    responses: Responses, truth: Codes, rng: np.random.Generator
) -> Variant:
    """A small panel on a small table."""
    return fewer_items(*fewer_annotators(responses, truth, rng), rng)


def fewer_responses(responses: Responses, truth: Codes, rng: np.random.Generator) -> Variant:
    """At most three to five responses per item."""
    number = int(rng.integers(3, 6))
    return drop_unused(limit_responses(responses, number, rng), truth)


def one_class_against_rest(responses: Responses, truth: Codes, rng: np.random.Generator) -> Variant:
    """Whether an item is of one class, which is drawn in proportion to its responses."""
    shares = responses.responses_per_symbol / responses.n_responses
    k = int(rng.choice(responses.n_classes, p=shares))
    table = Responses.from_codes(
        responses.item_of_response(),
        responses.by_item.codes.astype(np.intp),
        (responses.by_item.symbols == k).astype(np.intp),
        items=responses.items,
        annotators=responses.annotators,
        classes=np.array(["other", "one"]),
    )
    return table, np.where(truth < 0, -1, truth == k)


VARIANTS: dict[str, Callable[[Responses, Codes, np.random.Generator], Variant]] = {
    "fewer annotators": fewer_annotators,
    "fewer items": fewer_items,
    "fewer annotators and items": fewer_annotators_and_items,
    "fewer responses": fewer_responses,
    "one class against the rest": one_class_against_rest,
}


def variants_of(
    name: str, responses: Responses, truth: Codes, seed: int
) -> Iterator[tuple[str, Responses, Codes]]:
    """One draw of each variant that suits the table of this name: its name, responses and truth."""
    for number, (variant, vary) in enumerate(VARIANTS.items()):
        if responses.n_classes < 3 and vary is one_class_against_rest:
            continue
        rng = np.random.default_rng([seed, number, *name.encode()])
        varied = vary(*sample_items(responses, truth, MAX_ITEMS, rng), rng)
        if np.count_nonzero(varied[1] >= 0) >= MIN_KNOWN:
            yield variant, *varied
