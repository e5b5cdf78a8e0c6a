"""``CodedTable``: the fields of ``Responses``, and how codes of responses become one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, list_names
from blindfuse.responses.anchor import IDENTITY, Alphabet, Anchor, check_symbols
from blindfuse.responses.coding import as_names, check_classes
from blindfuse.responses.inputs import Names
from blindfuse.responses.repeats import Repeats, check_repeats, first_repeated_row
from blindfuse.responses.rows import (
    Rows,
    annotator_dtype,
    are_below,
    as_codes,
    freeze_rows,
    sort_and_deduplicate,
    symbol_dtype,
)
from blindfuse.typing import Array, Floats


@dataclass(frozen=True, eq=False, repr=False)
class CodedTable:
    """The fields of :class:`~blindfuse.responses.responses.Responses`, which documents them.

    Functions that read, recode or select responses return one, and ``Responses`` checks it.
    """

    items: Array
    annotators: Array
    classes: Array
    by_item: Rows
    repeated: int = 0
    contradictory: int = 0
    remarks: tuple[str, ...] = ()
    symbols: Array = None  # type: ignore[assignment]  # the classes, once checked
    anchor: Anchor = IDENTITY
    probabilities: Floats | None = None

    @property
    def alphabet(self) -> Alphabet:
        """The classes, the symbols and the anchor between them."""
        return Alphabet(self.classes, self.symbols, self.anchor)


def table_from_codes(
    codes: tuple[Any, Any, Any],
    names: tuple[Names, Names],
    alphabet: tuple[Names, Names | None, Anchor],
    repeats: Repeats = "most_frequent",
    remarks: Sequence[str] = (),
) -> CodedTable:
    """Return the table of responses that are given as positions in names.

    Parameters
    ----------
    codes
        items, annotators and symbols ``[response]``; a negative symbol is a missing response.
    names
        those of the items and of the annotators.
    alphabet
        classes, symbols and anchor; without symbols, they are the classes.
    """
    check_repeats(repeats, Repeats)
    classes, symbols, anchor = alphabet
    item_names, annotator_names = as_names(names[0]), as_names(names[1])
    class_names = check_classes(classes)
    symbol_names = class_names
    if symbols is not None and symbols is not classes:
        symbol_names = check_symbols(symbols)
    item_codes, annotator_codes, symbol_codes = _as_codes_of_equal_length(*codes)
    present = symbol_codes >= 0
    if not present.all():
        item_codes, annotator_codes = item_codes[present], annotator_codes[present]
        symbol_codes = symbol_codes[present]
    _reject_codes_outside(item_codes, item_names, "item")
    _reject_codes_outside(annotator_codes, annotator_names, "annotator")
    _reject_codes_outside(symbol_codes, symbol_names, "symbol")
    resolved = sort_and_deduplicate(
        item_codes,
        annotator_codes.astype(annotator_dtype(len(annotator_names))),
        symbol_codes.astype(symbol_dtype(len(symbol_names))),
        (len(item_names), len(annotator_names)),
        repeats,
    )
    if resolved.repeated and repeats == "error":
        item = first_repeated_row(item_codes, resolved.starts)
        responding = annotator_codes[item_codes == item]
        annotator = int(np.argmax(np.bincount(responding) > 1))
        raise BadLabels(
            f"Annotator {list_names(annotator_names[[annotator]])} labelled item "
            f"{list_names(item_names[[item]])} more than once. "
            "Pass repeats='most_frequent', 'last' or 'first' to keep one."
        )
    return CodedTable(
        items=item_names,
        annotators=annotator_names,
        classes=class_names,
        by_item=freeze_rows(*resolved[:3]),
        repeated=resolved.repeated,
        contradictory=resolved.contradictory,
        remarks=tuple(remarks),
        symbols=symbol_names,
        anchor=anchor,
    )


def _as_codes_of_equal_length(*columns: Any) -> list[Array]:
    names = ("item_codes", "annotator_codes", "symbol_codes")
    arrays = [as_codes(column, name) for column, name in zip(columns, names, strict=True)]
    if len({len(array) for array in arrays}) > 1:
        lengths = ", ".join(f"{len(array):,}" for array in arrays)
        raise BadLabels(
            f"{', '.join(names)} must have the same length, but have {lengths} entries. "
            "Pass one entry per response."
        )
    return arrays


def _reject_codes_outside(codes: Array, names: Array, kind: str) -> None:
    if not are_below(codes, len(names)):
        outside = codes[(codes < 0) | (codes >= len(names))]
        raise BadLabels(
            f"There is no {kind} {list_names(outside)}: codes run from 0 to {len(names) - 1:,}. "
            "Number them from zero, and pass a name for each."
        )
