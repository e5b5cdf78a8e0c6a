"""All estimators follow scikit-learn's rules; BlindVotingClassifier labels as the fusion does."""

import doctest
import pickle
from functools import cache
from importlib import import_module
from typing import Any, Self

import numpy as np
import pytest
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from blindfuse import BadLabels, BadParameter, Simulation, fuse, simulate
from blindfuse.sklearn import BlindClusterEnsemble, BlindVotingClassifier, BlindVotingRegressor

Array = NDArray[Any]


class ColumnClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the values of one column, so that X is the table of responses."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Array, y: Array) -> Self:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Array) -> Array:
        return np.asarray(X)[:, self.column]


TREE = "tree", DecisionTreeRegressor(max_depth=3, random_state=0)


def trees(*depths: int | None) -> list[tuple[str, Any]]:
    return [(f"tree{d}", DecisionTreeClassifier(max_depth=d, random_state=0)) for d in depths]


def classifiers() -> list[tuple[str, Any]]:
    return [("lr", LogisticRegression(max_iter=1000)), ("nb", GaussianNB()), *trees(3)]


def column_ensemble(count: int) -> BlindVotingClassifier:
    return BlindVotingClassifier([(f"c{m}", ColumnClassifier(m)) for m in range(count)], cv=2)


def simulate_matrix(seed: int, **options: Any) -> tuple[Simulation, Array]:
    simulation = simulate(3000, 9, 3, np.random.default_rng(seed), **options)
    return simulation, np.array(simulation.responses.matrix())


@cache
def fit_on_pixel_groups(
    seed: int,
) -> tuple[BlindVotingClassifier, VotingClassifier, tuple[Array, ...]]:
    """Fit twelve classifiers of digits; each sees pixels that no other one sees."""
    pixels, digits = load_digits(return_X_y=True)
    split = train_test_split(pixels, digits, train_size=300, stratify=digits, random_state=seed)
    pixel_groups = np.array_split(np.random.default_rng(seed).permutation(64), 12)
    models = [
        GaussianNB(var_smoothing=0.01),
        KNeighborsClassifier(),
        *(each for _, each in trees(6)),
    ]
    estimators = [
        (
            f"view{i}",
            make_pipeline(ColumnTransformer([("seen", "passthrough", group)]), models[i % 3]),
        )
        for i, group in enumerate(pixel_groups)
    ]
    blind = BlindVotingClassifier(estimators).fit(split[0], split[2])
    return blind, VotingClassifier(estimators).fit(split[0], split[2]), tuple(split)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")  # scikit-learn's own
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        BlindVotingClassifier([("nb", GaussianNB()), *trees(1, 3)], cv=3),
        BlindVotingClassifier([*classifiers()[:2], *trees(1)], voting="soft", cv=3),
        BlindVotingClassifier([("ridge", RidgeClassifier())], voting="soft", cv=2),
        BlindClusterEnsemble(3, n_estimators=5, random_state=0),
        BlindClusterEnsemble(2, estimator=AgglomerativeClustering(), n_estimators=4),
        BlindVotingRegressor([("linear", LinearRegression()), ("ridge", Ridge()), TREE], cv=3),
    ]
)
def test_scikit_learn_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("module", ["classifier", "clusterer", "regressor"])
def test_docstring_examples(module: str) -> None:
    loaded = import_module(f"blindfuse.sklearn.{module}")
    assert doctest.testmod(loaded, raise_on_error=True).attempted > 0


@pytest.mark.parametrize("seed", range(2))
def test_new_items_are_labelled_like_the_fused_items(seed: int) -> None:
    simulation, matrix = simulate_matrix(seed, skill=0.1)
    classifier = column_ensemble(9).fit(matrix[:1000], simulation.truth[:1000]).adapt(matrix)
    expected = fuse(matrix)
    assert classifier.method_ == classifier.fusion_.method == expected.method
    np.testing.assert_array_equal(classifier.fusion_.labels, expected.labels)
    np.testing.assert_array_equal(classifier.predict(matrix), expected.labels)
    np.testing.assert_allclose(classifier.predict_proba(matrix), expected.posteriors, atol=1e-9)


def test_the_model_only_breaks_ties_of_the_majority_vote() -> None:
    X, y = make_classification(1500, n_classes=3, n_informative=6, random_state=0)
    names = classifiers()
    classifier = BlindVotingClassifier(names).fit(X[:300], y[:300])
    voting = VotingClassifier(names).fit(X[:300], y[:300])
    assert classifier.method_ == "MajorityVote"
    predictions = voting.transform(X)
    votes = np.stack([(predictions == k).sum(axis=1) for k in range(3)], axis=1)
    tied = np.count_nonzero(votes == votes.max(axis=1, keepdims=True), axis=1) > 1
    assert 0 < tied.sum() < len(X) / 2
    np.testing.assert_array_equal(classifier.predict(X)[~tied], voting.predict(X)[~tied])
    if classifier.fusion_.method == "MajorityVote":
        np.testing.assert_array_equal(
            classifier.predict_proba(X), classifier.fusion_.predict_proba(predictions)
        )
    else:
        shares = classifier.predict_proba(X) * 4
        assert np.all((shares >= votes - 1e-9) & (shares <= votes + 1 + 1e-9))


@pytest.mark.parametrize("seed", range(3))
def test_training_labels_choose_the_method_but_do_not_enter_the_fusion(seed: int) -> None:
    X, y = make_classification(
        400, 12, n_informative=6, n_classes=3, class_sep=1.5, random_state=seed
    )
    estimators = [("lr", LogisticRegression(max_iter=1000)), *trees(1, 2, 6)]
    classifier = BlindVotingClassifier(estimators, cv=4).fit(X, y)
    table = np.column_stack([cross_val_predict(each, X, y, cv=4) for _, each in estimators])
    expected = fuse(table)
    np.testing.assert_array_equal(classifier.fusion_.responses.matrix(), table)
    np.testing.assert_allclose(classifier.fusion_.posteriors, expected.posteriors, atol=1e-12)
    if expected.method == "MajorityVote":
        assert (classifier.method_, classifier.why_) == (expected.method, expected.why)
        return
    fused = classifier._predicted(classifier._held_out, expected.method).argmax(axis=1) == y
    voted = classifier._predicted(classifier._held_out, "MajorityVote").argmax(axis=1) == y
    gained, lost = np.sum(fused & ~voted), np.sum(voted & ~fused)
    better = gained - lost > 2 * np.sqrt(gained + lost)  # McNemar's test
    assert (classifier.method_ == expected.method) == better
    assert f"{np.mean(~fused):.1%} with {expected.method}" in classifier.why_
    assert f"{np.mean(~voted):.1%} with MajorityVote" in classifier.why_


@pytest.mark.parametrize("seed", range(3))
def test_fusion_beats_the_vote_if_classifiers_see_different_features(seed: int) -> None:
    blind, vote, (_, unlabelled, _, truth) = fit_on_pixel_groups(seed)
    half = len(truth) // 2
    adapted = pickle.loads(pickle.dumps(blind)).adapt(unlabelled[:half])
    errors = [1 - each.score(unlabelled[half:], truth[half:]) for each in (vote, blind, adapted)]
    assert errors[1] < 0.9 * errors[0]
    assert errors[2] < 0.75 * errors[0]


@pytest.mark.parametrize("seed", range(3))
def test_fusion_loses_nothing_if_classifiers_see_the_same_features(seed: int) -> None:
    X, y = make_classification(3000, n_informative=8, n_classes=2, random_state=seed)
    vote = VotingClassifier(classifiers()).fit(X[:200], y[:200])
    blind = BlindVotingClassifier(classifiers()).fit(X[:200], y[:200])
    assert blind.score(X[200:], y[200:]) >= vote.score(X[200:], y[200:]) - 0.005
    blind.adapt(X[200:1500])
    assert blind.score(X[1500:], y[1500:]) >= vote.score(X[1500:], y[1500:]) - 0.005


def test_labels_do_not_depend_on_the_batch() -> None:
    blind, _, (_, items, *_) = fit_on_pixel_groups(0)
    one_by_one = np.concatenate([blind.predict_proba(items[[i]]) for i in range(30)])
    np.testing.assert_allclose(one_by_one, blind.predict_proba(items)[:30], atol=1e-12)


def test_adapt_does_not_change_the_classifiers_or_the_held_out_predictions() -> None:
    simulation, matrix = simulate_matrix(0)
    classifier = column_ensemble(9).fit(matrix[:500], simulation.truth[:500])
    before = classifier.fusion_
    members = [id(each) for each in classifier.estimators_]
    classifier.adapt(matrix[500:])
    assert classifier.fusion_.responses.n_items == 2500
    assert [id(each) for each in classifier.estimators_] == members
    again = classifier.adapt(matrix[:500]).fusion_
    np.testing.assert_array_equal(again.posteriors, before.posteriors)


def test_names_of_classes_and_columns_are_kept() -> None:
    flowers = load_iris(as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)[flowers.target]
    classifier = BlindVotingClassifier(classifiers()).fit(flowers.data, names)
    assert classifier.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert classifier.fusion_.responses.classes.tolist() == classifier.classes_.tolist()
    assert classifier.fusion_.responses.annotators.tolist() == ["lr", "nb", "tree3"]
    assert classifier.feature_names_in_.tolist() == flowers.data.columns.tolist()
    assert classifier.score(flowers.data, names) > 0.9
    assert set(classifier.fusion_.labels) <= set(names)
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(flowers.data[flowers.data.columns[::-1]])


@pytest.mark.parametrize(
    "classes", [[1.0, 2.0, 3.0], [-1, 0, 7], ["b", "a", "é"], [False, True, True]]
)
def test_all_class_types_of_scikit_learn_are_accepted(classes: list[Any]) -> None:
    X, y = load_iris(return_X_y=True)
    named = np.array(classes)[y]
    classifier = BlindVotingClassifier(trees(1, 2, 3)).fit(X, named)
    assert classifier.predict(X).dtype == named.dtype
    assert classifier.score(X, named) > 0.9


@pytest.mark.parametrize("n_items", [4, 6, 10, 40])
def test_few_training_items_have_as_many_folds_as_every_class_has_items(n_items: int) -> None:
    rng, y = np.random.default_rng(0), np.arange(n_items) % 2
    X = rng.normal(size=(n_items, 4)) + y[:, None]
    voting = BlindVotingClassifier(classifiers()).fit(X, y)
    split = StratifiedKFold(min(5, n_items // 2))
    for name, member in classifiers():
        alone = cross_val_predict(clone(member), X, y, cv=split)
        at = voting.fusion_.responses.annotators.tolist().index(name)
        np.testing.assert_array_equal(voting.fusion_.responses.matrix()[:, at], alone)
    with pytest.raises(BadLabels, match="at least two training items per class"):
        BlindVotingClassifier(classifiers()).fit(X[:3], [0, 0, 1])


def test_parameters_are_set_by_name() -> None:
    classifier = BlindVotingClassifier(classifiers(), cv=3)
    parameters = classifier.get_params()
    assert parameters["lr__max_iter"] == 1000
    assert parameters["cv"] == 3
    assert parameters["voting"] == "hard"
    assert "flatten_transform" not in parameters
    with pytest.raises(BadParameter, match="weights= must be None: the fusion learns"):
        clone(classifier).set_params(weights=[1, 2, 3]).fit(*load_iris(return_X_y=True))
    copy = clone(classifier.set_params(tree3__max_depth=5, lr="drop"))
    X, y = load_iris(return_X_y=True)
    copy.fit(X, y)
    assert copy.named_estimators_["lr"] == "drop"
    assert copy.named_estimators_["tree3"].max_depth == 5
    assert copy.fusion_.responses.annotators.tolist() == ["nb", "tree3"]
    assert copy.predict(X).shape == y.shape


def test_fewer_than_three_classifiers_vote() -> None:
    X, y = load_iris(return_X_y=True)
    classifier = BlindVotingClassifier(trees(1, 3)).fit(X, y)
    assert classifier.method_ == "MajorityVote"
    assert classifier.why_ == classifier.fusion_.why
    assert classifier.why_.startswith("Two annotators")


def test_sample_weights_are_passed_to_every_fit() -> None:
    X, y = load_iris(return_X_y=True)
    doubled = np.where(y == 1, 2.0, 1.0)
    estimators = classifiers()
    weighted = BlindVotingClassifier(estimators).fit(X, y, sample_weight=doubled)
    table = np.column_stack(
        [
            cross_val_predict(each, X, y, cv=5, params={"sample_weight": doubled})
            for _, each in estimators
        ]
    )
    np.testing.assert_array_equal(weighted.fusion_.responses.matrix(), table)
    voting = VotingClassifier(estimators).fit(X, y, sample_weight=doubled)
    np.testing.assert_array_equal(weighted.transform(X), voting.transform(X))
    with pytest.raises(ValueError, match="sample_weights"):
        weighted.fit(X, y, sample_weights=doubled)


def test_metadata_are_routed_to_classifiers_that_request_them() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.where(y == 1, 50.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        estimators = [
            ("asks", GaussianNB().set_fit_request(sample_weight=True)),
            ("refuses", GaussianNB().set_fit_request(sample_weight=False)),
            ("cannot", KNeighborsClassifier()),
        ]
        fusion = BlindVotingClassifier(estimators).fit(X, y, sample_weight=weight).fusion_
    plain = cross_val_predict(GaussianNB(), X, y, cv=5)
    heavy = cross_val_predict(GaussianNB(), X, y, cv=5, params={"sample_weight": weight})
    assert np.any(plain != heavy)
    np.testing.assert_array_equal(
        fusion.responses.matrix()[:, :2], np.stack([heavy, plain], axis=1)
    )


def test_parallel_jobs_and_copies_give_the_same_result() -> None:
    blind, _, (_, items, *_) = fit_on_pixel_groups(1)
    split = fit_on_pixel_groups(1)[2]
    two = clone(blind).set_params(n_jobs=2).fit(split[0], split[2])
    np.testing.assert_allclose(two.predict_proba(items), blind.predict_proba(items), atol=1e-9)
    stored = pickle.loads(pickle.dumps(blind))
    np.testing.assert_array_equal(stored.predict_proba(items), blind.predict_proba(items))
    assert stored.fusion_.summary() == blind.fusion_.summary()
