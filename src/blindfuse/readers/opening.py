"""From bytes to a table, by what they hold."""

from blindfuse.errors import BadFile
from blindfuse.readers import columnar, delimited, jsons
from blindfuse.readers.sources import Source
from blindfuse.readers.tables import Table


def opened(source: Source) -> Table:
    """The table in a file: Parquet or Arrow, JSON, or delimited text."""
    if columnar.kind_of(source) is not None:
        return columnar.table(source)
    if jsons.is_json(source):
        return jsons.table(source)
    if source.ending in ("json", "jsonl", "ndjson"):
        raise BadFile(f"{source.name} is not JSON, though its name says so. Rename or mend it.")
    return delimited.table(source)
