"""Methods for responses with R symbols and K classes: second computations, and equal forms."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blindfuse import (
    BayesianDawidSkene,
    BlindEnsemble,
    DawidSkene,
    LatentSubtypes,
    Model,
    Oracle,
    Responses,
    simulate,
)
from blindfuse.errors import BadModel, BadParameter
from blindfuse.estimators.registry import METHODS, SYMBOL_METHODS
from blindfuse.metrics import error_rate
from blindfuse.model.posteriors import vote_posteriors
from blindfuse.simulation import Simulation, simulate_scores

SHAPES = [(3, 2), (6, 3), (11, 2), (11, 3)]


def drawn(
    n_symbols: int, n_classes: int, seed: int = 0, n: int = 3000, **options: Any
) -> Simulation:
    rng = np.random.default_rng(seed)
    return simulate_scores(n, 8, n_symbols, n_classes, rng, separation=1.5, **options)


def plain_em(matrix: Any, posteriors: Any, n_symbols: int, steps: int) -> Any:
    """Dawid–Skene with half a pseudo-count per cell by its definition, in plain loops."""
    for _ in range(steps):
        prior = posteriors.mean(axis=0)
        confusions = np.full((matrix.shape[1], n_symbols, posteriors.shape[1]), 0.5)
        for m in range(matrix.shape[1]):
            for r in range(n_symbols):
                confusions[m, r] += posteriors[matrix[:, m] == r].sum(axis=0)
        confusions /= confusions.sum(axis=1, keepdims=True)
        joint = np.tile(prior, (len(matrix), 1))
        for m in range(matrix.shape[1]):
            given = matrix[:, m] >= 0
            joint[given] *= confusions[m][matrix[given, m]]
        posteriors = joint / joint.sum(axis=1, keepdims=True)
    return confusions, prior


@pytest.mark.parametrize(("n_symbols", "n_classes"), SHAPES)
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_em_equals_its_definition(n_symbols: int, n_classes: int, missing: float) -> None:
    responses = drawn(n_symbols, n_classes, n=800, missing=missing).responses
    method = DawidSkene(shrinkage=None, pseudo_count=0.5, tolerance=1e-4)
    fitted = method.fit(responses)
    steps = len(fitted.log_likelihoods_)
    confusions, prior = plain_em(responses.matrix(), vote_posteriors(responses), n_symbols, steps)
    assert fitted.stopped_ == "converged"
    assert steps > 2
    np.testing.assert_allclose(fitted.model_.confusions, confusions, atol=1e-9)
    np.testing.assert_allclose(fitted.model_.prior, prior, atol=1e-9)


@pytest.mark.parametrize("method", [DawidSkene(shrinkage=None), BlindEnsemble(shrinkage=None)])
@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_an_identity_matrix_gives_the_results_of_plain_labels(method: Any, missing: float) -> None:
    plain = simulate(2000, 6, 3, np.random.default_rng(0), skill=0.4, missing=missing).responses
    anchored = plain.with_anchor([0, 1, 2], np.eye(3))
    expected = type(method)(**method.get_params()).fit(plain)
    found = type(method)(**method.get_params()).fit(anchored)
    np.testing.assert_allclose(found.posteriors_, expected.posteriors_, atol=1e-4)


@pytest.mark.parametrize(("n_symbols", "n_classes"), SHAPES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_sweeps_from_responses_equal_those_from_moments(
    n_symbols: int, n_classes: int, missing: float
) -> None:
    responses = drawn(n_symbols, n_classes, n=1500, missing=missing).responses
    options: dict[str, Any] = {"max_sweeps": 15, "tolerance": 0.0, "shrinkage": None}
    for acceleration in (None, "anderson"):
        with pytest.warns(UserWarning, match="sweeps"):
            direct, explicit = (
                BlindEnsemble(moments=form, acceleration=acceleration, **options).fit(responses)
                for form in ("labels", "counts")
            )
        np.testing.assert_allclose(direct.model_.confusions, explicit.model_.confusions, atol=1e-8)
        np.testing.assert_allclose(direct.model_.prior, explicit.model_.prior, atol=1e-8)


@pytest.mark.parametrize(("n_symbols", "n_classes"), SHAPES)
@pytest.mark.parametrize(
    "method", [DawidSkene(), DawidSkene(start="blind"), BlindEnsemble(), BayesianDawidSkene()]
)
def test_labels_are_close_to_the_oracle(n_symbols: int, n_classes: int, method: Any) -> None:
    simulation = drawn(n_symbols, n_classes, n=6000)
    oracle = Oracle(model=simulation.model).fit(simulation.responses)
    fitted = type(method)(**method.get_params()).fit(simulation.responses)
    best = error_rate(oracle.posteriors_, simulation.truth)
    assert error_rate(fitted.posteriors_, simulation.truth) < 1.15 * best + 0.002
    assert np.abs(fitted.model_.confusions - simulation.model.confusions).mean() < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_random_starts_are_named_by_the_order_of_the_scores(seed: int) -> None:
    simulation = drawn(6, 3, seed, n=6000)
    fitted = BlindEnsemble(start="random", restarts=3, seed=seed).fit(simulation.responses)
    assert np.abs(fitted.model_.confusions - simulation.model.confusions).mean() < 0.03


def test_subtypes_take_symbols() -> None:
    simulation = drawn(6, 2, n=3000)
    fitted = LatentSubtypes().fit(simulation.responses)
    assert error_rate(fitted.posteriors_, simulation.truth) < 0.12
    np.testing.assert_allclose(
        fitted.predict_proba(simulation.responses), fitted.posteriors_, atol=1e-12
    )


@pytest.mark.parametrize("name", METHODS)
def test_methods_without_symbols_name_those_with(name: str) -> None:
    responses = drawn(6, 2, n=200).responses
    method = METHODS[name]
    if method.symbols:
        method().fit(responses)
        return
    with pytest.raises(BadParameter, match="DawidSkene"):
        method().fit(responses)
    assert method.estimator not in SYMBOL_METHODS or method.parameters.get("start") == "spectral"


def test_accuracy_is_that_of_the_best_use_of_symbols() -> None:
    simulation = drawn(6, 2, n=200_000)
    model, responses = simulation.model, simulation.responses
    decided = (model.confusions * model.prior).argmax(axis=2)
    matrix = responses.matrix()
    shares = [np.mean(decided[m][matrix[:, m]] == simulation.truth) for m in range(8)]
    np.testing.assert_allclose(model.accuracies, shares, atol=0.005)


def test_roc_area_is_the_probability_of_the_right_order() -> None:
    model = drawn(6, 2).model
    rng = np.random.default_rng(0)
    for m in range(3):
        ratio = model.confusions[m, :, 1] / model.confusions[m].sum(axis=1)
        low, high = (
            ratio[rng.choice(6, size=100_000, p=model.confusions[m, :, k])] for k in (0, 1)
        )
        expected = np.mean(high > low) + np.mean(high == low) / 2
        assert model.roc_areas[m] == pytest.approx(expected, abs=0.005)
    with pytest.raises(BadParameter, match="two classes"):
        _ = drawn(6, 3).model.roc_areas


def test_models_with_symbols_are_saved_and_predict(tmp_path: Path) -> None:
    simulation = drawn(6, 2, missing=0.3)
    fitted = DawidSkene().fit(simulation.responses)
    fitted.model_.save(tmp_path / "model.npz")
    loaded = Model.load(tmp_path / "model.npz")
    assert loaded.symbols.tolist() == list(range(6))
    assert not loaded.is_plain
    new = simulation.responses.select_items(np.arange(50))
    np.testing.assert_array_equal(loaded.posteriors(new), fitted.posteriors_[:50])
    with pytest.raises(BadModel, match="symbols"):
        loaded.for_annotators(loaded.annotators, loaded.classes)


@pytest.mark.parametrize("make", [DawidSkene, BlindEnsemble])
def test_batches_give_the_model_of_all_items(make: Any, tmp_path: Path) -> None:
    responses = drawn(6, 2, n=2000).responses
    whole = make(shrinkage=None).fit(responses)
    learner = make(shrinkage=None)
    for begin in range(0, 2000, 500):
        learner.partial_fit(responses.select_items(np.arange(begin, begin + 500)))
    np.testing.assert_allclose(learner.model_.confusions, whole.model_.confusions, atol=0.02)
    learner.save_state(tmp_path / "state.npz")
    resumed = make(shrinkage=None).load_state(tmp_path / "state.npz")
    more = drawn(6, 2, 9, n=300).responses
    np.testing.assert_array_equal(
        resumed.partial_fit(more).model_.confusions, learner.partial_fit(more).model_.confusions
    )


def test_a_later_batch_may_have_new_scores() -> None:
    rng = np.random.default_rng(0)
    first = Responses.from_scores(rng.integers(1, 5, size=(300, 4)).astype(float))
    second = Responses.from_scores(rng.integers(0, 7, size=(300, 4)).astype(float))
    for make in (DawidSkene, BlindEnsemble):
        learner = make().partial_fit(first).partial_fit(second)
        assert learner.model_.symbols.tolist() == list(range(7))


def test_shrinkage_keeps_symbols_that_a_clustering_never_uses_impossible() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=400)
    labels = np.stack([truth, 1 - truth, truth + 3 * (rng.random(400) < 0.3)], axis=1)
    fitted = DawidSkene().fit(Responses.from_clusters(labels, classes=2))
    assert np.all(fitted.model_.confusions[0, 2:] < 1e-6)
    assert np.mean(fitted.labels_ == truth) in (0.0, 1.0)


def test_shrinkage_of_moments_is_one_iteration_of_em() -> None:
    """Computed from the posteriors of Algorithm 1; it brings labels closer to the oracle."""
    errors = []
    for seed in range(3):
        crowd = drawn(11, 3, seed=seed, n=4000)
        raw = BlindEnsemble(shrinkage=None).fit(crowd.responses)
        fitted = BlindEnsemble(shrinkage=0).fit(crowd.responses)
        matrix = crowd.responses.matrix()
        reported = matrix[:, :, None] == np.arange(11)
        counts = np.einsum("nmr,nk->mrk", reported, raw.posteriors_)
        expected = counts / counts.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(fitted.model_.confusions, expected, atol=1e-9)
        errors.append([error_rate(one.posteriors_, crowd.truth) for one in (fitted, raw)])
    found, alone = np.mean(errors, axis=0)
    assert found < alone
