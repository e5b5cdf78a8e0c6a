"""``Comparisons``: what judges said about pairs of items, as counts of equal comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from blindfuse.comparisons.columns import code_column, code_sides, code_values
from blindfuse.comparisons.likelihood import Cells
from blindfuse.comparisons.winners import winner_shares
from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.responses import frames
from blindfuse.responses.coding import as_column, check_equal_lengths, positions, union
from blindfuse.responses.comparison_detection import detect_columns
from blindfuse.responses.inputs import row_description
from blindfuse.responses.notes import count_note, names_note
from blindfuse.responses.rows import read_only
from blindfuse.responses.scalars import as_floats
from blindfuse.responses.values import fold
from blindfuse.typing import Array, Codes, Floats, Integers

EVERYBODY = "all judges"
"""The name of the judge of a table without judges."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons:
    """Comparisons of pairs of items by judges. Equal comparisons are one row, with their number.

    Create one with :meth:`from_columns` or :meth:`from_frame`. Tables can be added.

    Attributes
    ----------
    items, annotators
        names, in order of first appearance; a table without judges has one of them.
    judge, left, right ``[row]``
        positions of the annotator and of the items.
    counts ``[row, outcome]``
        comparisons that the left item won, ties, and comparisons that the right item won, each
        with its weight.
    squares ``[row, outcome]``
        sums of squared weights.
    prompts, prompt
        names of what was compared on, and their positions ``[row]``; None if they are not known.
    has_sides
        whether it is known which item was on the left, so that judges may have a position bias.
    remarks
        notes about the conversion of the user's values.
    """

    items: Array
    annotators: Array
    judge: Codes
    left: Codes
    right: Codes
    counts: Floats
    squares: Floats
    prompts: Array | None = None
    prompt: Codes | None = None
    has_sides: bool = True
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("judge", "left", "right", "counts", "squares"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

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
        i, j, items = code_sides(left, right)
        coded = code_values(np.ones(len(i)) if winner is None else winner)
        columns = {"left": i, "right": j, "winner": coded.codes}
        judge: Any = np.zeros(len(i), dtype=np.intp)
        names, prompt, prompt_names = as_column([EVERYBODY]), None, None
        if annotators is not None:
            columns["annotators"], names = judge, _ = code_column(annotators, "annotator")
        if prompts is not None:
            columns["prompts"], prompt_names = prompt, _ = code_column(prompts, "prompt")
        weight = np.ones(len(i)) if weights is None else _check_weights(weights)
        check_equal_lengths(columns | {"weights": weight} if weights is not None else columns)
        share, notes = winner_shares(coded, i, j, items)
        same = np.unique(i[i == j])
        notes = [*_case_note(items), *notes]
        notes += count_note(
            int((i == j).sum()),
            f"comparison{{s}} of an item with itself left out: {list_names(items[same])}",
        )
        used = ~np.isnan(share) & (i != j) & (weight > 0)
        judge, i, j, share, weight = (x[used] for x in (judge, i, j, share, weight))
        prompt = None if prompt is None else prompt[used]
        lists_winners = len(share) >= 10 and (share == 1).any() and np.isin(share, (0.5, 1)).all()
        if lists_winners and winner is not None:
            notes.append("the left item wins every comparison, so no position bias is estimated")
        ties = (share == 0.5) if np.isin(share, (0, 0.5, 1)).all() else np.zeros(len(share))
        counts = np.stack([share - ties / 2, ties, 1 - share - ties / 2], axis=1)
        squares = counts * weight[:, None] ** 2
        counts = counts * weight[:, None]
        has_sides = winner is not None and not lists_winners
        parts = (items, names, judge, i, j, counts, squares)
        return cls(*parts, prompt_names, prompt, has_sides, tuple(notes))._grouped()

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
        weights, prompts = columns.get("weight"), columns.get("prompt")
        return cls.from_columns(*map(columns.get, roles), weights=weights, prompts=prompts)

    def _grouped(self) -> "Comparisons":
        """Return the table with one row per judge, left item, right item and prompt."""
        I, K = len(self.items), len(self.annotators)
        size = K * I * I * (1 if self.prompts is None else len(self.prompts))
        if size >= 2**62:
            return self
        key = (self.judge * I + self.left) * I + self.right
        key = key if self.prompt is None else key + self.prompt * (K * I * I)
        if size <= 1 << 24:  # counting takes less time than sorting
            kept = np.flatnonzero(np.bincount(key, minlength=size))
            distinct, place = kept, key
        else:
            distinct, place = np.unique(key, return_inverse=True)
            kept, size = np.arange(len(distinct)), 0
        sums = [
            np.stack([np.bincount(place, x, size)[kept] + 0.0 for x in table.T], axis=1)
            for table in (self.counts, self.squares)
        ]
        rest, right = np.divmod(distinct, I)
        rest, left = np.divmod(rest, I)
        prompt, judge = np.divmod(rest, K)
        return replace(
            self,
            judge=judge,
            left=left,
            right=right,
            prompt=None if self.prompt is None else prompt,
            counts=sums[0],
            squares=sums[1],
        )

    def __add__(self, other: "Comparisons") -> "Comparisons":
        """Return the comparisons of both tables; names that are equal are the same."""
        if (self.prompts is None) != (other.prompts is None):
            raise BadLabels("Only one of both tables has prompts. Read both with them, or none.")
        names, rows = {}, {}
        kinds = {"items": ("left", "right"), "annotators": ("judge",), "prompts": ("prompt",)}
        for kind, fields in kinds.items():
            own, others = getattr(self, kind), getattr(other, kind)
            if own is not None:
                names[kind] = union(own, others, kind)
                place = positions(others, names[kind])
                for field in fields:
                    moved = place[getattr(other, field)]
                    rows[field] = np.concatenate([getattr(self, field), moved])
        for field in ("counts", "squares"):
            rows[field] = np.concatenate([getattr(self, field), getattr(other, field)])
        remarks = tuple(dict.fromkeys([*self.remarks, *other.remarks]))
        has_sides = self.has_sides and other.has_sides
        return replace(self, **names, **rows, has_sides=has_sides, remarks=remarks)._grouped()

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

    @cached_property
    def n_comparisons(self) -> float:
        """Number of comparisons, or the sum of their weights."""
        return float(self.counts.sum())

    @cached_property
    def comparisons_per_item(self) -> Floats:
        """Number of comparisons with each item ``[item]``."""
        return self._per_item([1, 1, 1], [1, 1, 1])

    @cached_property
    def wins_per_item(self) -> Floats:
        """Comparisons that each item won, where a tie is half a win ``[item]``."""
        return self._per_item([1, 0.5, 0], [0, 0.5, 1])

    def _per_item(self, left: Sequence[float], right: Sequence[float]) -> Floats:
        sums = np.bincount(self.left, self.counts @ left, self.n_items)
        return np.asarray(sums + np.bincount(self.right, self.counts @ right, self.n_items), float)

    @cached_property
    def comparisons_per_annotator(self) -> Floats:
        """Number of comparisons by each annotator ``[annotator]``."""
        return self.rows.per_judge

    @property
    def rows(self) -> Cells:
        """The comparisons in the order of the table."""
        fields = self.judge, self.left, self.right, self.counts
        return Cells(*fields, self.n_annotators, self.n_items)

    @cached_property
    def cells(self) -> Cells:
        """The comparisons grouped by judge, left item and right item."""
        return self.rows if self.prompt is None else self._without_prompts().rows

    @cached_property
    def squared_cells(self) -> Cells:
        """As ``cells``, with squared weights in place of weights."""
        table = self if self.prompt is None else self._without_prompts()
        return table.rows._replace(counts=table.squares)

    def _without_prompts(self) -> "Comparisons":
        return replace(self, prompts=None, prompt=None)._grouped()

    @cached_property
    def groups(self) -> Integers:
        """The group of each item: items of different groups were never compared, even indirectly.

        Groups are numbered from 0, the largest first; an item without comparisons is one alone.
        """
        shape = self.n_items, self.n_items
        pairs = coo_array((np.ones(len(self.left)), (self.left, self.right)), shape=shape)
        _, labels = connected_components(pairs.tocsr(), directed=False)
        order = np.argsort(-np.bincount(labels), kind="stable")
        return np.asarray(np.argsort(order)[labels])

    @property
    def notes(self) -> tuple[str, ...]:
        """Facts about the comparisons that a user should know before ranking the items."""
        played, won = self.comparisons_per_item, self.wins_per_item
        always = self.items[(won == played) & (played > 0)]
        never = self.items[(won == 0) & (played > 0)]
        shrunk = "every comparison; shrinkage makes the strength finite"
        notes = [
            *self.remarks,
            *names_note(self.items[played == 0], "item{s} without a comparison, not ranked"),
            *names_note(always, f"item{{s}} that won {shrunk}"),
            *names_note(never, f"item{{s}} that lost {shrunk}"),
        ]
        sizes = np.bincount(self.groups)
        n_groups = int(np.count_nonzero(sizes > 1))
        if n_groups > 1:
            names = [list_names(self.items[self.groups == at], 3) for at in range(min(3, n_groups))]
            notes.append(
                f"{n_groups:,} groups of items were never compared with each other, and are ranked "
                f"apart: {'; '.join(names)}. Compare items of different groups to rank them all"
            )
        if len(self.counts) and self.counts[:, 1].sum() == self.n_comparisons:
            notes.append("all comparisons are ties, so no item is better than another")
        return tuple(notes)

    def __repr__(self) -> str:
        judges = f" × {self.n_annotators:,} annotators" if self.has_judges else ""
        size = (
            f"Comparisons: {self.n_items:,} items{judges}, {self.n_comparisons:,.10g} comparisons "
            f"({self.counts[:, 1].sum():,.10g} ties)"
        )
        return "\n  ".join([size, *self.notes])


def _check_weights(weights: Any) -> Floats:
    values = as_floats(as_column(frames.values(weights)), row_description)
    wrong = np.flatnonzero(~(values >= 0))
    if len(wrong):
        raise BadLabels(
            f"Weights {list_names(values[wrong])} (row {wrong[0]}) are negative or missing. A "
            "weight is the number of comparisons that a row stands for: 0 or more."
        )
    return values


def _case_note(items: Array) -> list[str]:
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
    if not len(table.left):
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
