"""Ratings of items: what one more response changes, computed a second time with that response."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from blindfuse import Fusion, Responses, fuse, simulate
from blindfuse.diagnostics.items import rate_items
from blindfuse.model.fused_model import FusedModel
from blindfuse.model.model import Model
from experiments.calibration_tables import KINDS
from tests.support.diagnostics_cases import crowd, diagnosed
from tests.support.fusion_cases import copying, fuse_case, independent

PLAIN = ("plain", "copying", "outvoted", "two annotators", "two responses per item")


def with_another(fusion: Fusion) -> tuple[Responses, FusedModel]:
    """The table with a good annotator, who reports the second class of every item."""
    known, model = fusion.responses, fusion.model
    K = known.n_classes
    second = np.argsort(-fusion.posteriors, axis=1, kind="stable")[:, 1]
    matrix = np.column_stack([known.matrix(), second])
    names = [*known.annotators.tolist(), "another"]
    table = Responses.from_matrix(matrix, annotators=names, classes=known.classes)
    accuracy = min(np.quantile(model.accuracies, 0.75), 0.95)
    column = np.full((K, K), (1 - accuracy) / (K - 1))
    np.fill_diagonal(column, accuracy)

    def extend(one: Model, confusion: np.ndarray) -> Model:
        confusions = np.concatenate([one.confusions, confusion[None]])
        return Model(confusions, one.prior, table.annotators, table.classes)

    uniform = np.full((K, K), 1 / K)  # near votes, models judge as before the response
    others = tuple(extend(one, uniform) for one in model.others)
    fused = FusedModel.of(extend(model.independent, column), others=others)
    fused = replace(
        fused,
        dependence=model.dependence,
        correlation=model.correlation,
        reach=model.reach,
        preference=model.preference,
    )
    return table, fused


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("case", PLAIN)
def test_an_item_is_listed_if_the_response_changes_its_label(case: str, seed: int) -> None:
    fusion = fuse_case(case, seed)
    table, fused = with_another(fusion)
    before = fusion.posteriors.argmax(axis=1)
    by_model, mean = fused.parts(table)
    if by_model is not None and mean is not None and len(fused.others):
        old = fusion.model.parts(fusion.responses)[1]
        mean = old  # the mean of all models before the response
    after = fused.combine(table, by_model, mean)
    n = np.arange(len(before))
    second = np.argsort(-fusion.posteriors, axis=1, kind="stable")[:, 1]
    lead = after[n, second] - after[n, before]
    clear = np.abs(lead) > 1e-6
    found = fusion.item_ratings
    np.testing.assert_array_equal(found.needs_another_label[clear], (lead > 0)[clear])
    K, accuracy = table.n_classes, min(np.quantile(fusion.model.accuracies, 0.75), 0.95)
    p = fusion.posteriors[n, second]
    gain = (p * accuracy + (1 - p) * (1 - accuracy) / (K - 1)) * np.maximum(lead, 0)
    np.testing.assert_allclose(found.gain, gain, atol=1e-6)
    ranked = found.ranked()
    assert len(ranked) == found.needs_another_label.sum()
    assert np.all(np.diff(found.gain[ranked]) <= 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_unanimous_item_of_eight_is_never_listed(kind: str) -> None:
    for seed in range(2):
        responses, _ = KINDS[kind](np.random.default_rng([seed, 3]))
        table = responses.select_items(np.arange(min(responses.n_items, 500)))
        fusion = fuse(table)
        votes = [Counter(row[row >= 0].tolist()) for row in table.matrix()]
        unanimous = [len(each) == 1 and max(each.values()) >= 8 for each in votes]
        assert not fusion.item_ratings.needs_another_label[unanimous].any()


def test_gold_labels_are_not_listed() -> None:
    drawn = independent(0)
    gold = {n: int(drawn.truth[n]) for n in range(100)}
    found = fuse(drawn.responses, gold=gold).item_ratings
    assert not found.needs_another_label[:100].any()
    assert not found.gain[:100].any()
    assert found.needs_another_label[100:].any()


def test_a_response_brings_about_what_the_gain_says() -> None:
    """Responses of a good annotator to the first hundred listed items of independent crowds."""
    corrected, expected = [], []
    for seed in range(4):
        drawn = simulate(1000, 9, 3, np.random.default_rng(seed), skill=0.3, missing=0.4)
        fusion, rng = fuse(drawn.responses), np.random.default_rng(seed)
        first = fusion.item_ratings.ranked()[:100]
        posteriors, truth = fusion.posteriors[first], drawn.truth[first]
        accuracy = min(np.quantile(fusion.model.accuracies, 0.75), 0.95)
        for _ in range(30):
            right, n = rng.random(len(first)) < accuracy, np.arange(len(first))
            reported = np.where(right, truth, (truth + rng.integers(1, 3, len(first))) % 3)
            likelihood = np.full(posteriors.shape, (1 - accuracy) / 2)
            likelihood[n, reported] = accuracy
            after, before = (posteriors * likelihood).argmax(axis=1), posteriors.argmax(axis=1)
            corrected.append(np.sum(after == truth) - np.sum(before == truth))
        expected.append(fusion.item_ratings.gain[first].sum())
    assert 0.6 < np.mean(expected) / np.mean(corrected) < 1.5


def test_ratings_match_a_direct_computation() -> None:
    found, fitted = diagnosed(crowd(3).responses)
    for n, posterior in enumerate(fitted.posteriors_[:50]):
        best, second, _ = sorted(posterior, reverse=True)
        assert found.items.confidence[n] == best
        assert found.items.margin[n] == pytest.approx(best - second)


@pytest.mark.parametrize("seed", range(5))
def test_outvoted_items_match_a_direct_count(seed: int) -> None:
    rng = np.random.default_rng(seed)
    responses = simulate(1000, 7, 3, rng, missing=0.5).responses
    found, fitted = diagnosed(responses)
    labels = fitted.posteriors_.argmax(axis=1)
    for n, row in enumerate(responses.matrix().tolist()):
        votes = Counter(label for label in row if label >= 0)
        beaten = bool(votes) and votes[labels[n]] < max(votes.values())
        assert found.items.outvoted[n] == beaten
    assert found.items.outvoted.any()


def test_blocks_of_items_are_rated_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    fusion = fuse(copying(0).responses)
    inputs = fusion.responses, fusion.model, fusion.posteriors
    whole = rate_items(*inputs)
    monkeypatch.setattr("blindfuse.diagnostics.items.BLOCK_ITEMS", 37)
    for name, values in vars(rate_items(*inputs)).items():
        np.testing.assert_allclose(values, getattr(whole, name), atol=1e-12)


def test_the_summary_counts_the_listed_items_and_what_the_first_would_bring() -> None:
    found = fuse_case("plain", 0).item_ratings
    count, gain = int(found.needs_another_label.sum()), np.sort(found.gain)[::-1][:50].sum()
    assert count > 50
    for number in (f"{count} of 400", f"{100 * count / 400:.0f} %", f"about {gain:.0f}", "50"):
        assert number in found.summary()
    certain = replace(found, needs_another_label=np.zeros(400, dtype=bool))
    assert certain.summary() == "No label of 400 would change with one more response."
