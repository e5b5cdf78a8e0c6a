"""Dask and Spark behind one interface, for the tests of the engines."""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from itertools import pairwise
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import pandas as pd


class Engine(Protocol):
    """What a test needs of an engine."""

    name: str
    module: ModuleType

    def table(self, frames: Sequence[pd.DataFrame]) -> Any:
        """Return a table with one partition per frame."""

    def to_pandas(self, table: Any) -> pd.DataFrame: ...

    def worker_pids(self) -> set[int]:
        """Return the process ids of the workers."""


def kill_one_worker(engine: Engine) -> int:
    """Send SIGKILL to one of the workers that the test started and return its process id."""
    worker = min(engine.worker_pids())
    os.kill(worker, signal.SIGKILL)
    return worker


class Dask:
    name = "dask"

    def __init__(self, client: Any) -> None:
        from blindfuse.engines import dask

        self.module, self._client = dask, client

    def table(self, frames: Sequence[pd.DataFrame]) -> Any:
        import dask.dataframe as dd
        from dask import delayed

        return dd.from_delayed([delayed(frame) for frame in frames], meta=frames[0].iloc[:0])

    def to_pandas(self, table: Any) -> pd.DataFrame:
        return table.compute()

    def worker_pids(self) -> set[int]:
        return set(self._client.run(os.getpid).values())


class Spark:
    name = "spark"

    def __init__(self, session: Any) -> None:
        from blindfuse.engines import spark

        self.module, self.session = spark, session

    def table(self, frames: Sequence[pd.DataFrame]) -> Any:
        """Return a table with one partition per frame, and as many after a shuffle."""
        self.session.conf.set("spark.sql.shuffle.partitions", len(frames))
        tables = [
            self.session.createDataFrame(frame, schema=_schema(frames[0])).coalesce(1)
            for frame in frames
        ]
        return reduce(lambda left, right: left.unionAll(right), tables)

    def to_pandas(self, table: Any) -> pd.DataFrame:
        return table.toPandas()

    def worker_pids(self) -> set[int]:
        import psutil  # type: ignore[import-untyped]

        pids = set()
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):  # the process has ended meanwhile
                if any("CoarseGrainedExecutorBackend" in word for word in process.cmdline()):
                    pids.add(process.pid)
        return pids


def split(frame: pd.DataFrame, n_partitions: int) -> list[pd.DataFrame]:
    bounds = np.linspace(0, len(frame), n_partitions + 1).astype(int)
    return [frame.iloc[start:end] for start, end in pairwise(bounds)]


def assert_same_labels(engine: Engine, model: Any, table: Any, alone: Any, items: Any) -> None:
    """The model labels the table as the method that was fitted on one machine labels its items."""
    found = engine.to_pandas(engine.module.predict(model, table)).set_index("item")
    assert len(found) == len(items)
    found = found.loc[items]
    np.testing.assert_allclose(found["probability"], alone.posteriors_.max(axis=1), atol=1e-8)
    assert found["label"].tolist() == alone.labels_.tolist()


def _schema(frame: pd.DataFrame) -> str:
    """Return the columns and types of the frame as Spark DDL."""
    types = {"i": "long", "f": "double", "b": "boolean"}
    return ", ".join(
        f"`{name}` {types.get(dtype.kind, 'string')}" for name, dtype in frame.dtypes.items()
    )
