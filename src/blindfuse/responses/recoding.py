"""Responses in other codes: those of a model, of several tables, or of some annotators."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from blindfuse.errors import BadLabels, list_names
from blindfuse.responses.anchor import Alphabet, check_symbols
from blindfuse.responses.coding import as_names, check_classes, positions, union
from blindfuse.responses.rows import Rows, row_of_entry, row_starts
from blindfuse.typing import Array, Codes, Floats

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
    given, own = (annotators, classes, symbols), (table.annotators, table.classes, table.symbols)
    if all(one is other for one, other in zip(given, own, strict=True)):
        return table
    plain = symbols is classes and table.alphabet.is_plain
    annotators, classes = as_names(annotators), check_classes(classes)
    symbols = classes if plain else check_symbols(symbols)
    annotator_at = positions(table.annotators, annotators)
    class_at = positions(table.classes, classes)
    symbol_at = class_at if plain else positions(table.symbols, symbols)
    found = (annotator_at, annotators), (class_at, classes), (symbol_at, symbols)
    if all(np.array_equal(places, np.arange(len(names))) for places, names in found):
        return table
    lost = _lost_names(table.annotators, annotator_at, table.by_item.codes)
    _reject_unknown(lost, annotators, "annotator")
    lost = _lost_names(table.symbols, symbol_at, table.by_item.symbols)
    _reject_unknown(lost, symbols, "class" if plain else "symbol")
    sources = np.full(len(annotators), -1)
    sources[annotator_at[annotator_at >= 0]] = np.flatnonzero(annotator_at >= 0)
    alphabet = Alphabet.plain(classes)
    if not table.alphabet.is_plain:
        _reject_unknown(table.classes[class_at < 0], classes, "class")
        old = positions(symbols, table.symbols), positions(classes, table.classes)
        alphabet = Alphabet(classes, symbols, table.anchor.reindexed(*old))
    return _with_codes(table, sources, annotators, symbol_at, alphabet)


def keep_annotators(table: "Responses", places: Codes) -> "Responses":
    """Return the responses of the annotators at these positions, in this order."""
    symbol_at = np.arange(len(table.symbols))
    return _with_codes(table, places, table.annotators[places], symbol_at, table.alphabet)


def concatenate(tables: Sequence["Responses"]) -> "Responses":
    """Return the items of several tables, one after the other (``Responses.concatenated``)."""
    annotators, alphabet = tables[0].annotators, tables[0].alphabet
    for other in tables[1:]:
        annotators = union(annotators, other.annotators, "annotators")
        alphabet = alphabet.joined(other.alphabet)
    names = annotators, alphabet.classes, alphabet.symbols
    recoded = [recode(table, *names) for table in tables]
    rows = [table.by_item for table in recoded]
    counts = np.concatenate([np.diff(table.starts) for table in rows])
    return type(tables[0])(
        np.arange(len(counts)),
        annotators,
        Rows(
            row_starts(counts),
            np.concatenate([table.codes for table in rows]),
            np.concatenate([table.symbols for table in rows]),
        ),
        classes=alphabet.classes,
        symbols=alphabet.symbols,
        anchor=alphabet.anchor,
        probabilities=_joined_probabilities(recoded),
    )


def _joined_probabilities(tables: Sequence["Responses"]) -> Floats | None:
    """Probabilities of all tables, if all have some."""
    found = [table.probabilities for table in tables if table.probabilities is not None]
    return np.concatenate(found) if len(found) == len(tables) else None


def _with_codes(
    table: "Responses",
    sources: Codes,
    annotators: Array,
    symbol_at: Codes,
    alphabet: Alphabet,
) -> "Responses":
    """Return the responses with other annotators and symbols.

    ``sources[new annotator]`` is the position of an annotator in the table, or −1, and
    ``symbol_at[symbol]`` the new position of a symbol.
    """
    code_of = np.full(len(table.annotators), -1)
    code_of[sources[sources >= 0]] = np.flatnonzero(sources >= 0)
    codes = code_of[table.by_item.codes]
    kept = codes >= 0
    items, codes = row_of_entry(table.by_item.starts)[kept], codes[kept]
    symbols = symbol_at[table.by_item.symbols[kept]]
    recoded = table.from_codes(
        *(items, codes, symbols),
        items=table.items,
        annotators=annotators,
        **alphabet._asdict(),
    )
    if table.probabilities is None:
        return recoded
    class_at = positions(alphabet.classes, table.classes)
    probabilities = np.where(class_at >= 0, table.probabilities[kept][:, class_at], 0.0)
    return replace(recoded, probabilities=probabilities[np.lexsort((codes, items))])


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
