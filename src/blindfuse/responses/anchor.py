"""What annotators report (symbols) and what is true (classes), and the anchor between the two.

Nothing in the moments, Algorithm 1, EM or the MAP rule needs as many symbols as classes. Only
naming the classes (Assumption 2) takes extra information: which symbols speak for which class.
That is the anchor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from blindfuse.errors import BadLabels, list_names
from blindfuse.responses.coding import MAX_CLASSES, check_classes, positions, union
from blindfuse.responses.score_scale import ScoreScale
from blindfuse.typing import Array, Codes, Floats

Kind = Literal["identity", "order", "matrix", "none"]

MAX_SYMBOLS = MAX_CLASSES
"""More symbols than this mean that the wrong column was chosen, or that scores need bins."""


@dataclass(frozen=True, eq=False)
class Anchor:
    """What the symbols say about the classes.

    Attributes
    ----------
    kind
        ``"identity"``: every symbol is the class of the same name (plain labels).
        ``"matrix"``: ``matrix[symbol, class]`` are the votes that a response with this symbol has
        for each class; a row of zeros says nothing.
        ``"order"``: the symbols are scores, ``values[symbol]``, and larger scores speak for later
        classes. A symbol without a value (NaN) was not reported. ``scale`` says where levels of
        the score begin; None if every score is a symbol.
        ``"none"``: every annotator has symbols of its own, as clusterings have.
    """

    kind: Kind
    matrix: Floats | None = None
    values: Floats | None = None
    scale: ScoreScale | None = None

    @classmethod
    def by_matrix(cls, matrix: Any) -> "Anchor":
        """Return the anchor with these votes ``[symbol, class]``."""
        return cls("matrix", matrix=np.ascontiguousarray(matrix, dtype=float))

    @classmethod
    def by_order(cls, values: Any, scale: ScoreScale | None = None) -> "Anchor":
        """Return the anchor of scores with these values ``[symbol]``."""
        return cls("order", values=np.ascontiguousarray(values, dtype=float), scale=scale)

    def reindexed(self, symbol_at: Codes, class_at: Codes) -> "Anchor":
        """Return the anchor of the symbols and classes at these positions.

        Position −1 stands for a new symbol or class, about which the anchor says nothing.
        """
        if self.matrix is not None:
            matrix = self.matrix[symbol_at][:, class_at]
            matrix[symbol_at < 0] = 0.0
            matrix[:, class_at < 0] = 0.0
            return Anchor.by_matrix(matrix)
        if self.values is not None:
            values = np.where(symbol_at < 0, np.nan, self.values[symbol_at])
            return Anchor.by_order(values, self.scale)
        return self

    def arrays(self) -> dict[str, Floats]:
        """Return the arrays to save beside ``kind``."""
        named = {"anchor_matrix": self.matrix, "anchor_values": self.values}
        edges = {} if self.scale is None else self.scale.arrays()
        return {name: array for name, array in named.items() if array is not None} | edges

    def __repr__(self) -> str:
        return f"Anchor({self.kind!r})"


IDENTITY = Anchor("identity")
"""The anchor of plain labels."""

NO_ANCHOR = Anchor("none")
"""The anchor of annotators with symbols of their own."""


class Alphabet(NamedTuple):
    """The classes (K names), the symbols (R names) and the anchor between them."""

    classes: Array
    symbols: Array
    anchor: Anchor

    @classmethod
    def plain(cls, classes: Array) -> "Alphabet":
        """Return the alphabet of plain labels."""
        return cls(classes, classes, IDENTITY)

    @property
    def is_plain(self) -> bool:
        """Whether annotators report classes."""
        return self.anchor.kind == "identity"

    def joined(self, other: "Alphabet") -> "Alphabet":
        """Return the alphabet of the symbols and classes of both; scores are sorted by value."""
        if self.anchor.kind != other.anchor.kind:
            raise BadLabels(
                f"Responses with the anchors {self.anchor.kind!r} and {other.anchor.kind!r} cannot "
                "be joined. Create both with the same constructor."
            )
        if self.is_plain:
            return Alphabet.plain(union(self.classes, other.classes, "classes"))
        same = len(self.classes) == len(other.classes) and not np.any(
            positions(self.classes, other.classes) < 0
        )
        if not same:
            raise BadLabels(
                f"Responses in the classes {list_names(self.classes)} and "
                f"{list_names(other.classes)} cannot be joined. Pass the same classes= to both."
            )
        if self.anchor.scale != other.anchor.scale:
            raise BadLabels(
                "Scores that were divided into levels at different edges cannot be joined. Pass "
                "the edges of the first table to the others: levels=first.anchor.scale."
            )
        symbols = check_symbols(_all_names(self.symbols, other.symbols))
        own = self.anchor.reindexed(positions(symbols, self.symbols), np.arange(len(self.classes)))
        theirs = other.anchor.reindexed(
            positions(symbols, other.symbols), positions(self.classes, other.classes)
        )
        if own.matrix is not None and theirs.matrix is not None:
            known = positions(symbols, self.symbols)[:, None] >= 0
            return Alphabet(
                self.classes, symbols, Anchor.by_matrix(np.where(known, own.matrix, theirs.matrix))
            )
        if own.values is not None and theirs.values is not None:
            values = np.where(np.isnan(own.values), theirs.values, own.values)
            order = np.argsort(values, kind="stable")
            anchor = Anchor.by_order(values[order], self.anchor.scale)
            return Alphabet(self.classes, symbols[order], anchor)
        return Alphabet(self.classes, symbols, self.anchor)


def _all_names(names: Array, more: Array) -> list[Any]:
    new = more[positions(more, names) < 0]
    return [*names.tolist(), *new.tolist()]


def check_symbols(symbols: Sequence[Any] | Array) -> Array:
    """Return the names of symbols as an array; raise BadLabels if they are invalid or too many."""
    if len(symbols) > MAX_SYMBOLS:
        raise BadLabels(
            f"There are {len(symbols):,} symbols, more than the limit of {MAX_SYMBOLS:,}. "
            "Use fewer levels= for scores, or check the column."
        )
    return check_classes(symbols)


def check_alphabet(alphabet: Alphabet, reported: Array) -> None:
    """Raise BadLabels unless the anchor fits; ``reported[symbol]`` counts the responses.

    There must be a symbol for every class, by number and by the anchor.
    """
    classes, symbols, anchor = alphabet
    R, K = len(symbols), len(classes)
    if anchor.kind == "identity":
        if symbols is not classes and not np.array_equal(positions(symbols, classes), np.arange(K)):
            raise BadLabels(
                f"The symbols {list_names(symbols)} are not the classes {list_names(classes)}, so "
                "the anchor cannot be the identity. Pass an anchor that says which symbols speak "
                "for which class."
            )
        return
    if R < K:
        raise BadLabels(
            f"There are {K:,} classes, but only {R:,} symbols ({list_names(symbols)}). Annotators "
            "must be able to report at least as many symbols as there are classes: pass fewer "
            "classes."
        )
    if anchor.kind == "matrix":
        _check_matrix(anchor.matrix, alphabet)
    if anchor.kind == "order":
        values = anchor.values
        if values is None or values.shape != (R,) or np.any(np.isinf(values)):
            raise BadLabels(
                f"The order of {R:,} symbols needs one finite value for each. "
                "Create the table with Responses.from_scores."
            )
        unknown = np.isnan(values) & (reported > 0)
        if unknown.any():
            raise BadLabels(
                f"The order has no value for the symbols {list_names(symbols[unknown])}, which "
                "were reported. Create the table with Responses.from_scores."
            )


def _check_matrix(matrix: Floats | None, alphabet: Alphabet) -> None:
    R, K = len(alphabet.symbols), len(alphabet.classes)
    if matrix is None or matrix.shape != (R, K):
        raise BadLabels(
            f"The anchor must be a matrix [symbol, class] of shape {(R, K)}, not "
            f"{None if matrix is None else matrix.shape}. Pass one row per symbol."
        )
    if not np.all(np.isfinite(matrix)) or np.any(matrix < 0):
        raise BadLabels("The anchor contains negative or infinite votes. Pass shares from 0 to 1.")
    empty = ~np.any(matrix > 0, axis=0)
    if empty.any():
        raise BadLabels(
            f"No symbol speaks for the classes {list_names(alphabet.classes[empty])}, so they "
            "cannot be named. Give each of them a symbol in the anchor, or leave them out."
        )
