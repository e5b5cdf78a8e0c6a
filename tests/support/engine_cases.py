"""Dask and Spark behind one face, for the tests of engines."""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any, Protocol

import pandas as pd

from blindfuse.engines.arrow import Columns
from blindfuse.engines.fitting import Parts


class Engine(Protocol):
    """What a test needs of an engine."""

    name: str
    module: ModuleType

    def table(self, pieces: Sequence[pd.DataFrame]) -> Any:
        """A table with a partition for each of these pieces."""

    def parts(self, table: Any, columns: Columns) -> Parts: ...

    def rows(self, table: Any) -> pd.DataFrame: ...

    def workers(self) -> set[int]:
        """Their process ids."""


def kill_one(engine: Engine) -> int:
    """SIGKILL for a worker, which the test has started."""
    worker = min(engine.workers())
    os.kill(worker, signal.SIGKILL)
    return worker


class Dask:
    name = "dask"

    def __init__(self, client: Any) -> None:
        from blindfuse.engines import dask

        self.module, self._client = dask, client

    def table(self, pieces: Sequence[pd.DataFrame]) -> Any:
        import dask.dataframe as dd
        from dask import delayed

        return dd.from_delayed([delayed(piece) for piece in pieces], meta=pieces[0].iloc[:0])

    def parts(self, table: Any, columns: Columns) -> Parts:
        return self.module.DaskParts(table, columns)

    def rows(self, table: Any) -> pd.DataFrame:
        return table.compute()

    def workers(self) -> set[int]:
        return set(self._client.run(os.getpid).values())


class Spark:
    name = "spark"

    def __init__(self, session: Any) -> None:
        from blindfuse.engines import spark

        self.module, self.session = spark, session

    def table(self, pieces: Sequence[pd.DataFrame]) -> Any:
        """As many partitions as pieces, also after a shuffle."""
        self.session.conf.set("spark.sql.shuffle.partitions", len(pieces))
        tables = [
            self.session.createDataFrame(piece, schema=_schema(pieces[0])).coalesce(1)
            for piece in pieces
        ]
        whole = tables[0]
        for table in tables[1:]:
            whole = whole.unionAll(table)
        return whole

    def parts(self, table: Any, columns: Columns) -> Parts:
        return self.module.SparkParts(table, columns)

    def rows(self, table: Any) -> pd.DataFrame:
        return table.toPandas()

    def workers(self) -> set[int]:
        import psutil  # type: ignore[import-untyped]

        found = set()
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):  # one that has ended meanwhile
                if any("CoarseGrainedExecutorBackend" in word for word in process.cmdline()):
                    found.add(process.pid)
        return found


def _schema(piece: pd.DataFrame) -> str:
    kinds = {"i": "long", "f": "double", "b": "boolean"}
    return ", ".join(
        f"`{name}` {kinds.get(dtype.kind, 'string')}" for name, dtype in piece.dtypes.items()
    )
