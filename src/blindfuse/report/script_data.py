"""The data that the page's script reads, as JSON inside a script element."""

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any


def script_json(value: Any) -> str:
    """Return JSON for a script element, without characters that could end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def row_values(row: Any) -> list[Any]:
    """Return the values of a dataclass, in the order of its fields."""
    return list(asdict(row).values())


def table_data(row_type: Any, rows: Sequence[Any]) -> dict[str, Any]:
    """Return rows of a dataclass with the names of the columns stated once, to save space."""
    columns = [field.name for field in fields(row_type)]
    return {"columns": columns, "rows": [row_values(row) for row in rows]}


def count_fitting(rows: Sequence[Any], max_bytes: int) -> int:
    """Return how many of the first rows fit into ``max_bytes`` of JSON."""
    left = max_bytes
    for count, row in enumerate(rows):
        left -= len(script_json(row).encode()) + 1
        if left < 0:
            return count
    return len(rows)
