"""Rankings of Dask and Spark tables equal those of one machine."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from blindfuse import BlindfuseError, Comparisons, Ranking, fuse_pairs
from tests.support.engine_cases import Engine, split
from tests.support.pair_cases import simulate_pairs


def battles(seed: int, n: int = 400) -> pd.DataFrame:
    """Comparisons in random order, with ties, prompts and a biased judge."""
    pairs = simulate_pairs(seed, 6, (1.5, 1, 0.2, 1), (0, 0, 1.5, 0), tie=-0.5, per_judge=n // 4)
    winner = np.select([pairs.winner == 1, pairs.winner == 0], ["model_a", "model_b"], "tie")
    columns = {
        "model_a": [f"model {item}" for item in pairs.left],
        "model_b": [f"model {item}" for item in pairs.right],
        "winner": winner,
        "judge": [f"judge {judge}" for judge in pairs.judge],
        "question_id": np.arange(len(pairs.left)) % 15,
    }
    return pd.DataFrame(columns).sample(frac=1, random_state=seed, ignore_index=True)


def by_name(names: Any, values: Any) -> dict[str, Any]:
    return dict(zip(names.tolist(), np.asarray(values).tolist(), strict=True))


def assert_same_ranking(found: Ranking, expected: Ranking) -> None:
    for name in ("strengths", "low", "high", "ranks", "tiers"):
        values = (by_name(ranking.items, getattr(ranking, name)) for ranking in (found, expected))
        assert next(values) == pytest.approx(next(values), abs=1e-6)
    slopes = (by_name(each.judges.names, each.judges.slope[0]) for each in (found, expected))
    assert next(slopes) == pytest.approx(next(slopes), abs=1e-6)
    assert found.method == expected.method
    assert found.notes == expected.notes


@pytest.mark.parametrize("n_partitions", [1, 5])
def test_rankings_equal_those_of_one_machine(engine: Engine, n_partitions: int) -> None:
    frame = battles(n_partitions)
    found = engine.module.fuse_pairs(engine.table(split(frame, n_partitions)))
    expected = fuse_pairs(frame)
    assert found.comparisons.n_comparisons == len(frame)
    assert found.comparisons.has_judges
    assert_same_ranking(found, expected)


def test_what_depends_on_all_rows_does_not_depend_on_the_partitions(engine: Engine) -> None:
    """Sorted by winner, a partition alone would look like a list of winners, or have no ties."""
    frame = battles(2).sort_values("winner", ignore_index=True)
    frame["times"] = np.where(np.arange(len(frame)) % 3, 1.0, 2.5)
    frame.loc[:3, "winner"] = None
    frame.loc[4:5, "model_a"] = frame.loc[4:5, "model_b"]
    found = engine.module.fuse_pairs(engine.table(split(frame, 8)), weight="times")
    expected = fuse_pairs(Comparisons.from_frame(frame, weight="times"))
    assert found.comparisons.has_sides
    assert_same_ranking(found, expected)


def test_columns_are_named_and_bad_tables_refused(engine: Engine) -> None:
    frame = battles(3).rename(columns={"model_a": "home", "model_b": "guest"})
    named: Any = {"left": "home", "right": "guest", "annotator": "judge"}
    found = engine.module.fuse_pairs(engine.table(split(frame, 2)), **named)
    assert_same_ranking(found, fuse_pairs(Comparisons.from_frame(frame, **named)))
    for columns, message in (
        ({}, "no two columns look like"),
        ({**named, "winner": "nix"}, "has no column 'nix'"),
    ):
        with pytest.raises(BlindfuseError, match=message):
            engine.module.fuse_pairs(engine.table(split(frame, 2)), **columns)
