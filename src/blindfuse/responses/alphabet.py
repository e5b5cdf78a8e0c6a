"""What annotators report (symbols) and what is true (classes), and the anchor between the two.

Nothing in the moments, Algorithm 1, EM or the MAP rule needs as many symbols as classes. Only
naming the classes (Assumption 2) takes extra information: which symbols speak for which class.
That is the anchor. Of scores it holds the scale, too: the edges between levels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from blindfuse.errors import BadLabels, BadModel, BadParameter, counted, list_names
from blindfuse.responses import rows
from blindfuse.responses.coding import as_names, check_classes, positions, union
from blindfuse.typing import Array, Codes, Floats

if TYPE_CHECKING:
    from blindfuse.responses.responses import Responses

NO_RESPONSE = "no response"
"""The symbol of an annotator who had the choice and did not respond."""

Kind = Literal["identity", "order", "matrix", "none"]


@dataclass(frozen=True, eq=False)
class ScoreScale:
    """Edges between levels of scores, of the whole crowd or of each annotator.

    Attributes
    ----------
    edges ``[annotator, level − 1]``
        scores at which the next level begins, in ascending order; one row for the whole crowd.
    annotators
        names of the annotators, one per row; None for the whole crowd.
    """

    edges: Floats
    annotators: Array | None = None

    @property
    def n_levels(self) -> int:
        return int(self.edges.shape[1]) + 1

    def codes(self, annotators: Codes, names: Array, scores: Floats) -> Codes:
        """Return the level of each score, ``[response]``; −1 if it is NaN.

        ``annotators`` are positions in ``names``.
        """
        rows = np.zeros(len(scores), dtype=np.intp)
        if self.annotators is not None:
            rows = positions(names, self.annotators)[annotators]
            unknown = np.unique(annotators[rows < 0])
            if len(unknown):
                raise BadLabels(
                    f"There are no levels for the scores of {list_names(names[unknown])}, who are "
                    "new: every annotator has levels of its own. Fit again with their scores, or "
                    "leave them out."
                )
        order = np.argsort(rows, kind="stable")
        bounds = np.searchsorted(rows[order], np.arange(len(self.edges) + 1))
        levels = np.empty(len(scores), dtype=np.intp)
        for edges, (begin, end) in zip(self.edges, pairwise(bounds), strict=True):
            chosen = order[begin:end]
            levels[chosen] = np.searchsorted(edges, scores[chosen], side="right")
        return np.where(np.isnan(scores), -1, levels)

    def header(self) -> dict[str, Any]:
        """Return the names to save, as JSON."""
        return {} if self.annotators is None else {"scale_annotators": self.annotators.tolist()}

    def arrays(self) -> dict[str, Floats]:
        """Return the arrays to save."""
        return {"scale_edges": self.edges}

    @classmethod
    def from_saved(
        cls, header: Mapping[str, Any], arrays: Mapping[str, Array]
    ) -> "ScoreScale | None":
        """Return the scale that was saved, if there is one."""
        if "scale_edges" not in arrays:
            return None
        names, edges = header.get("scale_annotators"), arrays["scale_edges"]
        n_rows = 1 if names is None else len(names)
        is_table = edges.dtype == np.float64 and edges.ndim == 2 and len(edges) == n_rows
        if not is_table or not np.isfinite(edges).all() or np.any(np.diff(edges, axis=1) < 0):
            raise BadModel("The edges of the scores' levels are damaged. Save the model again.")
        return cls(edges, None if names is None else as_names(names))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreScale) or self.edges.shape != other.edges.shape:
            return False
        if self.annotators is None or other.annotators is None:
            same_names = self.annotators is other.annotators
            return same_names and np.array_equal(self.edges, other.edges)
        rows = positions(self.annotators, other.annotators)
        return not np.any(rows < 0) and np.array_equal(self.edges, other.edges[rows])

    __hash__ = None  # type: ignore[assignment]  # equal by content, like arrays


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
    matrix: Floats | None = field(default=None, repr=False)
    values: Floats | None = field(default=None, repr=False)
    scale: ScoreScale | None = field(default=None, repr=False)

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

    def with_no_response(self) -> "Alphabet":
        """Return the alphabet with one more symbol, "no response", which speaks for no class."""
        classes, symbols, anchor = self
        if anchor.kind != "none":
            matrix = np.eye(len(classes)) if anchor.matrix is None else anchor.matrix
            anchor = Anchor.by_matrix(np.vstack([matrix, 0 * matrix[:1]]))
        return Alphabet(classes, as_names([*symbols.tolist(), NO_RESPONSE]), anchor)

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
        anchor = self.anchor
        if mine.matrix is not None and theirs.matrix is not None:
            anchor = Anchor.by_matrix(np.where(symbol_at[:, None] >= 0, mine.matrix, theirs.matrix))
        elif mine.values is not None and theirs.values is not None:
            values = np.where(np.isnan(mine.values), theirs.values, mine.values)
            order = np.argsort(values, kind="stable")
            symbols, anchor = symbols[order], Anchor.by_order(values[order], self.anchor.scale)
        return Alphabet(self.classes, symbols, anchor)


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
        noun = "cluster" if anchor.kind == "none" else "symbol"
        raise BadLabels(
            f"classes={K:,} is more than the {counted(R, noun)} ({list_names(symbols)}). "
            "Annotators must be able to report as many as there are classes: pass fewer classes."
        )
    given = anchor.values if anchor.kind == "order" else anchor.matrix
    expected = (R,) if anchor.kind == "order" else shape
    if anchor.kind != "none" and np.shape(given) != expected:  # type: ignore[arg-type]
        raise BadLabels(
            f"The anchor must be a matrix [symbol, class] of shape {shape}, or the values of "
            f"{R:,} scores, not {np.shape(given)}."  # type: ignore[arg-type]
        )
    if anchor.matrix is None:
        return
    if not np.all(np.isfinite(anchor.matrix)) or np.any(anchor.matrix < 0):
        raise BadLabels("The anchor contains negative or infinite votes. Pass shares from 0 to 1.")
    if not anchor.matrix.any(axis=0).all():
        empty = classes[~anchor.matrix.any(axis=0)]
        raise BadLabels(
            f"No symbol speaks for the classes {list_names(empty)}, so they cannot be named. Give "
            "each of them a symbol in the anchor, or leave them out."
        )


_MAX_CELLS = 200_000_000
"""Cells of items and annotators up to which missing responses become symbols."""


# Responses in another alphabet


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
    by_item = moved.by_item._replace(symbols=symbol_at[moved.by_item.symbols])
    return replace(moved, by_item=by_item, probabilities=probabilities, **alphabet._asdict())


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
        rows.Rows(
            rows.row_starts(counts),
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
    names = responses.annotators if annotators is None else as_names(annotators)
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
    by_item = rows.sort_by_row_and_code(
        np.concatenate([items, new_items]).astype(rows.item_dtype(shape[0])),
        np.concatenate([annotators, chosen[new_columns].astype(annotators.dtype)]),
        np.append(symbols, np.full(len(new_items), R)).astype(rows.symbol_dtype(R + 1)),
        shape,
    )
    alphabet = responses.alphabet.with_no_response()
    return replace(responses, by_item=by_item, probabilities=None, **alphabet._asdict())


def without_abstentions(responses: "Responses", decided: "Responses") -> "Responses":
    """Return ``decided``, what the same responses were read as, without "no response"."""
    at = positions(np.array([NO_RESPONSE], dtype=object), responses.symbols)[0]
    return decided if at < 0 else decided.select_responses(responses.by_item.symbols != at)
