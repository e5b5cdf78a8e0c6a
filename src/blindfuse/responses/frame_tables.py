"""The columns of long and wide frames, and what to tell the user about those detected."""

from collections.abc import Mapping
from typing import Any

from blindfuse.responses import frames
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.wide_detection import WideColumns
from blindfuse.typing import Array


def wide_values(frame: Any, found: WideColumns) -> tuple[Array | None, list[Array]]:
    """Return the items of a wide table, and the values of each annotator's column.

    Without an item column, items are the index of pandas; None if they are row numbers.
    """
    if found.item is None:
        return frames.index_values(frame), frames.columns(frame, found.annotators)
    items, *columns = frames.columns(frame, [found.item, *found.annotators])
    return items, columns


def named_wide_columns(frame: Any, item: str | None) -> tuple[Any, WideColumns]:
    """Return a wide table, and its columns: all but ``item`` are annotators."""
    frame = frames.with_index(frame) if item is not None else frame
    annotators = [name for name in frames.column_names(frame) if name != item]
    return frame, WideColumns(item, annotators, None, [])


def detection_note(columns: Mapping[str, str], options: ColumnOptions) -> list[str]:
    """Return a note about columns of other names than the user's or those of their roles."""
    named = (options.item, options.annotator, options.label)
    if all(column in (role, *named) for role, column in columns.items()):
        return []
    found = ", ".join(f"{role} = {column!r}" for role, column in columns.items())
    return [f"read as a long table: {found} (detected)"]


def gold_note(column: str | None) -> list[str]:
    """Return a note about a column that is not read because its name says gold labels."""
    if column is None:
        return []
    return [f"{column!r} looks like gold labels and is not read: pass them to fuse as gold="]
