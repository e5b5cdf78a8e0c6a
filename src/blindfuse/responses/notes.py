"""Notes: sentences about what was detected, converted or left out."""

from collections.abc import Iterable
from typing import Any

from blindfuse.errors import list_names
from blindfuse.typing import Array


class CountNote(str):
    """The note "``count`` ``text``", with its two parts, so that those of partitions can be added.

    ``{s}`` and ``{es}`` in the text become the plural ending.
    """

    total: int
    text: str

    def __new__(cls, count: int, text: str) -> "CountNote":
        shown = text
        for ending in ("s", "es"):
            shown = shown.replace(f"{{{ending}}}", "" if count == 1 else ending)
        note = super().__new__(cls, f"{count:,} {shown}")
        note.total, note.text = count, text
        return note

    def __reduce__(self) -> tuple[Any, ...]:
        return CountNote, (self.total, self.text)


def count_note(count: int, text: str) -> list[str]:
    """Return a list with the ``CountNote``, or an empty list if the count is zero."""
    return [CountNote(count, text)] if count else []


def sum_notes(notes: Iterable[str]) -> list[str]:
    """Return each note once; the counts of notes with the same text are added."""
    totals: dict[str, int] = {}
    for note in notes:
        text, total = (note.text, note.total) if isinstance(note, CountNote) else (note, 0)
        totals[text] = totals.get(text, 0) + total
    return [CountNote(total, text) if total else text for text, total in totals.items()]


def names_note(names: Array, text: str) -> list[str]:
    """As ``count_note``, for the number of names, followed by the names."""
    return count_note(len(names), f"{text}: {list_names(names)}")


def percent_range(low: float, high: float) -> str:
    """As ``72 to 84 %``, or ``72 %`` if both limits are shown alike."""
    first, last = f"{100 * low:.0f}", f"{100 * high:.0f}"
    return f"{last} %" if first == last else f"{first} to {last} %"
