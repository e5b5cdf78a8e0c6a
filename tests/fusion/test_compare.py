"""Every method side by side, and the error on gold labels, computed a second way."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

import blindfuse
from blindfuse import (
    BadLabels,
    BadParameter,
    DawidSkene,
    Fusion,
    Responses,
    Simulation,
    Wawa,
    check_on_gold,
    compare,
    fuse,
    simulate,
)
from blindfuse.estimators.base import Estimator
from blindfuse.estimators.registry import METHODS, find_method
from blindfuse.metrics import error_rate


def test_every_public_method_has_a_name() -> None:
    public = {getattr(blindfuse, name) for name in blindfuse.__all__}
    methods = {one for one in public if isinstance(one, type) and issubclass(one, Estimator)}
    named = {type(make()) for make in METHODS.values()}
    assert named == methods - {blindfuse.Oracle, blindfuse.SingleBest}


def test_errors_and_differences_are_those_of_each_method() -> None:
    simulation = simulate(800, 6, 2, np.random.default_rng(0), skill=0.4, missing=0.2)
    responses, known = simulation.responses, slice(100, 400)
    truth = dict(zip(range(100, 400), simulation.truth[known].tolist(), strict=True))
    told: list[str] = []
    rows = compare(responses, truth, report=told.append)
    assert [row.method for row in rows] == ["fuse", *METHODS] == told
    fused = fuse(responses)
    assert rows[0].error == error_rate(fused.posteriors[known], simulation.truth[known])
    assert rows[0].differs == 0
    by_name = {row.method: row for row in rows}
    for name in ("MajorityVote", "DawidSkene", "LatentSubtypes"):
        fitted = METHODS[name]().fit(responses)
        expected = error_rate(fitted.posteriors_[known], simulation.truth[known])
        assert by_name[name].error == expected
        labels = fused.posteriors.argmax(axis=1)
        beaten = [max(row) > row[k] for row, k in zip(fitted.posteriors_, labels, strict=True)]
        assert by_name[name].differs == np.mean(beaten)
    assert all(row.seconds for row in rows)
    alone = compare(responses, methods={}, fused=fused)[0]
    assert (alone.seconds, alone.error, alone.differs) == (None, None, 0.0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [2, 3])
def test_fuse_and_compare_count_the_same_differences_from_the_vote(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    responses = simulate(600, 6, classes, rng, skill=0.2, missing=0.3).responses
    fused = fuse(responses)
    vote = compare(responses, methods={"vote": blindfuse.MajorityVote}, fused=fused)[1]
    stated = re.search(r"([\d,]+) of 600 labels differ from the majority vote", fused.why)
    assert stated is not None
    assert vote.differs == int(stated[1]) / 600


@pytest.mark.parametrize("classes", [2, 3])
def test_a_method_that_cannot_says_why(classes: int) -> None:
    rng = np.random.default_rng(1)
    answers = Responses.from_matrix(rng.integers(classes, size=(50, 2)))
    failed = {row.method: row.failed for row in compare(answers) if row.failed}
    assert {"BlindEnsemble", "EigenRatio"} <= failed.keys()
    assert "fuse" not in failed
    assert all(reason.endswith(".") for reason in failed.values() if reason)


@pytest.mark.parametrize("name", METHODS)
def test_a_fusion_by_one_method_is_that_method(name: str) -> None:
    simulation = simulate(300, 5, 2, np.random.default_rng(2), skill=0.3, missing=0.3)
    fitted = METHODS[name]().fit(simulation.responses)
    fusion = fuse(simulation.responses, method=METHODS[name]())
    certain = np.abs(np.diff(fitted.posteriors_)[:, 0]) > 1e-6
    assert fusion.labels[certain].tolist() == fitted.labels_[certain].tolist()
    np.testing.assert_allclose(fusion.posteriors, fitted.posteriors_, atol=1e-6)
    assert fusion.method == type(METHODS[name]()).__name__
    assert fusion.why == "This method was requested."
    again = fusion.predict_proba(simulation.responses)
    np.testing.assert_allclose(again, fusion.posteriors, atol=0.02)  # KOS iterates on new items
    expected = fusion.expected_error
    assert expected is not None
    assert 0 < expected.low < expected.value < expected.high <= 0.5


def test_a_method_without_a_model_is_described_by_its_labels() -> None:
    simulation = simulate(2000, 5, 3, np.random.default_rng(3), skill=0.5)
    fusion = fuse(simulation.responses, method=Wawa())
    said = simulation.responses.matrix()
    for m, accuracy in enumerate(fusion.model.accuracies):
        assert accuracy == pytest.approx(np.mean(said[:, m] == fusion.labels), abs=0.01)


def test_a_method_takes_parameters_and_gold() -> None:
    simulation = simulate(300, 5, 2, np.random.default_rng(4), skill=0.2, missing=0.3)
    gold = {item: int(1 - simulation.truth[item]) for item in range(40)}
    fitted = DawidSkene(tolerance=0.01).fit(simulation.responses, gold=gold)
    fusion = fuse(simulation.responses, method=DawidSkene(tolerance=0.01), gold=gold)
    assert fusion.labels.tolist() == fitted.labels_.tolist()
    assert fusion.labels[:40].tolist() == list(gold.values())
    with pytest.raises(BadParameter, match="a method such as"):
        fuse(simulation.responses, method="DawidSkene")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_found_by_any_spelling(name: str) -> None:
    for spelling in (name, name.upper(), name.replace(" ", "-"), f" {name.lower()}_"):
        assert find_method(spelling) == name


def test_a_method_that_is_not_there_is_guessed() -> None:
    with pytest.raises(BadParameter, match="'dawidskeen': did you mean 'DawidSkene'"):
        find_method("dawidskeen")
    with pytest.raises(BadParameter, match="there are 'MajorityVote', 'Wawa'"):
        find_method("?")


def test_what_methods_are_said_to_need_is_what_they_refuse_to_go_without() -> None:
    rng = np.random.default_rng(5)

    def refused(annotators: int, classes: int) -> set[str]:
        answers = simulate(200, annotators, classes, rng, skill=0.5).responses
        return {row.method for row in compare(answers) if row.failed}

    assert refused(2, 2) == {name for name, one in METHODS.items() if "three" in (one.needs or "")}
    assert refused(3, 3) == {name for name, one in METHODS.items() if "two" in (one.needs or "")}
    assert refused(3, 2) == set()


def fusion_with(drawn: Simulation, posteriors: np.ndarray) -> Fusion:
    """A fusion with given posteriors."""
    fusion = fuse(drawn.responses)
    return replace(fusion, posteriors=posteriors, labels=drawn.model.name_labels(posteriors))


@pytest.mark.parametrize("seed", range(3))
def test_gold_check_matches_a_direct_computation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = simulate(500, 5, 3, rng, missing=0.2)
    posteriors = drawn.model.posteriors(drawn.responses)
    chosen = rng.choice(500, 80, replace=False)
    known = dict(zip(chosen.tolist(), drawn.truth[chosen].tolist(), strict=True))
    found = check_on_gold(fusion_with(drawn, posteriors), known)
    wrong = np.sum(posteriors[chosen].argmax(axis=1) != drawn.truth[chosen])
    interval = binomtest(int(wrong), 80).proportion_ci(method="wilson")
    assert (found.error.value, found.error.low, found.error.high) == pytest.approx(
        (wrong / 80, interval.low, interval.high)
    )
    lost = 0.0
    for item, true in zip(chosen, drawn.truth[chosen], strict=True):
        votes = Counter(drawn.responses.matrix()[item].tolist())
        del votes[-1]
        best = [label for label, count in votes.items() if count == max(votes.values())]
        lost += 1 - (true in best) / len(best) if best else 1 - 1 / 3
    assert found.vote_error.value == pytest.approx(lost / 80)
    assert found.expected_error == pytest.approx(np.mean(1 - posteriors[chosen].max(axis=1)))
    assert sum(one.items for one in found.bins) == 80
    right = sum(one.items * one.accuracy.value for one in found.bins)
    assert right == pytest.approx(80 - wrong)


def test_an_empty_gold_is_refused() -> None:
    with pytest.raises(BadLabels, match="at least one"):
        check_on_gold(fuse(simulate(50, 4, 2, np.random.default_rng(0)).responses), {})


@pytest.mark.parametrize(("power", "advises"), [(1, False), (20, True)])
def test_an_expected_error_below_the_measured_interval_is_not_to_be_trusted(
    power: int, advises: bool
) -> None:
    drawn = simulate(2000, 5, 3, np.random.default_rng(0), skill=0.1)
    posteriors = drawn.model.posteriors(drawn.responses) ** power
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    fusion = fusion_with(drawn, posteriors)
    check = check_on_gold(fusion, dict(enumerate(drawn.truth.tolist())))
    assert ("trust the measured" in check.summary()) == advises
