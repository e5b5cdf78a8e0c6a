"""Notes: sentences about what was detected, converted or left out."""


def count_note(count: int, text: str) -> list[str]:
    """Return a list with the note "``count`` ``text``", or an empty list if the count is zero.

    ``{s}`` and ``{es}`` in the text become the plural ending.
    """
    if not count:
        return []
    for ending in ("s", "es"):
        text = text.replace(f"{{{ending}}}", "" if count == 1 else ending)
    return [f"{count:,} {text}"]
