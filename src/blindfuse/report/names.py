"""Names and labels as a page shows them: whatever they hold, they are short, visible text."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

LONGEST = 120
"""Characters of a name that are shown."""

_VISIBLE = {
    **{code: 0x2400 + code for code in range(0x20)},  # Unicode's pictures of control characters
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys((0x2028, 0x2029), 0x2424),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),  # lone surrogates cannot be written as UTF-8
}


def shown(name: object, longest: int = LONGEST) -> str:
    """Control characters are made visible, and what is too long is cut.

    Marks of direction stay: the page keeps each name in a box of its own.
    """
    text = str(name)
    if not text.strip():
        return "(empty)"
    return (text if len(text) <= longest else f"{text[: longest - 1]}…").translate(_VISIBLE)


def distinct(names: Iterable[object], longest: int = LONGEST) -> list[str]:
    """All of them as shown; those that look alike are numbered, since a chart tells by name."""
    seen: Counter[str] = Counter()
    found = []
    for text in names:
        name = shown(text, longest)
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def as_json(value: Any) -> str:
    """JSON for a script element: no character in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def fitting(rows: Sequence[Any], room: int) -> int:
    """How many of the first rows fit into so many bytes of JSON."""
    for count, row in enumerate(rows):
        room -= len(as_json(row).encode()) + 1
        if room < 0:
            return count
    return len(rows)
