"""Responses whose symbols are not the classes: probabilities, abstentions, clusters.

Scores are in :mod:`blindfuse.responses.scores`.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.responses.anchor import NO_ANCHOR, Alphabet, Anchor
from blindfuse.responses.coding import as_names, as_values, check_classes, positions
from blindfuse.responses.inputs import Names, names_or_numbers
from blindfuse.responses.scores import ordered_classes
from blindfuse.typing import Codes, Flags, Floats

if TYPE_CHECKING:
    from blindfuse.responses.responses import Responses


NO_RESPONSE = "no response"
"""The symbol of an annotator who had the choice and did not respond."""

_MAX_CELLS = 200_000_000
"""Cells of items and annotators up to which missing responses become symbols."""

_SUM_TOLERANCE = 1e-3
"""Largest deviation of the sum of probabilities from one: that of single precision, and of
probabilities that were rounded to three digits."""


def check_probabilities(array: Any) -> Floats:
    """Return probabilities ``[item, annotator, class]``; a row of NaN is missing."""
    try:
        probabilities = np.asarray(as_values(array), dtype=float)
    except (TypeError, ValueError):
        raise BadLabels(
            "Probabilities must be an array of numbers [item, annotator, class]. "
            "Use rows of NaN for missing responses."
        ) from None
    if probabilities.ndim != 3 or probabilities.shape[2] < 2 or not probabilities.shape[1]:
        raise BadLabels(
            "Expected probabilities [item, annotator, class] with at least two classes, not an "
            f"array of shape {probabilities.shape}. Stack the arrays of predict_proba along "
            "axis 1."
        )
    missing = np.asarray(np.isnan(probabilities).all(axis=2))
    some = np.asarray(np.isnan(probabilities).any(axis=2))
    _reject_rows(some & ~missing, "have some NaN, but not only")
    known = np.where(missing[:, :, None], 1 / probabilities.shape[2], probabilities)
    _reject_rows(np.asarray((known < 0).any(axis=2)), "are negative")
    wrong = np.asarray(np.abs(known.sum(axis=2) - 1) > _SUM_TOLERANCE)
    _reject_rows(wrong, "do not sum to one over the classes")
    if missing.all():
        raise BadLabels("Every probability is NaN, so there is nothing to fuse.")
    return probabilities


def _reject_rows(bad: Flags, reason: str) -> None:
    if bad.any():
        cells = [f"item {item}, annotator {annotator}" for item, annotator in np.argwhere(bad)[:5]]
        raise BadLabels(
            f"The probabilities of {np.count_nonzero(bad):,} rows {reason} ({'; '.join(cells)}). "
            "Correct them, or use NaN for missing responses."
        )


def read_probabilities(
    table: type["Responses"],
    array: Any,
    classes: Any,
    items: Names | None,
    annotators: Names | None,
) -> "Responses":
    """Read probabilities ``[item, annotator, class]`` (``Responses.from_probabilities``)."""
    probabilities = check_probabilities(array)
    N, M, K = probabilities.shape
    class_names = np.arange(K) if classes is None else check_classes(classes)
    if len(class_names) != K:
        raise BadLabels(
            f"classes= has {len(class_names):,} names, but the probabilities are those of {K:,} "
            "classes. Pass one name each."
        )
    present = ~np.isnan(probabilities[:, :, 0])
    return table.of_matrix(
        names_or_numbers(items, N, "items"),
        names_or_numbers(annotators, M, "annotators"),
        np.where(present, probabilities.argmax(axis=2), -1),
        classes=class_names,
        probabilities=probabilities[present],
    )


def add_abstentions(responses: "Responses", annotators: Any) -> "Responses":
    """Make missing responses a symbol (``Responses.with_abstentions``)."""
    if responses.n_responses == 0:
        raise BadLabels(
            "Every annotator abstains on every item, so there is nothing to fuse. "
            "Check how missing responses are marked."
        )
    if positions(np.array([NO_RESPONSE]), responses.symbols)[0] >= 0:
        raise BadLabels(
            f"The symbol {NO_RESPONSE!r} exists already. Abstentions can be added only once."
        )
    if responses.anchor.kind == "order":
        raise BadLabels(
            "Scores have an order, in which an abstention has no place. Leave missing scores out."
        )
    chosen = np.arange(responses.n_annotators)
    if annotators is not None:
        names = as_names(annotators)
        chosen = positions(names, responses.annotators)
        if np.any(chosen < 0):
            raise BadParameter(
                f"There are no annotators {list_names(names[chosen < 0])}. Pass their names."
            )
    if responses.n_items * len(chosen) > _MAX_CELLS:
        raise BadParameter(
            f"{responses.n_items:,} items × {len(chosen):,} annotators are too many cells for "
            "abstentions. In a sparse crowd most annotators never saw the item: pass those who saw "
            "all items."
        )
    return fill_missing(responses, np.unique(chosen))


def fill_missing(responses: "Responses", chosen: Codes) -> "Responses":
    """Give every missing cell of the chosen annotators the symbol NO_RESPONSE."""
    R, N = responses.n_symbols, responses.n_items
    missing = np.ones((N, len(chosen)), dtype=bool)
    column_of = np.full(responses.n_annotators, -1)
    column_of[chosen] = np.arange(len(chosen))
    items, column = responses.item_of_response(), column_of[responses.by_item.codes]
    missing[items[column >= 0], column[column >= 0]] = False
    new_items, new_columns = np.nonzero(missing)
    alphabet = with_no_response(responses.alphabet)
    table = type(responses).from_codes(
        np.concatenate([items, new_items]),
        np.concatenate([responses.by_item.codes, chosen[new_columns]]),
        np.concatenate([responses.by_item.symbols, np.full(len(new_items), R)]),
        items=responses.items,
        annotators=responses.annotators,
        remarks=responses.remarks,
        **alphabet._asdict(),
    )
    return replace(table, repeated=responses.repeated, contradictory=responses.contradictory)


def with_no_response(alphabet: Alphabet) -> Alphabet:
    """Return the alphabet with one more symbol, "no response", which speaks for no class."""
    classes, symbols, anchor = alphabet
    matrix = np.eye(len(classes)) if anchor.matrix is None else anchor.matrix
    own = anchor if anchor.kind == "none" else Anchor.by_matrix(np.vstack([matrix, 0 * matrix[:1]]))
    return Alphabet(classes, as_names([*symbols.tolist(), NO_RESPONSE]), own)


def without_abstentions(responses: "Responses", decided: "Responses") -> "Responses":
    """Return ``decided``, what the same responses were read as, without "no response"."""
    at = positions(np.array([NO_RESPONSE], dtype=object), responses.symbols)[0]
    return decided if at < 0 else decided.select_responses(responses.by_item.symbols != at)


def cluster_responses(responses: "Responses", classes: Any) -> "Responses":
    """Responses of annotators with symbols of their own (``Responses.from_clusters``)."""
    if classes is None:
        raise BadParameter(
            "classes=None: pass the number of classes. blindfuse.fuse_clusters chooses it by "
            "held-out prediction."
        )
    K = len(ordered_classes(classes))
    if responses.n_symbols < K:
        raise BadLabels(
            f"classes={K:,} is more than the {responses.n_symbols:,} clusters "
            f"({list_names(responses.symbols)}). Ask for fewer classes, or pass finer clusterings."
        )
    return responses.with_anchor(classes, NO_ANCHOR)
