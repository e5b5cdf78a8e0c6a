"""Learning from batches: adding, merging, forgetting, saving and resuming."""

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindfuse import (
    BadLabels,
    BadModel,
    BadParameter,
    BlindEnsemble,
    BlindfuseError,
    DawidSkene,
    Model,
    NotConverged,
    Responses,
    simulate,
)
from blindfuse.metrics import error_rate
from blindfuse.moments.statistics import EMStatistics, MomentStatistics
from blindfuse.responses.alphabet import Alphabet

STATISTICS = [MomentStatistics, EMStatistics]
METHODS = [BlindEnsemble, DawidSkene]


def split_items(responses: Responses, n_batches: int) -> list[Responses]:
    positions = np.array_split(np.arange(responses.n_items), n_batches)
    return [responses.select_items(part) for part in positions]


def named_counts(statistics: Any) -> dict[Any, Any]:
    """Return the counts of statistics by name, so that their order does not matter."""
    if isinstance(statistics, MomentStatistics):
        orders = (
            np.argsort(names.astype(str))
            for names in (statistics.annotators, statistics.alphabet.classes)
        )
        annotators, classes = orders
        sorted_statistics = statistics.reindexed(
            statistics.annotators[annotators],
            Alphabet.plain(statistics.alphabet.classes[classes]),
        )
        return {name: array.tolist() for name, array in sorted_statistics.arrays().items()}
    matrix, classes = statistics.patterns.matrix(), statistics.patterns.classes
    annotators = statistics.patterns.annotators.tolist()
    counts = {
        frozenset((m, classes[a]) for m, a in zip(annotators, row, strict=True) if a >= 0): size
        for row, size in zip(matrix.tolist(), statistics.sizes.tolist(), strict=True)
    }
    assert len(counts) == len(matrix)
    return counts


@pytest.mark.parametrize("statistics", STATISTICS)
@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_statistics_of_batches_add_up_to_those_of_all_items(statistics: Any, seed: int) -> None:
    """Batches may have different annotators and classes."""
    rng = np.random.default_rng(seed)
    n = 40
    rows = [(f"i{rng.integers(6)}", f"a{rng.integers(5)}", f"c{rng.integers(4)}") for _ in range(n)]
    columns = [np.array(column, dtype=object) for column in zip(*rows, strict=True)]
    whole = Responses.from_long(*columns)
    early = np.isin(columns[0], ["i0", "i1", "i2"])
    if early.all() or not early.any():
        return
    parts = [
        statistics.from_responses(Responses.from_long(*(column[mask] for column in columns)))
        for mask in (early, ~early)
    ]
    expected = statistics.from_responses(whole)
    for total in (parts[0] + parts[1], parts[1] + parts[0]):
        assert named_counts(total) == named_counts(expected)
        assert total.n_responses == expected.n_responses


@pytest.mark.parametrize("statistics", STATISTICS)
def test_discounted_statistics_count_less(statistics: Any) -> None:
    responses = simulate(300, 4, 2, np.random.default_rng(0)).responses
    counted = statistics.from_responses(responses)
    half = named_counts(counted.discounted(0.5) + counted.discounted(0.5))
    whole = named_counts(counted)
    for cell, count in whole.items():
        np.testing.assert_allclose(half[cell], count)


def test_items_with_almost_no_weight_are_dropped() -> None:
    statistics = EMStatistics.from_responses(
        simulate(300, 4, 2, np.random.default_rng(0)).responses
    )
    assert statistics.discounted(1e-9).patterns.n_items == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_one_batch_gives_the_same_model_as_fit(method: Any, missing: float) -> None:
    for seed in range(3):
        responses = simulate(3000, 6, 3, np.random.default_rng(seed), missing=missing).responses
        once = method(tolerance=1e-9, shrinkage=None).fit(responses)
        batch = method(tolerance=1e-9, shrinkage=None).partial_fit(responses)
        np.testing.assert_allclose(batch.model_.confusions, once.model_.confusions, atol=2e-4)
        np.testing.assert_allclose(batch.model_.prior, once.model_.prior, atol=2e-4)
        np.testing.assert_allclose(batch.posteriors_, once.posteriors_, atol=5e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_with_learned_shrinkage_batches_differ_little_from_a_fit_to_all(
    method: Any, seed: int
) -> None:
    """The difference is far below the sampling error of the model."""

    def distance(one: Model, other: Model) -> float:
        return float(np.linalg.norm(one.confusions - other.confusions))

    simulation = simulate(6000, 6, 3, np.random.default_rng(seed), missing=0.3)
    once = method(tolerance=1e-9).fit(simulation.responses)
    learner = method(tolerance=1e-9)
    for number, batch in enumerate(split_items(simulation.responses, 5)):
        learner.partial_fit(batch, number=number)
    assert distance(learner.model_, once.model_) < distance(once.model_, simulation.model) / 4


@pytest.mark.parametrize("method", METHODS)
def test_merging_equals_learning_from_all_batches(method: Any) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        responses = simulate(5000, 6, 3, rng, missing=0.2, skill=0.6).responses
        parts = split_items(responses, 4)
        left, right, one = (method(tolerance=1e-11) for _ in range(3))
        for part in parts[:2]:
            left.partial_fit(part)
        for part in parts[2:]:
            right.partial_fit(part)
        for part in parts:
            one.partial_fit(part)
        left.merge(right)
        assert named_counts(left.statistics_) == named_counts(one.statistics_)
        assert left.batches_ == one.batches_ == 4
        np.testing.assert_allclose(left.model_.confusions, one.model_.confusions, atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_an_estimator_is_not_merged_with_itself(method: Any) -> None:
    learner = method().partial_fit([[0, 0, 1], [1, 1, 1], [0, 1, 0]])
    with pytest.raises(BadParameter, match="count its batches twice"):
        learner.merge(learner)
    assert learner.batches_ == 1


@pytest.mark.parametrize("method", [*METHODS, partial(DawidSkene, start="blind")])
def test_the_model_depends_on_the_batches_and_not_on_their_order(method: Any) -> None:
    for seed in range(3):
        responses = simulate(3000, 6, 3, np.random.default_rng(seed), missing=0.2).responses
        batches = split_items(responses, 3)
        one, other = method(), method()
        for batch in batches:
            one.partial_fit(batch)
        for batch in reversed(batches):
            other.partial_fit(batch)
        np.testing.assert_allclose(one.model_.confusions, other.model_.confusions, atol=1e-6)
        np.testing.assert_allclose(one.model_.prior, other.model_.prior, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_forgetting_follows_annotators_who_change(method: Any) -> None:
    rng = np.random.default_rng(0)
    before, after = (simulate(4000, 6, 2, rng, skill=0.7) for _ in range(2))
    forgetting, remembering = method(), method()
    for simulation in (before, after):
        for batch in split_items(simulation.responses, 4):
            forgetting.partial_fit(batch, forget=800)
            remembering.partial_fit(batch)
    errors = [
        np.abs(learner.model_.confusions - after.model.confusions).mean()
        for learner in (forgetting, remembering)
    ]
    assert errors[0] < 0.6 * errors[1]
    last = after.truth[-1000:]
    assert error_rate(forgetting.posteriors_, last) <= error_rate(remembering.posteriors_, last)


@pytest.mark.parametrize("method", METHODS)
def test_new_annotators_and_classes_may_appear(method: Any) -> None:
    rng = np.random.default_rng(1)
    simulation = simulate(4000, 7, 3, rng, skill=0.7)
    matrix, truth = simulation.responses.matrix(), simulation.truth
    names = np.array([f"a{m}" for m in range(7)])
    common = np.flatnonzero(~np.any(matrix == 2, axis=1) & (truth < 2))
    rest = np.setdiff1d(np.arange(4000), common)
    first = Responses.from_matrix(matrix[common][:, :4], annotators=names[:4])
    learner = method().partial_fit(first)
    assert learner.model_.classes.tolist() == [0, 1]
    learner.partial_fit(Responses.from_matrix(matrix[rest], annotators=names))
    assert learner.model_.classes.tolist() == [0, 1, 2]
    assert learner.model_.annotators.tolist() == names.tolist()
    assert error_rate(learner.posteriors_, truth[rest]) < 0.15


@pytest.mark.parametrize("method", METHODS)
class TestState:
    def test_an_estimator_resumes_from_its_file(self, method: Any, tmp_path: Path) -> None:
        responses = simulate(3000, 5, 3, np.random.default_rng(0), missing=0.3).responses
        one = method()
        for part in split_items(responses, 3):
            one.partial_fit(part, forget=5000)
        resumed = method()
        for number, part in enumerate(split_items(responses, 3)):
            resumed = resumed if number == 0 else method().load_state(tmp_path / "state.npz")
            resumed.partial_fit(part, forget=5000, number=number).save_state(tmp_path / "state.npz")
        np.testing.assert_array_equal(resumed.model_.confusions, one.model_.confusions)
        np.testing.assert_array_equal(resumed.posteriors_, one.posteriors_)
        loaded = method().load_state(tmp_path / "state.npz")
        assert loaded.batches_ == 3
        np.testing.assert_array_equal(loaded.predict_proba(responses), one.predict_proba(responses))

    def test_a_damaged_or_foreign_file_is_refused(self, method: Any, tmp_path: Path) -> None:
        learner = method().partial_fit(simulate(300, 5, 3, np.random.default_rng(0)).responses)
        learner.save_state(tmp_path / "state")
        whole = (tmp_path / "state").read_bytes()
        for size in range(0, len(whole), 997):
            (tmp_path / "cut").write_bytes(whole[:size])
            with pytest.raises(BadModel):
                method().load_state(tmp_path / "cut")
        learner.model_.save(tmp_path / "model")
        with pytest.raises(BadModel, match="blindfuse model"):
            method().load_state(tmp_path / "model")
        other = DawidSkene if method is BlindEnsemble else BlindEnsemble
        with pytest.raises(BadModel, match=f"state of {method.__name__}"):
            other().load_state(tmp_path / "state")

    def test_saving_or_merging_without_a_batch_is_refused(
        self, method: Any, tmp_path: Path
    ) -> None:
        for call in (
            partial(method().save_state, tmp_path / "state"),
            partial(method().merge, method()),
        ):
            with pytest.raises(BadParameter, match="no batch yet"):
                call()
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("batch", "options", "message"),
    [
        (np.full((5, 4), -1), {}, "no label"),
        (np.empty((0, 4), dtype=int), {}, "no label|needed"),
        ([["x", "y", "x", "y"]], {}, "another type"),
        ([[0, 1, 5, 0]], {}, "Unknown class 5|not among the classes"),
        ([[0, 1, 1, 0]], {"number": 3}, "out of order: 1 were"),
        ([[0, 1, 1, 0]], {"number": 0}, "out of order"),
        ([[0, 1, 1, 0]], {"forget": 0}, "forget"),
        ([[0, 1], [1]], {}, "Row 1"),
    ],
)
def test_a_bad_batch_changes_nothing(
    method: Any, batch: Any, options: dict[str, Any], message: str
) -> None:
    simulation = simulate(500, 4, 2, np.random.default_rng(0))
    classes = [0, 1] if "5" in str(batch) else None
    learner = method().partial_fit(simulation.responses, classes=classes)
    before, model = named_counts(learner.statistics_), learner.model_
    with pytest.raises((BadLabels, BadParameter), match=message):
        learner.partial_fit(batch, **options)
    assert named_counts(learner.statistics_) == before
    assert learner.model_ is model
    assert learner.batches_ == 1


def test_parameters_that_batches_do_not_support_are_refused() -> None:
    responses = simulate(100, 6, 2, np.random.default_rng(0)).responses
    for method in (
        BlindEnsemble(groups=2),
        BlindEnsemble(moments="labels"),
        DawidSkene(weights=np.ones(6)),
    ):
        with pytest.raises(BadParameter, match="Leave"):
            method.partial_fit(responses)
        assert not hasattr(method, "batches_")


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_any_stream_gives_posteriors_or_a_clear_error(method: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    learner = method()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        for _ in range(3):
            shape = rng.integers(0, 12), rng.integers(1, 6)
            matrix = rng.integers(-1, rng.integers(2, 4), shape)
            try:
                learner.partial_fit(matrix, forget=[None, 3.0, 100.0][rng.integers(3)])
            except BlindfuseError:
                continue
            assert learner.posteriors_.shape == (len(matrix), len(learner.model_.classes))
            np.testing.assert_allclose(learner.posteriors_.sum(axis=1), 1.0)
