"""What to compare next, pairs that were checked, and saved rankings."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from blindfuse import BadModel, BadParameter, Model, Ranking, audit_pairs, fuse_pairs, next_pairs
from blindfuse.comparisons.model import expected_information
from tests.support.pair_cases import Pairs, simulate_pairs


def order_entropy(z: Any) -> Any:
    p = np.clip(ndtr(z), 1e-12, 1 - 1e-12)
    return -(p * np.log(p) + (1 - p) * np.log(1 - p))


def test_gains_are_expected_decreases_of_the_entropy_of_the_order() -> None:
    """By drawing what a little information would show, for all pairs of items."""
    pairs = simulate_pairs(0, n_items=5, slopes=[1], per_judge=150, spread=0.3)
    ranking = fuse_pairs(*pairs.columns[:3])
    [request] = [next_pairs(ranking, 1)]
    posterior, rng = ranking.posterior, np.random.default_rng(0)
    V, mean = posterior.root @ posterior.root.T, posterior.mean
    i, j = (int(np.flatnonzero(ranking.items == x[0])[0]) for x in (request.left, request.right))
    tie = ranking.evidence.chosen.tie
    w = float(expected_information(mean[[i]] - mean[j], np.zeros(3), tie)[0])
    u = V[i] - V[j]
    after = V - np.outer(u, u) / (1 / w + u[i] - u[j])
    shift = rng.normal(size=(200_000, 1)) * u / np.sqrt(1 / w + u[i] - u[j])
    total = 0.0
    for a in range(5):
        for b in range(a):
            spread = [np.sqrt(v[a, a] + v[b, b] - 2 * v[a, b]) for v in (V, after)]
            moved = mean[a] - mean[b] + shift[:, a] - shift[:, b]
            total += order_entropy((mean[a] - mean[b]) / spread[0])
            total -= order_entropy(moved / spread[1]).mean()
    assert request.gains[0] == pytest.approx(total, rel=0.1)


def add(pairs: Pairs, left: Any, right: Any, judge: Any, rng: np.random.Generator) -> Ranking:
    """The ranking after these comparisons by perfect judges were added to the others."""
    eta = pairs.strengths[left] - pairs.strengths[right]
    won = rng.random(len(left)) < 1 / (1 + np.exp(-eta))
    more = (left, right, won.astype(float), judge)
    return fuse_pairs(*map(np.concatenate, zip(pairs.columns, more, strict=True)))


def test_asked_comparisons_leave_less_uncertain_than_random_ones() -> None:
    gains = []
    for seed in range(25):
        pairs = simulate_pairs(seed, n_items=15, slopes=[1] * 4, per_judge=60)
        asked = next_pairs(fuse_pairs(*pairs.columns), 200)
        assert len(asked) == 200
        rng = np.random.default_rng(seed)
        left = rng.integers(0, 15, 200)
        rivals = (left + rng.integers(1, 15, 200)) % 15
        columns = [(asked.left, asked.right), (left, rivals)]
        rankings = [add(pairs, i, j, np.arange(200) % 4, rng) for i, j in columns]
        i, j = np.triu_indices(15, 1)
        spreads = [ranking.posterior.difference(i, j) for ranking in rankings]
        left_over = [order_entropy(mean / error).sum() for mean, error in spreads]
        gains.append(left_over[1] - left_over[0])
    assert np.mean(gains) > 1.0


def test_reliable_judges_are_asked_about_close_pairs_of_one_group() -> None:
    pairs = simulate_pairs(1, n_items=6, slopes=[0, 1, 1, 2.5], per_judge=300)
    ranking = fuse_pairs(*pairs.columns)
    assert set(next_pairs(ranking, 3).annotators.tolist()) == {3}
    apart = fuse_pairs(["a", "a", "c", "c"], ["b", "b", "d", "d"], ["a", "b", "c", "d"])
    for left, right in zip(*(lambda r: (r.left, r.right))(next_pairs(apart, 5)), strict=True):
        assert {left, right} in ({"a", "b"}, {"c", "d"})
    for wrong in ("x", 0):
        with pytest.raises(BadParameter):
            next_pairs(ranking if wrong == 0 else wrong, wrong)  # type: ignore[arg-type]


def test_audits_count_right_orders_and_right_comparisons() -> None:
    left, right = ["a", "b", "c", "a", "b"], ["b", "c", "a", "b", "c"]
    judges = ["x", "x", "x", "y", "y"]
    ranking = fuse_pairs(left, right, ["a", "b", "a", "b", "tie"], judges)
    assert ranking.items[np.argsort(ranking.ranks)].tolist() == ["a", "b", "c"]
    audit = audit_pairs(ranking, ["b", "c", "c"], ["a", "b", "a"], ["a", "b", "c"])
    assert audit.n_checked == 3
    assert audit.accuracy.value == pytest.approx(2 / 3)
    assert audit.judges["x"].value == pytest.approx(2 / 3)
    assert audit.judges["y"].value == pytest.approx(1 / 4)
    assert 0 < audit.accuracy.low < 2 / 3 < audit.accuracy.high < 1
    assert audit.summary().startswith("66.7 % (20.8 to 93.9 %) of 3 checked pairs")
    with pytest.raises(BadParameter, match="There is no item 'z'"):
        audit_pairs(ranking, ["a"], ["z"], ["a"])
    with pytest.raises(BadParameter, match="equally good"):
        audit_pairs(ranking, ["a"], ["b"], ["tie"])


def test_expected_accuracy_is_that_of_simulated_rankings() -> None:
    shares, expected, covered = [], [], []
    for seed in range(60):
        pairs = simulate_pairs(seed, n_items=12, slopes=[1] * 3, per_judge=60)
        ranking = fuse_pairs(*pairs.columns)
        i, j = np.triu_indices(12, 1)
        better = np.where(pairs.strengths[i] > pairs.strengths[j], i, j)
        audit = audit_pairs(ranking, i, j, better)
        shares.append(audit.accuracy.value)
        expected.append(audit.expected)
        some = np.random.default_rng(seed).choice(len(i), 20, replace=False)
        few = audit_pairs(ranking, i[some], j[some], better[some])
        covered.append(few.accuracy.low <= audit.accuracy.value <= few.accuracy.high)
    assert np.mean(shares) == pytest.approx(np.mean(expected), abs=0.03)
    assert np.mean(covered) >= 0.9


@pytest.mark.parametrize("kind", ["judges", "plain", "prompts", "numbers", "apart"])
def test_a_saved_ranking_has_the_same_outcome(kind: str, tmp_path: Path) -> None:
    pairs = simulate_pairs(0, slopes=[1, 1, 0, 1], tie=-0.5)
    left, right, winner, judges = pairs.columns
    if kind != "numbers":
        left, right = left.astype(str), right.astype(str)
    if kind == "apart":
        left, right = ["a", "c", "e"], ["b", "d", "e"]
        ranking = fuse_pairs(left, right, ["a", "c", None])
    else:
        prompts = np.arange(len(left)) // 4 if kind == "prompts" else None
        ranking = fuse_pairs(
            left, right, winner, None if kind == "plain" else judges, prompts=prompts
        )
    ranking.save(tmp_path / "ranking.npz")
    loaded = Ranking.load(tmp_path / "ranking.npz")
    assert loaded.summary() == ranking.summary()
    assert loaded.to_json() == ranking.to_json()
    i, j = ranking.items[:2]
    assert loaded.win_probability(i, j) == ranking.win_probability(i, j)
    assert (
        (loaded.comparisons + ranking.comparisons).n_comparisons == 2 * len(winner)
        if (kind != "apart")
        else True
    )


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    ranking = fuse_pairs(["a"], ["b"], ["a"])
    ranking.save(tmp_path / "ranking.npz")
    with pytest.raises(BadModel, match="is 'ranking' version"):
        Model.load(tmp_path / "ranking.npz")
    with np.load(tmp_path / "ranking.npz") as file:
        arrays = {name: file[name] for name in file.files if name != "counts"}
    np.savez(tmp_path / "damaged.npz", **arrays)
    with pytest.raises(BadModel, match="is damaged"):
        Ranking.load(tmp_path / "damaged.npz")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *[
            (name, change)
            for name in ("judge", "left")
            for change in (lambda x: x - 1, lambda x: x + 9)
        ],
        ("left", lambda x: x * 1.0),
        ("left", lambda x: x[None]),
        ("left", lambda x: 1 - x),
        ("right", lambda x: x[1:]),
        ("counts", lambda x: -x),
        ("counts", lambda x: x * np.nan),
        ("counts", lambda x: x[:, :2]),
    ],
)
def test_crafted_files_are_refused(name: str, change: Any, tmp_path: Path) -> None:
    fuse_pairs(["a"], ["b"], ["a"]).save(tmp_path / "ranking.npz")
    with np.load(tmp_path / "ranking.npz") as file:
        arrays = dict(file)
    np.savez(tmp_path / "crafted.npz", **{**arrays, name: change(arrays[name])})
    with pytest.raises(BadModel, match="is damaged"):
        Ranking.load(tmp_path / "crafted.npz")
