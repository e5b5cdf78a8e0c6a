"""Responses in other codes: those of a model, of several tables, or of some annotators."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.responses.anchor import Alphabet
from blindfuse.responses.coding import as_names, check_classes, positions, union
from blindfuse.responses.rows import Rows, as_positions, row_starts
from blindfuse.typing import Array, Codes

if TYPE_CHECKING:
    from blindfuse.responses.responses import Responses


def recode(
    table: "Responses",
    annotators: Array,
    classes: Array,
    symbols: Array | None = None,
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
    lost = _lost_names(table.annotators, annotator_at, table.by_item.codes)
    _reject_unknown(lost, annotators, "annotator")
    lost = _lost_names(table.symbols, symbol_at, table.by_item.symbols)
    _reject_unknown(lost, symbols, "class" if plain else "symbol")
    alphabet = Alphabet.plain(classes)
    if not table.alphabet.is_plain:
        _reject_unknown(table.classes[class_at < 0], classes, "class")
        old = positions(symbols, table.symbols), positions(classes, table.classes)
        alphabet = Alphabet(classes, symbols, table.anchor.reindexed(*old))
    return _with_codes(table, annotators, annotator_at, alphabet, symbol_at)


def keep_annotators(table: "Responses", chosen: ArrayLike) -> "Responses":
    """Return the responses of these annotators (``Responses.select_annotators``)."""
    places = as_positions(chosen, table.n_annotators, "annotators")
    if len(set(places.tolist())) < len(places):
        raise BadParameter("An annotator is selected more than once. Select each one once.")
    annotator_at = np.full(table.n_annotators, -1)
    annotator_at[places] = np.arange(len(places))
    symbol_at = np.arange(table.n_symbols)
    return _with_codes(table, table.annotators[places], annotator_at, table.alphabet, symbol_at)


def _with_codes(
    table: "Responses", annotators: Array, annotator_at: Codes, alphabet: Alphabet, symbol_at: Codes
) -> "Responses":
    """Return the responses with annotators and symbols at other positions.

    Responses of annotators at position −1 are left out.
    """
    is_kept = annotator_at[table.codes] >= 0
    table = table if is_kept.all() else table.select_responses(is_kept)
    moved = table.rearranged(table.items, np.arange(table.n_items), annotators, annotator_at)
    starts, codes, symbols = moved.by_item
    probabilities = moved.probabilities
    if probabilities is not None:
        class_at = positions(alphabet.classes, table.classes)
        probabilities = np.where(class_at >= 0, probabilities[:, class_at], 0.0)
    return replace(
        moved,
        by_item=Rows(starts, codes, symbol_at[symbols]),
        probabilities=probabilities,
        **alphabet._asdict(),
    )


def concatenate(tables: Sequence["Responses"]) -> "Responses":
    """Return the items of several tables, one after the other (``Responses.concatenated``)."""
    annotators, alphabet = tables[0].annotators, tables[0].alphabet
    for other in tables[1:]:
        annotators = union(annotators, other.annotators, "annotators")
        alphabet = alphabet.joined(other.alphabet)
    names = annotators, alphabet.classes, alphabet.symbols
    recoded = [recode(table, *names) for table in tables]
    rows = [table.by_item for table in recoded]
    given = [table.probabilities for table in recoded if table.probabilities is not None]
    counts = np.concatenate([table.responses_per_item for table in recoded])
    return type(tables[0])(
        np.arange(len(counts)),
        annotators,
        Rows(
            row_starts(counts),
            np.concatenate([table.codes for table in rows]),
            np.concatenate([table.symbols for table in rows]),
        ),
        probabilities=np.concatenate(given) if len(given) == len(tables) else None,
        **alphabet._asdict(),
    )


def _lost_names(names: Array, places: Codes, codes: Array) -> Array:
    """Return the names that have responses, but no place among the new names."""
    if np.all(places >= 0):
        return names[:0]
    return names[(places < 0) & (np.bincount(codes, minlength=len(names)) > 0)]


def _reject_unknown(unknown: Array, known: Array, kind: str) -> None:
    if len(unknown):
        raise BadLabels(
            f"Unknown {kind} {list_names(unknown)}: the model knows {list_names(known)}. "
            "Fit again with these responses, or leave them out."
        )
