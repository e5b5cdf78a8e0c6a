"""fuse: fusion as a user calls it."""

from typing import Any

import numpy as np
import pytest

from blindfuse import (
    BadLabels,
    Responses,
    Wawa,
    fuse,
    simulate,
)
from blindfuse.fusion.choice import Choice, FuseContext
from blindfuse.fusion.selection import select_method
from blindfuse.metrics import calibration_error, error_rate
from blindfuse.model.posteriors import vote_posteriors
from experiments.settings import FIGURE_3, TABLE_1, TABLE_2, Setting
from tests.conftest import Crowds
from tests.support.crowds import copiers

EVERY_CROWD = (
    *("adult", "barzan", "bird", "cf_amt_weather", "dog", "fact_eval", "judges_toxicity"),
    *("labelme", "product", "rte", "sp", "temp", "trec", "web", "zc_in", "zc_us"),
)


@pytest.mark.parametrize("setting", [TABLE_1, TABLE_2, FIGURE_3], ids=lambda s: s.name)
def test_independent_annotators_are_fused_as_well_as_by_the_oracle(setting: Setting) -> None:
    errors = []
    for seed in range(10):
        simulation = setting.draw(10_000, seed)
        fusion = fuse(simulation.responses)
        assert fusion.method == "BlindEnsemble + EM"
        assert "independent" in fusion.why
        reached = fusion.model.log_likelihood(simulation.responses)
        np.testing.assert_allclose(fusion.history[-1], reached, rtol=1e-4)
        assert calibration_error(fusion.posteriors, simulation.truth) <= 0.03
        oracle = simulation.model.posteriors(simulation.responses)
        errors.append(
            [error_rate(found, simulation.truth) for found in (fusion.posteriors, oracle)]
        )
    fused, best = np.mean(errors, axis=0)
    assert fused <= 1.02 * best


@pytest.mark.parametrize(
    ("choose", "method"),
    [(None, "BlindEnsemble + EM"), (select_method("Wawa", Wawa), "Wawa")],
)
def test_new_items_are_labelled_by_the_same_rule(choose: Any, method: str) -> None:
    simulation = simulate(2000, 16, 3, np.random.default_rng(1), skill=0.3, missing=0.2)
    fusion = fuse(simulation.responses, selection=choose)
    assert fusion.method == method
    again = fusion.predict_proba(simulation.responses)
    np.testing.assert_allclose(again, fusion.posteriors, atol=1e-6)
    matrix = simulation.responses.matrix()[:50, ::-1]  # annotators in another order
    new = Responses.from_matrix(matrix, annotators=list(range(16))[::-1], classes=[0, 1, 2])
    np.testing.assert_allclose(fusion.predict_proba(new), again[:50], atol=1e-9)
    np.testing.assert_array_equal(fusion.predict(new), again[:50].argmax(axis=1))


def test_never_worse_than_the_vote_and_far_below_on_average(crowds: Crowds) -> None:
    gains, worse = [], []
    for name in EVERY_CROWD:
        crowd = crowds[name]
        found = vote_posteriors(crowd.responses), fuse(crowd.responses).posteriors
        vote, fused = (error_rate(beliefs, crowd.truth) for beliefs in found)
        gains.append(vote - fused)
        if fused > vote + max(0.003, 2 / np.count_nonzero(crowd.truth >= 0)):
            worse.append(name)
    assert worse == []
    assert np.mean(gains) >= 0.025


def test_gold_labels_are_held_fixed() -> None:
    simulation = simulate(500, 5, 3, np.random.default_rng(1))
    gold = {n: int(simulation.truth[n]) for n in range(50)}
    fusion = fuse(simulation.responses, gold=gold)
    np.testing.assert_array_equal(fusion.labels[:50], simulation.truth[:50])
    np.testing.assert_array_equal(fusion.posteriors[:50].max(axis=1), 1)


def test_another_selection_rule_can_be_passed() -> None:
    def trust_nobody(context: FuseContext) -> Choice:
        table, found = context.responses, context.fit_dawid_skene()
        even = np.full((table.n_items, table.n_classes), 1 / table.n_classes)
        return Choice("nothing", "I trust nobody.", found.model_, even, np.empty(0))

    fusion = fuse(simulate(50, 4, 2, np.random.default_rng(0)).responses, selection=trust_nobody)
    assert (fusion.method, fusion.why) == ("nothing", "I trust nobody.")
    assert fusion.diagnostics.expected_error.value == pytest.approx(0.5)


def test_the_same_seed_gives_the_same_result() -> None:
    responses = copiers(0).responses
    one, other = fuse(responses), fuse(responses, threads=1)
    np.testing.assert_array_equal(one.labels, other.labels)
    assert one.why == other.why


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadLabels, match="no labels"):
        fuse(np.full((3, 3), -1))
    with pytest.raises(BadLabels, match="Gold items"):
        fuse([[0, 1, 0], [1, 1, 0]], gold={7: 1})
