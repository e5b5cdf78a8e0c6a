"""Open a file as a table, by its content."""

from blindfuse.errors import BadFile
from blindfuse.readers.columnar import columnar_type, open_columnar
from blindfuse.readers.delimited import open_delimited
from blindfuse.readers.json_tables import is_json, open_json
from blindfuse.readers.sources import Source, as_utf8, no_table_message
from blindfuse.readers.tables import Table


def open_table(source: Source) -> Table:
    """Return the table in a file: Parquet or Arrow, JSON, or delimited text."""
    source = as_utf8(source)
    if columnar_type(source) is not None:
        return open_columnar(source)
    if is_json(source):
        return open_json(source)
    if source.extension in ("json", "jsonl", "ndjson"):
        raise BadFile(
            f"{source.name} is not JSON, although its name ends in .{source.extension}. "
            "Rename it or export it again."
        )
    if b"\0" in source.head:
        raise BadFile(no_table_message(source.name))
    return open_delimited(source)
