"""The two engines, each with two worker processes, behind one face for the tests."""

import os
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import pandas as pd
import pytest

from blindfuse.engines.arrow import Columns
from blindfuse.engines.fitting import Parts


class Engine(Protocol):
    """What a test needs of an engine."""

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
    def __init__(self, client: Any) -> None:
        from blindfuse.engines import dask

        self.module, self._client = dask, client

    def table(self, pieces: Sequence[pd.DataFrame]) -> Any:
        import dask.dataframe as dd
        from dask import delayed

        return dd.from_delayed([delayed(piece) for piece in pieces], meta=pieces[0].iloc[:0])

    def parts(self, table: Any, columns: Columns) -> Parts:
        return self.module.DaskParts(table, columns)  # type: ignore[no-any-return]

    def rows(self, table: Any) -> pd.DataFrame:
        return table.compute()

    def workers(self) -> set[int]:
        return set(self._client.run(os.getpid).values())


class Spark:
    def __init__(self, session: Any) -> None:
        from blindfuse.engines import spark

        self.module, self._session = spark, session

    def table(self, pieces: Sequence[pd.DataFrame]) -> Any:
        """As many partitions as pieces, also after a shuffle."""
        self._session.conf.set("spark.sql.shuffle.partitions", len(pieces))
        tables = [
            self._session.createDataFrame(piece, schema=_schema(pieces[0])).coalesce(1)
            for piece in pieces
        ]
        whole = tables[0]
        for table in tables[1:]:
            whole = whole.unionAll(table)
        return whole

    def parts(self, table: Any, columns: Columns) -> Parts:
        return self.module.SparkParts(table, columns)  # type: ignore[no-any-return]

    def rows(self, table: Any) -> pd.DataFrame:
        return table.toPandas()

    def workers(self) -> set[int]:
        import psutil

        return {
            process.pid
            for process in psutil.Process().children(recursive=True)
            if any("CoarseGrainedExecutorBackend" in word for word in process.cmdline())
        }


def _schema(piece: pd.DataFrame) -> str:
    kinds = {"i": "long", "f": "double", "b": "boolean"}
    return ", ".join(
        f"`{name}` {kinds.get(dtype.kind, 'string')}" for name, dtype in piece.dtypes.items()
    )


@pytest.fixture(scope="session")
def dask_engine() -> Iterator[Dask]:
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield Dask(client)


@pytest.fixture(scope="session")
def spark_engine() -> Iterator[Spark]:
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    import pyspark
    from pyspark.sql import SparkSession

    options = {
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.log.level": "OFF",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",  # else small parts become one
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")  # two executor processes
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield Spark(session)
    session.stop()
    shutil.rmtree(Path(pyspark.__file__).parent / "work", ignore_errors=True)


@pytest.fixture(params=["dask", "spark"])
def engine(request: pytest.FixtureRequest) -> Engine:
    found: Engine = request.getfixturevalue(f"{request.param}_engine")
    return found
