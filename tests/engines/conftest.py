"""The two engines, each with two worker processes."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.engine_cases import Dask, Engine, Spark


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
        "spark.sql.adaptive.coalescePartitions.enabled": "false",  # keep small partitions apart
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
    chosen: Engine = request.getfixturevalue(f"{request.param}_engine")
    return chosen
