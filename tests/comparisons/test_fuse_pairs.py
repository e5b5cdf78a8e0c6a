"""``fuse_pairs``: what it must not depend on, judges of all kinds, and its intervals."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from blindfuse import BadParameter, Ranking, fuse_pairs
from tests.support.pair_cases import Pairs, simulate_pairs

KINDS: dict[str, dict[str, Any]] = {
    "equal": {"slopes": [1] * 6},
    "random": {"slopes": [1] * 6 + [0] * 3},
    "reversed": {"slopes": [1] * 7 + [-1] * 2},
    "position": {"slopes": [1] * 6, "positions": [1.2, -1, 0.6, -0.7, 1.5, 0]},
    "ties": {"slopes": [1] * 6, "tie": -0.5},
}


def by_item(ranking: Ranking, values: Any) -> Any:
    """Values in the order of the names of the items."""
    order = np.argsort(ranking.items.astype(int))
    return np.asarray(values, dtype=float)[order].tolist()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(KINDS)))
def test_names_sides_and_order_of_rows_do_not_matter(seed: int, kind: str) -> None:
    pairs = simulate_pairs(seed, n_items=6, per_judge=60, **KINDS[kind])
    ranking = fuse_pairs(*pairs.columns)
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(len(pairs.left)), rng.permutation(6)
    judges = rng.permutation(len(KINDS[kind]["slopes"]))
    left, right, winner, judge = (column[order] for column in pairs.columns)
    other = fuse_pairs(names[right], names[left], 1 - winner, judges[judge])
    place = np.argsort(ranking.items.astype(int)), np.argsort(other.items.astype(int))[names]
    for name in ("strengths", "low", "high", "ranks", "probability_best", "tiers"):
        values = (getattr(ranking, name)[place[0]], getattr(other, name)[place[1]])
        np.testing.assert_allclose(*values, atol=1e-6, err_msg=name)
    assert ranking.evidence.uses_judges == other.evidence.uses_judges
    positions = ranking.judges.position[0], -other.judges.position[0]
    np.testing.assert_allclose(positions[0], positions[1][judges], atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_one_judge_and_equal_judges_give_plain_strengths(seed: int) -> None:
    pairs = simulate_pairs(seed, slopes=[1], per_judge=300, tie=-1.0)
    left, right, winner = (np.tile(column, 4) for column in pairs.columns[:3])
    plain = fuse_pairs(left, right, winner)
    for judges in (["a"] * 1200, np.repeat(["a", "b", "c", "d"], 300)):
        ranking = fuse_pairs(left, right, winner, judges)
        np.testing.assert_allclose(ranking.strengths, plain.strengths, atol=1e-9)


def test_weights_are_repeated_comparisons_and_a_tie_counts_once() -> None:
    pairs = simulate_pairs(3, tie=-0.5)
    times = np.random.default_rng(0).integers(0, 4, len(pairs.left))
    weighted = fuse_pairs(*pairs.columns[:3], weights=times)
    repeated = fuse_pairs(*(np.repeat(column, times) for column in pairs.columns[:3]))
    np.testing.assert_allclose(
        by_item(weighted, weighted.strengths), by_item(repeated, repeated.strengths), atol=1e-7
    )
    assert weighted.comparisons.n_comparisons == times.sum()


def kendall(pairs: Pairs, ranking: Ranking) -> float:
    return float(kendalltau(ranking.strengths, pairs.truth(ranking.items)).statistic)


@pytest.mark.parametrize("kind", ["random", "reversed"])
def test_bad_judges_are_named_and_count_less(kind: str) -> None:
    gains = []
    for seed in range(20):
        pairs = simulate_pairs(seed, n_items=12, per_judge=100, spread=0.8, **KINDS[kind])
        ranking = fuse_pairs(*pairs.columns)
        gains.append(kendall(pairs, ranking) - kendall(pairs, fuse_pairs(*pairs.columns[:3])))
        bad = ranking.judges.names[ranking.judges.flags == kind]
        slopes = np.array(KINDS[kind]["slopes"])
        assert set(bad.tolist()) <= set(np.flatnonzero(slopes != 1).tolist())
        if len(bad) and kind == "reversed":
            assert "If they are right and the others wrong" in ranking.judges.summary()
    assert np.mean(gains) > 0.04


def test_slopes_are_near_one_where_items_have_few_comparisons() -> None:
    slopes = []
    for seed in range(5):
        pairs = simulate_pairs(seed, n_items=100, slopes=[1] * 10, per_judge=90)
        slopes.append(fuse_pairs(*pairs.columns).judges.slope[0].mean())
    assert np.mean(slopes) == pytest.approx(1, abs=0.15)


def test_position_biases_are_estimated() -> None:
    biases = np.array(KINDS["position"]["positions"])
    pairs = simulate_pairs(0, per_judge=500, **KINDS["position"])
    ranking = fuse_pairs(*pairs.columns)
    value, low, high = ranking.judges.position
    np.testing.assert_allclose(value, biases, atol=0.35)
    assert ranking.evidence.uses_judges
    assert np.mean((low <= biases) & (biases <= high)) >= 0.8


def test_judges_who_always_say_the_same_are_flagged() -> None:
    pairs = simulate_pairs(0, slopes=[1] * 6, tie=-1.0, per_judge=100)
    winner = pairs.winner.copy()
    for judge, value in enumerate((1.0, 0.0, 0.5)):
        winner[pairs.judge == judge] = value
    ranking = fuse_pairs(pairs.left, pairs.right, winner, pairs.judge)
    assert ranking.judges.flags.tolist()[:3] == ["always left", "always right", "always tie"]
    assert "Nearly always prefers the left item: " in ranking.judges.summary()


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_cover_the_truth(kind: str) -> None:
    """95 % of the intervals, here with a margin for few draws; `make bench` has 200."""
    strengths, ranks = [], []
    for seed in range(25):
        pairs = simulate_pairs(seed, n_items=12, per_judge=300, **KINDS[kind])
        ranking = fuse_pairs(*pairs.columns)
        truth = pairs.truth(ranking.items)
        strengths.append(np.mean((ranking.low <= truth) & (truth <= ranking.high)))
        rank = 1 + (truth > truth[:, None]).sum(axis=1)
        ranks.append(np.mean((ranking.rank_low <= rank) & (rank <= ranking.rank_high)))
    assert np.mean(strengths) > 0.87
    assert np.mean(ranks) > 0.92


def test_clusters_of_equal_comparisons_widen_the_intervals() -> None:
    pairs = simulate_pairs(0, slopes=[1], per_judge=300)
    columns = [np.repeat(column, 4) for column in pairs.columns[:3]]
    single = fuse_pairs(*columns)
    clustered = fuse_pairs(*columns, prompts=np.repeat(np.arange(300), 4))
    once = fuse_pairs(*pairs.columns[:3])
    width = [np.median(ranking.high - ranking.low) for ranking in (single, clustered, once)]
    assert width[1] == pytest.approx(2 * width[0], rel=0.1)
    assert width[1] == pytest.approx(width[2], rel=0.02)


def test_groups_that_were_never_compared_are_ranked_apart() -> None:
    a, b = simulate_pairs(0, n_items=5), simulate_pairs(1, n_items=4)
    left, right = (np.concatenate([x, y + 10]) for x, y in ((a.left, b.left), (a.right, b.right)))
    both = fuse_pairs(left, right, np.concatenate([a.winner, b.winner]))
    alone = [fuse_pairs(*pairs.columns[:3]) for pairs in (a, b)]
    for group, ranking in enumerate(alone):
        place = both.groups == group
        np.testing.assert_allclose(both.strengths[place], ranking.strengths, atol=1e-6)
        np.testing.assert_array_equal(both.ranks[place], ranking.ranks)
        assert both.probability_best[place].sum() == pytest.approx(1)
    with pytest.raises(BadParameter, match="were never compared, not even through"):
        both.win_probability(0, 11)
    assert "2 groups of items were never compared" in both.summary()
    assert both.verdict.count(".") >= 2


EXTREME = {
    "won everything": (["a", "a", "b"], ["b", "c", "c"], ["a", "a", "tie"]),
    "all ties": (["a", "b", "c"], ["b", "c", "a"], ["tie"] * 3),
    "one comparison": (["a"], ["b"], ["a"]),
    "one tie": (["a"], ["b"], ["tie"]),
    "a chain": (["a", "b", "c"], ["b", "c", "d"], ["a", "b", "c"]),
    "a cycle": (["a", "b", "c"], ["b", "c", "a"], ["a", "b", "c"]),
    "an unranked item": (["a", "a"], ["b", "c"], ["a", None]),
}


@pytest.mark.parametrize("case", EXTREME)
def test_extreme_tables_have_finite_results(case: str) -> None:
    columns = EXTREME[case]
    for judges in (None, [f"judge {at}" for at in range(len(columns[0]))]):
        ranking = fuse_pairs(*columns, judges)
        ranked = ranking.ranks > 0
        assert np.isfinite(ranking.low[ranked]).all()
        assert np.isfinite(ranking.high[ranked]).all()
        assert np.isnan(ranking.strengths[~ranked]).all()
        assert "nan" not in ranking.summary()
        assert 0 < ranking.win_probability("a", "b") < 1
    if case == "won everything":
        assert "1 item that won every comparison; shrinkage makes" in ranking.summary()
        assert ranking.items[ranking.ranks == 1].tolist() == ["a"]
    if case == "all ties":
        np.testing.assert_allclose(ranking.strengths, 0, atol=1e-9)
        assert "all comparisons are ties" in ranking.summary()


def test_many_items_with_three_comparisons_each() -> None:
    pairs = simulate_pairs(0, n_items=20_000, slopes=[1] * 10, per_judge=3_000)
    ranking = fuse_pairs(*pairs.columns)
    ranked = ranking.groups == 0
    assert np.isfinite(ranking.high[ranked]).all()
    truth = pairs.truth(ranking.items)
    assert kendalltau(ranking.posterior.mean[ranked], truth[ranked]).statistic > 0.3
