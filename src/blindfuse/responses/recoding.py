"""Responses made of others: in other codes, of several tables, with abstentions or as clusters."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.responses.alphabet import Alphabet, Anchor
from blindfuse.responses.coding import as_names, check_classes, positions, union
from blindfuse.responses.rows import (
    Rows,
    item_dtype,
    row_starts,
    sort_by_row_and_code,
    symbol_dtype,
)
from blindfuse.typing import Array, Codes

if TYPE_CHECKING:
    from blindfuse.responses.responses import Responses

NO_RESPONSE = "no response"
"""The symbol of an annotator who had the choice and did not respond."""

_MAX_CELLS = 200_000_000
"""Cells of items and annotators up to which missing responses become symbols."""


# Other codes


def recode(
    table: "Responses", annotators: Array, classes: Array, symbols: Array | None = None
) -> "Responses":
    """Return the responses coded by these names (``Responses.recoded``).

    The table itself is returned if its codes are those of the names already.
    """
    symbols = classes if symbols is None else symbols
    if annotators is table.annotators and classes is table.classes and symbols is table.symbols:
        return table
    plain = symbols is classes and table.alphabet.is_plain
    annotators, classes = as_names(annotators), check_classes(classes)
    symbols = classes if plain else check_classes(symbols)
    annotator_at = positions(table.annotators, annotators)
    class_at = positions(table.classes, classes)
    symbol_at = class_at if plain else positions(table.symbols, symbols)
    places = (annotator_at, annotators), (class_at, classes), (symbol_at, symbols)
    if all(np.array_equal(at, np.arange(len(names))) for at, names in places):
        return table
    counts = table.responses_per_annotator, table.responses_per_symbol
    _reject_unknown(table.annotators[(annotator_at < 0) & (counts[0] > 0)], annotators, "annotator")
    lost = table.symbols[(symbol_at < 0) & (counts[1] > 0)]
    _reject_unknown(lost, symbols, "class" if plain else "symbol")
    alphabet = Alphabet.plain(classes)
    old_class_at = positions(classes, table.classes)
    if not table.alphabet.is_plain:
        _reject_unknown(table.classes[class_at < 0], classes, "class")
        anchor = table.anchor.reindexed(positions(symbols, table.symbols), old_class_at)
        alphabet = Alphabet(classes, symbols, anchor)
    moved = table.rearranged(table.items, np.arange(table.n_items), annotators, annotator_at)
    probabilities = moved.probabilities
    if probabilities is not None:
        probabilities = np.where(old_class_at >= 0, probabilities[:, old_class_at], 0.0)
    rows = moved.by_item._replace(symbols=symbol_at[moved.by_item.symbols])
    return replace(moved, by_item=rows, probabilities=probabilities, **alphabet._asdict())


def _reject_unknown(unknown: Array, known: Array, kind: str) -> None:
    if len(unknown):
        raise BadLabels(
            f"Unknown {kind} {list_names(unknown)}: the model knows {list_names(known)}. "
            "Fit again with these responses, or leave them out."
        )


def concatenate(tables: Sequence["Responses"]) -> "Responses":
    """Return the items of several tables, one after the other (``Responses.concatenated``)."""
    annotators, alphabet = tables[0].annotators, tables[0].alphabet
    for other in tables[1:]:
        annotators = union(annotators, other.annotators, "annotators")
        alphabet = alphabet.joined(other.alphabet)
    recoded = [recode(one, annotators, alphabet.classes, alphabet.symbols) for one in tables]
    given = [table.probabilities for table in recoded if table.probabilities is not None]
    counts = np.concatenate([table.responses_per_item for table in recoded])
    return type(tables[0])(
        np.arange(len(counts)),
        annotators,
        Rows(
            row_starts(counts),
            np.concatenate([table.by_item.codes for table in recoded]),
            np.concatenate([table.by_item.symbols for table in recoded]),
        ),
        probabilities=np.concatenate(given) if len(given) == len(tables) else None,
        **alphabet._asdict(),
    )


# Abstentions


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
    shape, R = (responses.n_items, responses.n_annotators), responses.n_symbols
    missing = np.ones((shape[0], len(chosen)), dtype=bool)
    column_of = np.full(shape[1], -1)
    column_of[chosen] = np.arange(len(chosen))
    items, (_, annotators, symbols) = responses.item_of_response(), responses.by_item
    column = column_of[annotators]
    missing[items[column >= 0], column[column >= 0]] = False
    new_items, new_columns = np.nonzero(missing)
    rows = sort_by_row_and_code(
        np.concatenate([items, new_items]).astype(item_dtype(shape[0])),
        np.concatenate([annotators, chosen[new_columns].astype(annotators.dtype)]),
        np.append(symbols, np.full(len(new_items), R)).astype(symbol_dtype(R + 1)),
        shape,
    )
    alphabet = with_no_response(responses.alphabet)
    return replace(responses, by_item=rows, probabilities=None, **alphabet._asdict())


def with_no_response(alphabet: Alphabet) -> Alphabet:
    """Return the alphabet with one more symbol, "no response", which speaks for no class."""
    classes, symbols, anchor = alphabet
    if anchor.kind != "none":
        matrix = np.eye(len(classes)) if anchor.matrix is None else anchor.matrix
        anchor = Anchor.by_matrix(np.vstack([matrix, 0 * matrix[:1]]))
    return Alphabet(classes, as_names([*symbols.tolist(), NO_RESPONSE]), anchor)


def without_abstentions(responses: "Responses", decided: "Responses") -> "Responses":
    """Return ``decided``, what the same responses were read as, without "no response"."""
    at = positions(np.array([NO_RESPONSE], dtype=object), responses.symbols)[0]
    return decided if at < 0 else decided.select_responses(responses.by_item.symbols != at)
