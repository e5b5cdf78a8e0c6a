"""Notes: sentences about what was detected, converted or left out."""


def count_note(count: int, text: str) -> list[str]:
    """Return a list with the note "``count`` ``text``", or an empty list if the count is zero.

    ``{s}`` in the text becomes the plural ending.
    """
    return [f"{count:,} {text.replace('{s}', '' if count == 1 else 's')}"] if count else []
