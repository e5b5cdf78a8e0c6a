"""Notes: sentences about what was detected, converted or left out."""

from typing import Any

from numpy.typing import NDArray

from blindfuse.errors import list_names


def count_note(count: int, text: str) -> list[str]:
    """Return a list with the note "``count`` ``text``", or an empty list if the count is zero.

    ``{s}`` and ``{es}`` in the text become the plural ending.
    """
    if not count:
        return []
    for ending in ("s", "es"):
        text = text.replace(f"{{{ending}}}", "" if count == 1 else ending)
    return [f"{count:,} {text}"]


def names_note(names: NDArray[Any], text: str) -> list[str]:
    """As ``count_note``, for the number of names, followed by the names."""
    return count_note(len(names), f"{text}: {list_names(names)}")
