"""Names as the page shows them: short, visible text, whatever characters they contain."""

from collections import Counter
from collections.abc import Iterable

MAX_NAME_LENGTH = 120
"""Characters of a name that are shown."""

_VISIBLE = {
    **{code: 0x2400 + code for code in range(0x20)},  # Unicode's pictures of control characters
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys((0x2028, 0x2029), 0x2424),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),  # lone surrogates cannot be written as UTF-8
}


def visible(name: object, max_length: int = MAX_NAME_LENGTH) -> str:
    """Return a name as text, with visible control characters, cut to ``max_length``.

    Direction marks are kept: the page isolates each name in an element of its own.
    """
    text = str(name)
    if not text.strip():
        return "(empty)"
    short = text if len(text) <= max_length else f"{text[: max_length - 1]}…"
    return short.translate(_VISIBLE)


def distinct_names(names: Iterable[object], max_length: int = MAX_NAME_LENGTH) -> list[str]:
    """Return visible names and number those that look alike, since charts identify by name."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        text = visible(name, max_length)
        seen[text] += 1
        distinct.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return distinct
