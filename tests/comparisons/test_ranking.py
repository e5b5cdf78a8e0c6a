"""``Ranking``: probabilities, ranks, tiers, the verdict, and the tables that files have."""

import json

import numpy as np
import pytest

from blindfuse import BadParameter, fuse_pairs
from blindfuse.comparisons.uncertainty import Posterior, ranks_of, tiers_of
from tests.support.pair_cases import simulate_pairs


@pytest.mark.parametrize("judge", [1, None])
def test_probabilities_are_averages_over_draws_of_strengths_and_effects(judge: int | None) -> None:
    pairs = simulate_pairs(0, slopes=[1, 1, 0, 1.5], positions=[0, 1, 0, -1], tie=-0.5)
    ranking = fuse_pairs(*pairs.columns)
    posterior, fitted = ranking.posterior, ranking.evidence.chosen
    a, b, rng = 0, 4, np.random.default_rng(0)
    normal = rng.normal(size=(posterior.root.shape[1], 400_000))
    draws = posterior.mean[[a, b]][:, None] + posterior.root[[a, b]] @ normal
    if judge is None:  # a further judge, drawn like the others
        mean, covariance = [fitted.effects[:, 0].mean(), 0, 0], np.diag(fitted.variances)
    else:
        mean, covariance = fitted.effects[judge], fitted.covariances[judge]
    effects = rng.multivariate_normal(mean, covariance, 400_000).T
    eta = (1 + effects[0]) * (draws[0] - draws[1]) + effects[1]
    odds = np.stack([np.exp(eta / 2), np.exp(fitted.tie + effects[2]), np.exp(-eta / 2)])
    expected = (odds / odds.sum(axis=0)).mean(axis=1)
    names = ranking.items[[a]], ranking.items[[b]]
    judges = None if judge is None else ranking.comparisons.annotators[[judge]]
    found = ranking.outcome_probabilities(*names, judges)[0]
    np.testing.assert_allclose(found, expected, atol=1e-3)
    named = (name[0] for name in (*names, judges) if name is not None)
    assert ranking.win_probability(*named) == pytest.approx(found[0] + found[1] / 2)
    for unknown in (("nobody", 0), (0, 1, "nobody")):
        with pytest.raises(BadParameter, match="There is no"):
            ranking.win_probability(*unknown)


def test_win_probabilities_of_both_orders_add_up() -> None:
    ranking = fuse_pairs(*simulate_pairs(1, tie=-0.5).columns)
    for a, b in ((0, 1), (3, 2)):
        total = ranking.win_probability(a, b) + ranking.win_probability(b, a)
        assert total == pytest.approx(1)


def test_ranks_of_equal_strengths_are_equal() -> None:
    strengths, groups = np.array([1.0, 3, 3, 2, 5, 5]), np.array([0, 0, 0, 0, 1, 1])
    assert ranks_of(strengths, groups).tolist() == [4, 1, 1, 3, 1, 1]


def test_tiers_are_separated_from_their_best_item() -> None:
    mean = np.array([3.0, 2.9, 1.0, 0.9, -2.0])
    posterior = Posterior(mean, np.eye(5) / 5, np.zeros(5, dtype=int))
    assert tiers_of(posterior, np.arange(1, 6)).tolist() == [1, 1, 2, 2, 3]


def test_ranks_and_best_are_those_of_many_draws() -> None:
    ranking = fuse_pairs(*simulate_pairs(2, n_items=5, spread=0.3).columns)
    posterior = ranking.posterior
    covariance = posterior.root @ posterior.root.T
    draws = np.random.default_rng(1).multivariate_normal(posterior.mean, covariance, 100_000)
    ranks = 1 + (draws[:, :, None] < draws[:, None, :]).sum(axis=2)
    np.testing.assert_allclose(ranking.probability_best, (ranks == 1).mean(axis=0), atol=0.03)
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0)
    assert np.abs(ranking.rank_low - low).max() <= 1
    assert np.abs(ranking.rank_high - high).max() <= 1
    assert ranking.probability_best.sum() == pytest.approx(1)


def test_the_verdict_names_the_best_item_or_what_would_tell() -> None:
    clear = fuse_pairs(["a"] * 60 + ["b"] * 60, ["b"] * 60 + ["c"] * 60, ["a", "b", "a", "b"] * 30)
    assert clear.verdict.endswith("may be equally strong.")
    strong = fuse_pairs(["a"] * 40, ["b"] * 40, ["a"] * 35 + ["b"] * 5)
    assert strong.verdict == "a is best (over 99 %)."
    close = fuse_pairs(["a"] * 50, ["b"] * 50, ["a"] * 28 + ["b"] * 22)
    assert close.verdict.startswith("a and b cannot be separated; about ")
    needed = int(close.verdict.split("about ")[1].split(" ")[0].replace(",", ""))
    mean, error = close.posterior.difference(0, 1)  # type: ignore[arg-type]
    win = close.win_probability("a", "b")
    information = 1 / error**2 + needed * win * (1 - win)
    assert mean * np.sqrt(information) == pytest.approx(1.96, rel=0.05)


def test_the_result_has_tables_json_and_a_summary() -> None:
    pairs = simulate_pairs(4, tie=-0.5)
    ranking = fuse_pairs(*pairs.columns)
    items = ranking.item_columns()
    assert items["rank"].tolist() == sorted(ranking.ranks.tolist())
    assert {len(column) for column in items.values()} == {12}
    assert ranking.annotator_columns()["comparisons"].tolist() == [200, 200, 200]
    document = json.loads(json.dumps(ranking.to_json()))
    assert document["verdict"] == ranking.verdict
    assert len(document["items"]) == 12
    assert ranking.summary().startswith("Comparisons: 12 items × 3 annotators, 600 comparisons")
    assert repr(ranking).startswith("Ranking of Comparisons")
    assert ranking.size == "600 comparisons by 3 judges of 12 items."
