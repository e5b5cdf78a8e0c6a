"""``Comparisons``: what judges said about pairs of items, as counts of equal comparisons."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from blindfuse.comparisons.model import Cells
from blindfuse.comparisons.winners import shares_of_flags, winner_shares
from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.model.arrays import damaged_file_error, load_arrays, save_arrays
from blindfuse.responses import frames
from blindfuse.responses.coding import (
    as_column,
    as_names,
    check_equal_lengths,
    code_names,
    positions,
    union,
)
from blindfuse.responses.detection import detect_columns
from blindfuse.responses.inputs import row_description
from blindfuse.responses.notes import count_note, names_note, sum_notes
from blindfuse.responses.rows import are_below, as_codes
from blindfuse.responses.scalars import as_floats
from blindfuse.responses.values import fold
from blindfuse.typing import Array, Codes, Floats, Integers

COLUMNS = {"judge": "annotators", "left": "items", "right": "items", "prompt": "prompts"}
"""Columns of codes, and the names that they are positions of."""
FORMAT = "ranking"
EVERYBODY = "all judges"
"""The name of the judge of a table without judges."""
MIN_ONE_SIDED = 10
"""Comparisons that the left item won, without one that the right item won, from which on the
winner is taken to be listed first."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons:
    """Comparisons of pairs of items by judges. Equal comparisons are one row, with their number.

    Create one with :meth:`from_columns` or :meth:`from_frame`. Tables can be added.

    Attributes
    ----------
    items, annotators
        names, sorted; a table without judges has one of them.
    rows
        :class:`~blindfuse.comparisons.model.Cells`: the comparisons in codes.
    prompts
        names of what was compared on; None if they are not known.
    lists_winners
        whether the left item won by definition.
    remarks
        notes about the conversion of the user's values.
    """

    items: Array
    annotators: Array
    rows: Cells
    prompts: Array | None = None
    lists_winners: bool = False
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the codes and counts, once: a file may hold any."""
        rows, counts = self.rows, self.rows.counts
        columns = [(getattr(rows, name), getattr(self, kind)) for name, kind in COLUMNS.items()]
        known = [pair for pair in columns if pair[0] is not None or pair[1] is not None]
        if not (
            counts.shape == (len(counts), 3)
            and np.all((counts >= 0) & (counts < np.inf))
            and all(codes is not None and names is not None for codes, names in known)
            and all(len(as_codes(codes, "codes")) == len(counts) for codes, _ in known)
            and all(are_below(codes, len(names)) for codes, names in known)
            and np.all(rows.left != rows.right)
        ):
            raise BadLabels(
                "These are not comparisons of two items in codes and counts. Create the table with "
                "from_columns or from_frame."
            )

    @classmethod
    def from_columns(
        cls,
        left: Any,
        right: Any,
        winner: Any,
        annotators: Any = None,
        *,
        weights: Any = None,
        prompts: Any = None,
    ) -> "Comparisons":
        """Read columns of equal length with one row per comparison.

        A winner is the name of one of both items, ``"left"`` or ``"right"``, ``"A"`` or ``"B"``,
        ``"model_a"`` or ``"model_b"``, a tie (``"tie"``, ``"both bad"`` …), or a number: 1 if the
        left item won, 0 if the right one did, 0.5 for a tie, and probabilities between. Missing
        winners are left out. ``weights`` say how many comparisons a row stands for. Without a
        winner, all left items won, and judges have no position bias.
        """
        given = {"left": left, "right": right, "winner": winner, "annotators": annotators}
        given |= {"weights": weights, "prompts": prompts}
        columns = {
            name: as_column(frames.values(column))
            for name, column in given.items()
            if column is not None
        }
        check_equal_lengths(columns)
        n = len(columns["left"])
        sides = [columns["left"], columns["right"]]
        if sides[0].dtype.kind != sides[1].dtype.kind:
            sides = [side.astype(object) for side in sides]
        both, items, notes = _sorted_codes(np.concatenate(sides), "item")
        rows, names = {"left": both[:n], "right": both[n:]}, {"items": items}
        rows["judge"], names["annotators"] = np.zeros(n, dtype=np.intp), as_column([EVERYBODY])
        if annotators is not None:
            rows["judge"], names["annotators"], _ = _sorted_codes(
                columns["annotators"], "annotator"
            )
        if prompts is not None:
            rows["prompt"], names["prompts"], _ = _sorted_codes(columns["prompts"], "prompt")
        share = np.ones(n)
        if winner is not None:
            share = winner_shares(columns["winner"], both[:n], both[n:], items)
        weight = _check_weights(columns["weights"]) if weights is not None else np.ones(1)
        is_same = both[:n] == both[n:]
        same = list_names(items[np.unique(both[:n][is_same])])
        left_out = {
            "comparison{s} without a winner left out": np.isnan(share),
            f"comparison{{s}} of an item with itself left out: {same}": is_same,
        }
        for text, where in left_out.items():
            notes = [*notes, *count_note(int(np.ceil((where * weight).sum())), text)]
        used = ~np.isnan(share) & ~is_same & (weight > 0)
        if not used.all():
            rows = {name: codes[used] for name, codes in rows.items()}
            share, weight = share[used], np.broadcast_to(weight, n)[used]
        is_tie = share == 0.5
        lefts = np.where(is_tie, 0.0, share)
        outcomes = (part * weight for part in (lefts, is_tie, 1 - lefts - is_tie))
        cells = Cells.grouped(rows, outcomes, len(names["annotators"]), len(items))
        return cls(**names, rows=cells, lists_winners=winner is None, remarks=tuple(notes))

    @classmethod
    def from_frame(cls, frame: Any, **columns: str | None) -> "Comparisons":
        """Read a table (pandas, Polars, DuckDB, …) with one row per comparison.

        The columns ``left``, ``right``, ``winner``, ``annotator``, ``prompt`` and ``weight`` may be
        named; those that are not are detected by their names. Columns such as ``chosen`` and
        ``rejected`` need no winner.
        """
        frame = frames.with_index(frame)
        sample = frames.FrameSample(frame, call=" to Comparisons.from_frame")
        found = detect_columns(sample, columns)
        arrays = frames.columns(frame, list(found.values()))
        return cls.from_roles(dict(zip(found, arrays, strict=True)))

    @classmethod
    def from_roles(cls, columns: Mapping[str, Any]) -> "Comparisons":
        """Read columns by the roles ``left``, ``right``, ``winner``, ``annotator``, …"""
        roles = ("left", "right", "winner", "annotator")
        if "right_wins" in columns:
            flags = (as_column(frames.values(columns[name])) for name in ("winner", "right_wins"))
            columns = {**columns, "winner": shares_of_flags(*flags)}
        weights, prompts = columns.get("weight"), columns.get("prompt")
        return cls.from_columns(*map(columns.get, roles), weights=weights, prompts=prompts)

    def __add__(self, other: "Comparisons") -> "Comparisons":
        """Return the comparisons of both tables; names that are equal are the same."""
        if (self.prompts is None) != (other.prompts is None):
            raise BadLabels("Only one of both tables has prompts. Read both with them, or none.")
        codes: dict[str, Codes] = {}
        names: dict[str, Any] = {}
        for column, kind in COLUMNS.items():
            if getattr(self, kind) is not None:
                names[kind] = union(getattr(self, kind), getattr(other, kind), kind)
                names[kind] = names[kind][_name_order(names[kind])]
                moved = [
                    positions(getattr(table, kind), names[kind])[getattr(table.rows, column)]
                    for table in (self, other)
                ]
                codes[column] = np.concatenate(moved)
        counts = np.concatenate([self.rows.counts, other.rows.counts])
        rows = Cells.grouped(codes, counts.T, len(names["annotators"]), len(names["items"]))
        lists_winners = self.lists_winners and other.lists_winners
        remarks = tuple(sum_notes([*self.remarks, *other.remarks]))
        return Comparisons(rows=rows, lists_winners=lists_winners, remarks=remarks, **names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to an ``.npz`` file without pickle; the file is replaced atomically."""
        arrays = {name: getattr(self.rows, name) for name in (*COLUMNS, "counts")}
        names = {kind: getattr(self, kind) for kind in dict.fromkeys(COLUMNS.values())}
        header = {kind: None if each is None else each.tolist() for kind, each in names.items()}
        header |= {"lists_winners": self.lists_winners, "remarks": self.remarks}
        save_arrays(path, FORMAT, header, {k: v for k, v in arrays.items() if v is not None})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Comparisons":
        """Read a file that :meth:`save` wrote; raise :class:`BadModel` for any other file."""
        header, arrays = load_arrays(path, FORMAT)
        try:
            names: dict[str, Any] = {
                kind: as_names(header[kind]) for kind in COLUMNS.values() if header[kind]
            }
            rows = Cells(**arrays, n_judges=len(names["annotators"]), n_items=len(names["items"]))
            notes = tuple(header["remarks"])
            return cls(**names, rows=rows, lists_winners=header["lists_winners"], remarks=notes)
        except (BadLabels, TypeError, ValueError, KeyError) as error:
            raise damaged_file_error(path, FORMAT) from error

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    @property
    def has_judges(self) -> bool:
        """Whether it is known who compared."""
        return not (self.n_annotators == 1 and self.annotators[0] == EVERYBODY)

    @property
    def has_sides(self) -> bool:
        """Whether it is known which item was on the left, so that judges may have a position bias:
        not if the winner is listed first."""
        lefts, _, rights = self.rows.counts.sum(axis=0) if len(self.rows.counts) else np.zeros(3)
        return not self.lists_winners and bool(rights > 0 or lefts < MIN_ONE_SIDED)

    @cached_property
    def n_comparisons(self) -> float:
        """Number of comparisons, or the sum of their weights."""
        return float(self.rows.counts.sum())

    @cached_property
    def comparisons_per_item(self) -> Floats:
        """Number of comparisons with each item ``[item]``."""
        return self._per_item([1, 1, 1], [1, 1, 1])

    @cached_property
    def wins_per_item(self) -> Floats:
        """Comparisons that each item won, where a tie is half a win ``[item]``."""
        return self._per_item([1, 0.5, 0], [0, 0.5, 1])

    def _per_item(self, left: Sequence[float], right: Sequence[float]) -> Floats:
        sums = np.bincount(self.rows.left, self.rows.counts @ left, self.n_items)
        return np.asarray(
            sums + np.bincount(self.rows.right, self.rows.counts @ right, self.n_items), float
        )

    @cached_property
    def cells(self) -> Cells:
        """The comparisons grouped by judge, left item and right item."""
        rows = self.rows
        if rows.prompt is None:
            return rows
        return Cells.grouped(rows.columns, rows.counts.T, rows.n_judges, rows.n_items)

    @cached_property
    def groups(self) -> Integers:
        """The group of each item: items of different groups were never compared, even indirectly.

        Groups are numbered from 0, the largest first; an item without comparisons is one alone.
        """
        shape = self.n_items, self.n_items
        pairs = coo_array(
            (np.ones(len(self.rows.left)), (self.rows.left, self.rows.right)), shape=shape
        )
        _, labels = connected_components(pairs.tocsr(), directed=False)
        order = np.argsort(-np.bincount(labels), kind="stable")
        return np.asarray(np.argsort(order)[labels])

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the comparisons that a user should know before ranking the items."""
        played, won = self.comparisons_per_item, self.wins_per_item
        shrunk = "every comparison; shrinkage makes the strength finite"
        notes = [
            *self.remarks,
            *_spelling_note(self.items),
            *names_note(self.items[played == 0], "item{s} without a comparison, not ranked"),
            *names_note(self.items[(won == played) & (played > 0)], f"item{{s}} that won {shrunk}"),
            *names_note(self.items[(won == 0) & (played > 0)], f"item{{s}} that lost {shrunk}"),
        ]
        if not self.has_sides and not self.lists_winners:
            notes.append("the left item wins every comparison, so no position bias is estimated")
        n_groups = int(np.count_nonzero(np.bincount(self.groups) > 1))
        if n_groups > 1:
            names = [list_names(self.items[self.groups == at], 3) for at in range(min(3, n_groups))]
            notes.append(
                f"{n_groups:,} groups of items were never compared with each other, and are ranked "
                f"apart: {'; '.join(names)}. Compare items of different groups to rank them all"
            )
        if len(self.rows.counts) and self.rows.counts[:, 1].sum() == self.n_comparisons:
            notes.append("all comparisons are ties, so no item is better than another")
        return tuple(notes)

    def __repr__(self) -> str:
        judges = f" × {self.n_annotators:,} annotators" if self.has_judges else ""
        size = (
            f"Comparisons: {self.n_items:,} items{judges}, {self.n_comparisons:,.10g} comparisons "
            f"({self.rows.counts[:, 1].sum():,.10g} ties)"
        )
        return "\n  ".join([size, *self.notes])


def _sorted_codes(column: Array, kind: str) -> tuple[Codes, Array, list[str]]:
    """Return the codes of names, the sorted names, and notes about them."""
    codes, names, notes = code_names(column, kind)
    order = _name_order(names)
    return np.argsort(order)[codes], names[order], [*notes]


def _name_order(names: Array) -> Codes:
    values = names.tolist()
    return np.array(
        sorted(range(len(values)), key=lambda at: (str(type(values[at])), values[at])),
        dtype=np.intp,
    )


def _check_weights(column: Array) -> Floats:
    values = as_floats(column, row_description)
    wrong = np.flatnonzero(~(values >= 0))
    if len(wrong):
        raise BadLabels(
            f"Weights {list_names(values[wrong])} (row {wrong[0]}) are negative or missing. A "
            "weight is the number of comparisons that a row stands for: 0 or more."
        )
    return values


def _spelling_note(items: Array) -> list[str]:
    """Return a note about items whose names differ by case, spaces or punctuation only."""
    spellings: dict[str, list[str]] = {}
    for name in items.tolist():
        if isinstance(name, str):
            spellings.setdefault(fold(name), []).append(name)
    alike = [name for names in spellings.values() if len(names) > 1 for name in names]
    text = "items whose names differ only in form are different items"
    return [f"{text}: {list_names(alike)}"] if alike else []


def as_comparisons(left: Any, right: Any = None, winner: Any = None, **others: Any) -> Comparisons:
    """Convert columns, a frame, or rows of three or four values to Comparisons with some rows."""
    if right is not None and winner is not None:
        table = Comparisons.from_columns(left, right, winner, **others)
    elif any(value is not None for value in (right, winner, *others.values())):
        raise BadParameter(
            "Pass left, right and winner as columns, with or without others; or a table alone."
        )
    elif isinstance(left, Comparisons):
        table = left
    elif frames.is_frame(left):
        table = Comparisons.from_frame(left)
    else:
        rows = as_column(left).tolist()
        widths = {len(row) if isinstance(row, list | tuple) else 0 for row in rows}
        if widths not in ({3}, {4}):
            raise BadLabels(
                "Rows of comparisons must have three values (left, right, winner), or four with "
                "the annotator. Pass such rows, columns, or a frame."
            )
        table = Comparisons.from_columns(*zip(*rows, strict=True))
    if not len(table.rows.left):
        raise BadLabels(
            "There is no comparison of two different items with a winner or a tie, so there is "
            "nothing to rank. Check the columns."
        )
    n_groups = int(table.groups.max()) + 1
    if n_groups > max(100, table.n_items // 4):
        raise BadLabels(
            f"{table.n_items:,} items form {n_groups:,} groups that were never compared with each "
            "other, so there is no ranking. If they are texts, name the columns of what wrote them."
        )
    return table
