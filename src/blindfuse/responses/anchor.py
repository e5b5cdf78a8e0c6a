"""What annotators report (symbols) and what is true (classes), and the anchor between the two.

Nothing in the moments, Algorithm 1, EM or the MAP rule needs as many symbols as classes. Only
naming the classes (Assumption 2) takes extra information: which symbols speak for which class.
That is the anchor.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from blindfuse.errors import BadLabels, list_names
from blindfuse.responses.coding import check_classes, positions, union
from blindfuse.responses.score_scale import ScoreScale
from blindfuse.typing import Array, Codes, Floats

Kind = Literal["identity", "order", "matrix", "none"]


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

    def symbols_of(self, annotators: Codes, names: Array, scores: Floats) -> Codes:
        """Return the symbol of each score of ``names[annotators]``; −1 if it is missing."""
        if self.scale is not None:
            return self.scale.codes(annotators, names, scores)
        return np.where(np.isnan(scores), -1, np.searchsorted(np.asarray(self.values), scores))

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
        K, class_at = len(self.classes), positions(self.classes, other.classes)
        if np.any(class_at < 0) or len(other.classes) != K:
            raise BadLabels(
                f"Responses in the classes {list_names(self.classes)} and "
                f"{list_names(other.classes)} cannot be joined. Pass the same classes= to both."
            )
        if self.anchor.scale != other.anchor.scale:
            raise BadLabels(
                "Scores that were divided into levels at different edges cannot be joined. Pass "
                "the edges of the first table to the others: levels=first.anchor.scale."
            )
        new = other.symbols[positions(other.symbols, self.symbols) < 0]
        symbols = check_classes([*self.symbols.tolist(), *new.tolist()])
        symbol_at = positions(symbols, self.symbols)
        mine = self.anchor.reindexed(symbol_at, np.arange(K))
        theirs = other.anchor.reindexed(positions(symbols, other.symbols), class_at)
        if mine.matrix is not None and theirs.matrix is not None:
            matrix = np.where(symbol_at[:, None] >= 0, mine.matrix, theirs.matrix)
            return Alphabet(self.classes, symbols, Anchor.by_matrix(matrix))
        if mine.values is not None and theirs.values is not None:
            values = np.where(np.isnan(mine.values), theirs.values, mine.values)
            order = np.argsort(values, kind="stable")
            anchor = Anchor.by_order(values[order], self.anchor.scale)
            return Alphabet(self.classes, symbols[order], anchor)
        return Alphabet(self.classes, symbols, self.anchor)


def check_alphabet(alphabet: Alphabet) -> None:
    """Raise BadLabels unless there is a symbol for every class, by number and by the anchor."""
    classes, symbols, anchor = alphabet
    shape = R, K = len(symbols), len(classes)
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
    if anchor.kind == "order" and np.shape(anchor.values) != (R,):  # type: ignore[arg-type]
        raise BadLabels(f"The order of {R:,} symbols needs one value for each.")
    if anchor.kind != "matrix":
        return
    if anchor.matrix is None or anchor.matrix.shape != shape:
        raise BadLabels(
            f"The anchor must be a matrix [symbol, class] of shape {shape}, not "
            f"{np.shape(anchor.matrix)}. Pass one row per symbol."  # type: ignore[arg-type]
        )
    if not np.all(np.isfinite(anchor.matrix)) or np.any(anchor.matrix < 0):
        raise BadLabels("The anchor contains negative or infinite votes. Pass shares from 0 to 1.")
    if not anchor.matrix.any(axis=0).all():
        empty = classes[~anchor.matrix.any(axis=0)]
        raise BadLabels(
            f"No symbol speaks for the classes {list_names(empty)}, so they cannot be named. Give "
            "each of them a symbol in the anchor, or leave them out."
        )
