"""BlindEnsemble."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from blindfuse import (
    BadParameter,
    BlindEnsemble,
    BlindfuseError,
    NotConverged,
    Responses,
    simulate,
)
from blindfuse.metrics import error_rate
from blindfuse.simulation import Simulation


def crowd(seed: int = 0, n: int = 3000, k: int = 3, **options: Any) -> Simulation:
    return simulate(n, 8, k, np.random.default_rng(seed), skill=0.2, **options)


def oracle_error(simulation: Simulation) -> float:
    return error_rate(simulation.model.posteriors(simulation.responses), simulation.truth)


def fused_error(simulation: Simulation, **parameters: Any) -> float:
    ensemble = BlindEnsemble(**parameters).fit(simulation.responses)
    return error_rate(ensemble.posteriors_, simulation.truth)


class TestInterface:
    def test_arrays_and_frames_are_accepted_like_responses(self) -> None:
        responses = crowd(n=400, missing=0.2).responses
        matrix = responses.matrix()
        rows, columns = np.nonzero(matrix >= 0)
        long = {"item": rows, "annotator": columns, "label": matrix[rows, columns]}
        wide = pd.DataFrame(matrix).replace(-1, None)
        expected = BlindEnsemble().fit(responses)
        for data in (matrix, matrix.tolist(), pl.DataFrame(long), pd.DataFrame(long), wide):
            labels = BlindEnsemble().fit_predict(data)
            np.testing.assert_array_equal(labels, expected.labels_)
            np.testing.assert_array_equal(expected.predict(data), labels)
            np.testing.assert_allclose(expected.predict_proba(data), expected.posteriors_)

    def test_labels_have_the_names_of_the_input(self) -> None:
        simulation = crowd(n=500)
        names = np.array(["cat", "dog", "eel"], dtype=object)
        ensemble = BlindEnsemble().fit(names[simulation.responses.matrix()])
        assert set(ensemble.labels_) <= set(names)
        assert np.mean(ensemble.labels_ == names[simulation.truth]) > 0.8

    def test_new_items_of_known_annotators_are_labelled_nearly_as_well_as_possible(self) -> None:
        simulation = crowd(n=4000)
        old, new = np.arange(4000) < 3000, np.arange(4000) >= 3000
        ensemble = BlindEnsemble().fit(simulation.responses.select_items(old))
        labels = ensemble.predict(simulation.responses.select_items(new))
        best = simulation.model.labels(simulation.responses.select_items(new))
        error, lowest = (np.mean(one != simulation.truth[new]) for one in (labels, best))
        assert error <= 1.1 * lowest + 0.005

    def test_repr_shows_parameters_and_model(self) -> None:
        ensemble = BlindEnsemble(rule="ml")
        assert repr(ensemble) == "BlindEnsemble(rule='ml')"
        ensemble.fit(crowd(n=200).responses)
        assert "fitted Model: 8 annotators, 3 classes" in repr(ensemble)

    @pytest.mark.parametrize(
        "bad",
        [
            {"prior": [1.0]},
            {"weights": "equal", "moments": "labels"},
            {"groups": 3},
            {"groups": [[0, 1, 2], [3, 4, 5]]},
            {"groups": [[0, 1], [2, 3, 4, 5, 6, 7]]},
        ],
    )
    def test_a_bad_parameter_is_named(self, bad: dict[str, Any]) -> None:
        with pytest.raises(BadParameter, match=next(iter(bad))):
            BlindEnsemble(**bad).fit(crowd(n=50).responses)


class TestOptions:
    def test_the_prior_can_be_given_uniform_or_estimated(self) -> None:
        responses = crowd(prior=[0.7, 0.2, 0.1]).responses
        known = [0.7, 0.2, 0.1]
        np.testing.assert_array_equal(BlindEnsemble(prior=known).fit(responses).model_.prior, known)
        np.testing.assert_array_equal(
            BlindEnsemble(prior="uniform").fit(responses).model_.prior, [1 / 3] * 3
        )
        estimated = BlindEnsemble().fit(responses).model_.prior
        np.testing.assert_allclose(estimated, known, atol=0.05)

    def test_map_beats_ml_where_classes_are_unequal(self) -> None:
        simulation = simulate(20_000, 5, 2, np.random.default_rng(3), prior=[0.93, 0.07])
        assert fused_error(simulation) < fused_error(simulation, rule="ml")

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize(
        "option",
        [
            {"start": "random", "restarts": 5},
            {"start": "random", "restarts": 5, "prior": "uniform"},
            {"weights": "equal"},
            {"moments": "labels"},
            {"moments": "counts"},
            {"groups": 2},
            {"groups": [[0, 2, 4, 6], [1, 3, 5, 7]]},
            {"acceleration": None, "max_sweeps": 3000},
            {"alignment": "common"},
            {"alignment": "hungarian"},
            {"shrinkage": None},
            {"shrinkage": 3.0},
            {"inner": 5},
            {"proximal": 1e-3},
        ],
    )
    def test_every_option_is_nearly_as_good_as_the_oracle(
        self, seed: int, option: dict[str, Any]
    ) -> None:
        simulation = crowd(seed, n=20_000, missing=0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            assert fused_error(simulation, **option) <= 1.1 * oracle_error(simulation) + 0.002

    def test_a_model_can_be_the_start(self) -> None:
        simulation = crowd(1)
        first = BlindEnsemble().fit(simulation.responses)
        again = BlindEnsemble(start=first.model_).fit(simulation.responses)
        assert again.trace_.objective[0] < first.trace_.objective[0]  # type: ignore[union-attr]
        np.testing.assert_allclose(again.model_.confusions, first.model_.confusions, atol=1e-3)

    def test_groups_give_one_trace_each_and_the_mean_prior(self) -> None:
        responses = crowd(2, n=10_000).responses
        halves = [[0, 1, 2, 3], [4, 5, 6, 7]]
        grouped = BlindEnsemble(groups=halves).fit(responses)
        priors = [
            BlindEnsemble().fit(responses.select_annotators(half)).model_.prior for half in halves
        ]
        assert isinstance(grouped.trace_, list)
        assert len(grouped.trace_) == 2
        np.testing.assert_allclose(grouped.model_.prior, np.mean(priors, axis=0))

    @pytest.mark.parametrize("threads", [1, 2])
    def test_the_same_seed_gives_the_same_labels(self, threads: int) -> None:
        responses = crowd(4).responses
        fits = [
            BlindEnsemble(start="random", restarts=2, seed=9, threads=threads).fit(responses)
            for _ in range(2)
        ]
        np.testing.assert_array_equal(fits[0].posteriors_, fits[1].posteriors_)


class TestSymmetry:
    """Permuting the table permutes the result and changes nothing else."""

    @pytest.mark.parametrize("moments", ["counts", "labels"])
    @pytest.mark.parametrize("missing", [0.0, 0.4])
    @pytest.mark.parametrize("seed", range(3))
    def test_permuting_items_annotators_and_classes(
        self, seed: int, missing: float, moments: Any
    ) -> None:
        responses = crowd(seed, n=1500, missing=missing).responses
        rng = np.random.default_rng(seed)
        items, annotators = rng.permutation(1500), rng.permutation(8)
        classes = rng.permutation(3)
        permuted = responses.select_items(items).select_annotators(annotators)
        permuted = permuted.recoded(permuted.annotators, responses.classes[classes])
        one = BlindEnsemble(moments=moments).fit(responses)
        other = BlindEnsemble(moments=moments).fit(permuted)
        np.testing.assert_array_equal(other.labels_, one.labels_[items])
        np.testing.assert_allclose(other.posteriors_, one.posteriors_[items][:, classes], atol=1e-6)
        np.testing.assert_allclose(
            other.model_.confusions,
            one.model_.confusions[np.ix_(annotators, classes, classes)],
            atol=1e-6,
        )
        np.testing.assert_allclose(other.model_.prior, one.model_.prior[classes], atol=1e-6)


class TestBadInput:
    def test_a_class_that_nobody_reported_keeps_its_column(self) -> None:
        matrix = crowd(0, n=300, k=2).responses.matrix()
        ensemble = BlindEnsemble().fit(Responses.from_matrix(matrix, classes=[0, 1, 2]))
        assert ensemble.posteriors_.shape == (300, 3)
        assert set(ensemble.labels_) == {0, 1}
        assert np.isfinite(ensemble.posteriors_).all()

    def test_identical_annotators_and_many_adversaries_give_finite_posteriors(self) -> None:
        one = np.random.default_rng(0).integers(3, size=(200, 1))
        identical = BlindEnsemble().fit(np.tile(one, (1, 6)))
        np.testing.assert_array_equal(identical.labels_, one[:, 0])
        hostile = crowd(1, adversaries=0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            ensemble = BlindEnsemble().fit(hostile.responses)
        assert np.isfinite(ensemble.posteriors_).all()

    @settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
    @given(
        st.tuples(st.integers(1, 12), st.integers(1, 6)).flatmap(
            lambda shape: arrays(np.int8, shape, elements=st.integers(-1, 3))
        )
    )
    def test_any_small_table_gives_posteriors_or_a_clear_error(
        self, matrix: NDArray[np.int8]
    ) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            try:
                ensemble = BlindEnsemble(max_sweeps=200).fit(matrix)
            except BlindfuseError:
                return
        assert np.isfinite(ensemble.posteriors_).all()
        np.testing.assert_allclose(ensemble.posteriors_.sum(axis=1), 1)
        assert np.isfinite(ensemble.model_.confusions).all()
        assert len(ensemble.labels_) == len(matrix)
