"""One battery of checks for every method in the registry."""

import doctest
import inspect
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import blindfuse
from blindfuse import (
    KOS,
    BadLabels,
    BadParameter,
    LatentSubtypes,
    NotConverged,
    NotIdentifiable,
    Responses,
)
from blindfuse.estimators.base import Estimator, NotFitted
from blindfuse.estimators.registry import ENTRIES
from blindfuse.estimators.streaming import StreamEstimator
from blindfuse.metrics import error_rate
from tests.estimators.crowds import crowd

pytestmark = pytest.mark.filterwarnings("ignore::blindfuse.NotConverged")

DEFAULTS = [entry for entry in ENTRIES if not entry.suffix]
METHODS = [type(entry()) for entry in DEFAULTS if not entry.needs_truth]
WITH_TRUTH = [type(entry()) for entry in DEFAULTS if entry.needs_truth]
BINARY = [type(entry()) for entry in DEFAULTS if "two classes" in (entry.needs or "")]
NEED_OVERLAP = [type(entry()) for entry in DEFAULTS if "share items" in (entry.needs or "")]

BAD_VALUES: Mapping[str, list[Any]] = {
    "acceleration": ["nesterov", 1],
    "alignment": ["best", None],
    "class_prior": ["flat", None, [0.5, 0.6], [-0.5, 1.5], [[0.5, 0.5]], ["a", "b"]],
    "class_pseudo_count": [0, -1.0, float("nan"), "1"],
    "diagonal_pseudo_count": [0, -1.0, float("nan"), None],
    "groups": [0, -1, 1.5, {1: [0, 1, 2]}],
    "halve_every": [0, 1.5, None],
    "inner": [0, 1.5, "10"],
    "learning_rate": [-1.0, float("nan"), None],
    "max_iter": [0, -1, 1.5, float("nan"), None, "10"],
    "max_sweeps": [0, 1.5, None],
    "model": ["mv", np.eye(2)],
    "moments": ["all", None],
    "n_iter": [0, 2.5, None],
    "off_diagonal_pseudo_count": [0, -1.0, float("nan"), "1"],
    "ordered": ["yes", None, 2],
    "prior": ["flat", None, [0.5, 0.6, 0.1], [-0.5, 1.5], [[0.5, 0.5]]],
    "prior_count": [-1.0, float("nan"), None],
    "prior_model": ["mv", np.eye(2)],
    "proximal": [-1e-6, float("nan"), None],
    "pseudo_count": [-1.0, float("nan"), None],
    "restarts": [0, 1.5, None],
    "rule": ["vote", None, ["map"]],
    "seed": [-1, 0.5, "0"],
    "shrinkage": [-1.0, float("nan"), "much"],
    "smoothing": [-0.1, float("nan"), None],
    "start": ["none", None, 0, np.eye(2)],
    "subtypes": [0, 1.5, None],
    "threads": [0, -1, 1.5, "2"],
    "tolerance": [-1.0, float("nan"), "1e-6"],
    "trim": [-0.1, 0.5, float("nan"), None],
    "truth": [["a", "b"], "ab"],
    "variant": ["eig", None],
    "weights": [np.array([-1.0]), np.array([np.nan]), "some", np.array(["a"])],
}
"""Values that must be refused, by the name of the parameter."""

every_method = pytest.mark.parametrize("method", METHODS)
every_parameter = pytest.mark.parametrize(
    ("method", "name"),
    [(method, name) for method in METHODS + WITH_TRUTH for name in method().get_params()],
)


def n_classes_for(method: type[Estimator]) -> int:
    return 2 if method in BINARY else 3


def test_every_public_estimator_is_in_the_registry() -> None:
    public = {getattr(blindfuse, name) for name in blindfuse.__all__}
    estimators = {one for one in public if isinstance(one, type) and issubclass(one, Estimator)}
    assert estimators == set(METHODS) | set(WITH_TRUTH)


@every_method
@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_posteriors_are_probabilities_and_labels_are_their_largest(
    method: type[Estimator], missing: float
) -> None:
    simulation = crowd(missing=missing, k=n_classes_for(method))
    fitted = method().fit(simulation.responses)
    assert fitted.posteriors_.shape == (1500, n_classes_for(method))
    np.testing.assert_allclose(fitted.posteriors_.sum(axis=1), 1)
    chosen = fitted.posteriors_[np.arange(1500), fitted.labels_]
    np.testing.assert_array_equal(chosen, fitted.posteriors_.max(axis=1))
    assert error_rate(fitted.posteriors_, simulation.truth) < 0.25


@every_method
def test_prediction_on_the_fitted_items_equals_the_fit(method: type[Estimator]) -> None:
    responses = crowd(1, k=n_classes_for(method)).responses
    fitted = method().fit(responses)
    np.testing.assert_array_equal(method().fit_predict(responses), fitted.labels_)
    if method is KOS:  # messages to an item exclude its own, which is not possible for new items
        assert np.mean(fitted.predict(responses) == fitted.labels_) > 0.98
        return
    np.testing.assert_array_equal(fitted.predict(responses), fitted.labels_)
    np.testing.assert_allclose(fitted.predict_proba(responses), fitted.posteriors_)


@every_method
def test_permuting_the_table_permutes_the_result(method: type[Estimator]) -> None:
    K = n_classes_for(method)
    responses = crowd(2, k=K, missing=0.0).responses
    rng = np.random.default_rng(0)
    items, annotators, classes = (rng.permutation(size) for size in (1500, 7, K))
    permuted = responses.select_items(items).select_annotators(annotators)
    permuted = permuted.recoded(permuted.annotators, responses.classes[classes])
    one, other = method().fit(responses), method().fit(permuted)
    np.testing.assert_allclose(other.posteriors_, one.posteriors_[items][:, classes], atol=1e-6)
    np.testing.assert_array_equal(other.labels_, one.labels_[items])


@every_method
def test_every_item_of_an_unusual_table_is_labelled(method: type[Estimator]) -> None:
    truth = np.arange(12) % n_classes_for(method)
    unanimous = np.tile(truth[:, None], (1, 4))
    annotator_with_one_response = np.full((12, 5), -1)
    annotator_with_one_response[:, :4] = unanimous
    annotator_with_one_response[0, 4] = 1
    item_with_one_response = unanimous.copy()
    item_with_one_response[5, 1:] = -1
    item_without_responses = np.vstack([unanimous, np.full((1, 4), -1)])
    for table in (
        unanimous,
        annotator_with_one_response,
        item_with_one_response,
        item_without_responses,
    ):
        fitted = method().fit(table)
        assert np.isfinite(fitted.posteriors_).all()
        np.testing.assert_array_equal(fitted.labels_[:12], truth)


@every_method
def test_one_class_is_reported_out_of_several(method: type[Estimator]) -> None:
    classes = list(range(n_classes_for(method)))
    fitted = method().fit(Responses.from_matrix(np.ones((12, 5), dtype=int), classes=classes))
    assert np.isfinite(fitted.posteriors_).all()
    np.testing.assert_array_equal(fitted.labels_, 1)


@every_method
def test_a_million_items_with_one_response_each(method: type[Estimator]) -> None:
    """The label is the response, unless the method refuses and names one that can be used."""
    rng = np.random.default_rng(0)
    annotators, labels = rng.integers(7, size=(2, 10**6))
    responses = Responses.from_codes(
        np.arange(10**6),
        annotators,
        labels % n_classes_for(method),
        items=np.arange(10**6),
        annotators=np.arange(7),
        classes=np.arange(n_classes_for(method)),
    )
    if method in NEED_OVERLAP:
        with pytest.raises(NotIdentifiable, match=r"MajorityVote|majority vote"):
            method().fit(responses)
        return
    fitted = method().fit(responses)
    assert np.isfinite(fitted.posteriors_).all()
    np.testing.assert_array_equal(fitted.labels_, labels % n_classes_for(method))


@pytest.mark.parametrize("method", NEED_OVERLAP)
def test_too_little_overlap_is_refused(method: Any) -> None:
    for table in (
        [[0, 1, -1, -1], [1, 1, -1, -1], [-1, -1, 0, 0], [-1, -1, 1, 0]],
        [[0, 1], [1, 1], [0, 0]],
    ):
        with pytest.raises(NotIdentifiable, match=r"MajorityVote|majority vote"):
            method().fit(table)


@pytest.mark.parametrize("method", BINARY)
def test_two_class_methods_refuse_more_and_name_one_that_can_be_used(method: Any) -> None:
    with pytest.raises(BadLabels, match=r"two classes, not 3.*BlindEnsemble"):
        method().fit(crowd(k=3).responses)


@every_method
def test_bad_responses_are_refused(method: type[Estimator]) -> None:
    for data, message in (
        (np.zeros((4, 3), dtype=int), "at least two classes"),
        (np.full((4, 3), -1), "no labels"),
        ([[0, 1, 2.5]], "not a whole number"),
    ):
        with pytest.raises(BadLabels, match=message):
            method().fit(data)


@every_method
def test_prediction_before_fit_is_refused(method: type[Estimator]) -> None:
    with pytest.raises(NotFitted, match="Call fit first"):
        method().predict([[0, 1, 0]])


@every_method
def test_an_unknown_parameter_is_refused(method: type[Estimator]) -> None:
    with pytest.raises(BadParameter, match="no parameter 'colour'"):
        method().set_params(colour="red")


@every_method
def test_parameters_round_trip(method: type[Estimator]) -> None:
    one = method()
    assert method(**one.get_params()).get_params() == clone(one).get_params() == one.get_params()
    assert repr(one) == f"{method.__name__}()"


@pytest.mark.parametrize("method", METHODS + WITH_TRUTH)
def test_docstring_examples_run(method: type[Estimator]) -> None:
    doctest.testmod(inspect.getmodule(method), raise_on_error=True)


@every_parameter
def test_every_parameter_has_a_constraint(method: type[Estimator], name: str) -> None:
    constraint = method._constraints()[name]
    assert constraint.accepts(method().get_params()[name]), "the default is allowed"


@every_parameter
def test_a_bad_value_of_every_parameter_is_refused_by_name(
    method: type[Estimator], name: str
) -> None:
    table = crowd(n=30, k=n_classes_for(method), missing=0.0).responses
    for value in BAD_VALUES[name]:
        with pytest.raises(BadParameter, match=rf"^{name}=.* must be "):
            method().set_params(**{name: value}).fit(table)
        if issubclass(method, StreamEstimator):
            with pytest.raises(BadParameter, match=rf"^{name}=.* must be "):
                method().set_params(**{name: value}).partial_fit(table)


@pytest.mark.parametrize("method", METHODS + WITH_TRUTH)
def test_only_the_interface_and_the_results_are_public(method: type[Estimator]) -> None:
    interface = {"fit", "fit_predict", "predict", "predict_proba", "get_params", "set_params"}
    streams = {"partial_fit", "merge", "save_state", "load_state"}
    allowed = interface | (streams if issubclass(method, StreamEstimator) else set())
    if method is LatentSubtypes:
        allowed |= {"subtype_posteriors"}
    public = {name for name, _ in inspect.getmembers(method, callable) if name[0] != "_"}
    assert public == allowed


@pytest.mark.parametrize("method", [m for m in METHODS if "max_iter" in m().get_params()])
def test_reaching_max_iter_warns_where_convergence_is_reported(method: type[Estimator]) -> None:
    fitted = method().set_params(max_iter=1)
    responses = crowd(3, n=300).responses
    if "stopped_" not in {
        name for base in method.__mro__ for name in inspect.get_annotations(base)
    }:
        fitted.fit(responses)  # a vote with few iterations is still a vote
        return
    with pytest.warns(NotConverged, match=rf"{method.__name__} did not converge in 1 iterations"):
        fitted.fit(responses)
    assert fitted.stopped_ == "max_iter"  # type: ignore[attr-defined]


def test_fusing_in_threads_does_not_warn() -> None:
    """The fit of one EM iteration in ``fuse`` never converges, and is meant not to."""
    tables = [crowd(seed, n=300).responses for seed in range(8)]
    with warnings.catch_warnings(), ThreadPoolExecutor(4) as pool:
        warnings.simplefilter("error")
        assert len(list(pool.map(blindfuse.fuse, tables))) == 8


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_fit_accepts_no_y_as_scikit_learn_calls_it(method: type[Estimator]) -> None:
    responses = crowd(n=200, k=2).responses
    fit: Any = method().fit
    expected = fit(responses).posteriors_
    np.testing.assert_array_equal(fit(responses, None).posteriors_, expected)
    np.testing.assert_array_equal(fit(responses, y=None).posteriors_, expected)
    truth = np.zeros(responses.n_items, dtype=int)
    for arguments in ((truth,), (truth.tolist(),)):
        with pytest.raises(BadParameter, match=r"true labels|gold labels must be a dictionary"):
            fit(responses, *arguments)
        with pytest.raises(BadParameter, match="y was given"):
            fit(responses, y=arguments[0])
        with pytest.raises(BadParameter, match="y was given"):
            method().fit_predict(responses, *arguments)


@pytest.mark.parametrize("gold", [["x"], [("i", "x")], np.array([0]), "gold.csv", 3, {"a"}])
def test_gold_labels_must_be_a_dictionary(gold: Any) -> None:
    votes = [[0, 0, 1], [1, 1, 1], [0, 1, 0], [1, 0, 1]]
    pandas = pytest.importorskip("pandas")
    for value in (gold, pandas.Series([0, 1])):
        for call in (blindfuse.DawidSkene().fit, blindfuse.GLAD().fit, blindfuse.fuse):
            with pytest.raises(BadParameter, match="must be a dictionary"):
                call(votes, gold=value)
        with pytest.raises(BadParameter, match="must be a dictionary"):
            blindfuse.compare(votes, value)
        with pytest.raises(BadParameter, match="must be a dictionary"):
            blindfuse.check_on_gold(blindfuse.fuse(votes), value)


@pytest.mark.parametrize("seed", [-1, 0.5, "0"])
def test_the_seed_of_fuse_is_checked(seed: Any) -> None:
    votes = [[0, 0, 1], [1, 1, 1], [0, 1, 0], [1, 0, 1]]
    for call in (blindfuse.fuse, lambda votes, seed: blindfuse.fuse_stream([votes], seed=seed)):
        with pytest.raises(BadParameter, match="seed="):
            call(votes, seed=seed)
