"""Many small crowds through every method, one after the other: no warning, no NaN, no leak.

pytest turns warnings into errors.
"""

import gc
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from blindfuse import BlindfuseError, NotConverged, RankTooLow, fuse, next_labels
from blindfuse.estimators.registry import METHODS
from blindfuse.kernels.threads import single_threaded_blas
from tests.end_to_end.test_any_table import assert_beliefs
from tests.support.odd_tables import Table, drawn_table

STATM = Path("/proc/self/statm")
MOST_GROWTH = 30 * 2**20
"""Bytes that memory may grow by after the first crowds, for compiled kernels and full pools."""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with single_threaded_blas():  # tables are small, and tests may share the machine
        yield


def memory() -> int:
    """Resident bytes of this process."""
    gc.collect()
    return int(STATM.read_text().split()[1]) * 4096


def through_every_method(table: Table, used: Counter[str]) -> None:
    """Fit all; count what was not refused."""
    for name in ("fuse", *METHODS):
        try:
            if name == "fuse":
                fusion = fuse(table.rows)
                beliefs = fusion.posteriors
                assert np.isfinite(next_labels(fusion, 5).gains).all()
                assert fusion.summary()
            else:
                beliefs = METHODS[name]().fit(table.rows).posteriors_
        except BlindfuseError:
            continue
        assert_beliefs(beliefs, len(table.rows), beliefs.shape[1])
        used[name] += 1


@pytest.mark.skipif(not STATM.exists(), reason="memory is measured through /proc")
@pytest.mark.parametrize(
    ("warm", "crowds"),
    [(20, 60), pytest.param(200, 1000, marks=pytest.mark.slow)],
    ids=["short", "long"],
)
def test_crowd_after_crowd(warm: int, crowds: int) -> None:
    used: Counter[str] = Counter()
    before = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        warnings.simplefilter("ignore", RankTooLow)
        for seed in range(crowds):
            if seed == warm:
                before = memory()
            through_every_method(drawn_table(np.random.default_rng(seed)), used)
    assert memory() - before < MOST_GROWTH
    for name in ("fuse", *METHODS):  # most crowds are such that a method can do its work
        two_classes = name in ("EigenRatio", "SpectralMetaLearner", "TriangularEstimation")
        assert used[name] > crowds * (0.15 if two_classes else 0.5), name
