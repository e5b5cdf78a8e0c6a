"""``Reader``: what a format module provides."""

from collections.abc import Sequence
from typing import Protocol

from blindfuse.readers.parsed_responses import ParsedResponses
from blindfuse.readers.tables import Table
from blindfuse.responses.detection import ColumnOptions


class Reader(Protocol):
    """A file format. A module that defines these names is a reader; see ``registry.READERS``.

    Attributes
    ----------
    NAME
        the value of ``format=`` and ``--format``.
    TITLE
        the format as notes name it, as in "read as a long table".
    """

    NAME: str
    TITLE: str

    def recognizes(self, tables: Sequence[Table], options: ColumnOptions) -> bool:
        """Return whether the tables look like this format."""

    def read(self, tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
        """Return the responses in the tables, which come from one or several files."""
