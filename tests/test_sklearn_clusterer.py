"""``BlindClusterEnsemble`` finds the classes of known data."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from blindfuse import BlindfuseError
from blindfuse.sklearn import BlindClusterEnsemble


@pytest.mark.parametrize("seed", range(2))
def test_classes_that_single_runs_miss_are_found(seed: int) -> None:
    X, truth = make_blobs(
        600, 10, centers=4, cluster_std=1.0, center_box=(-2, 2), random_state=seed
    )
    ensemble = BlindClusterEnsemble(4, random_state=seed).fit(X[:400])
    assert ensemble.fusion_ is not None
    runs = ensemble.fusion_.responses.matrix().T
    single = np.mean([adjusted_rand_score(truth[:400], run) for run in runs])
    assert adjusted_rand_score(truth[:400], ensemble.labels_) > single + 0.1
    assert adjusted_rand_score(truth[400:], ensemble.predict(X[400:])) > single
    np.testing.assert_array_equal(ensemble.predict(X[:400]), ensemble.labels_)
    np.testing.assert_allclose(ensemble.predict_proba(X).sum(axis=1), 1)


def test_new_items_are_labelled_one_by_one() -> None:
    X, _ = load_iris(return_X_y=True)
    ensemble = BlindClusterEnsemble(3, random_state=1).fit(X[::2])
    alone = np.concatenate([ensemble.predict_proba(X[[i]]) for i in range(20)])
    np.testing.assert_allclose(alone, ensemble.predict_proba(X)[:20], atol=1e-12)


def test_the_same_seed_gives_the_same_classes_with_any_number_of_jobs() -> None:
    X, _ = load_iris(return_X_y=True)
    one = BlindClusterEnsemble(3, random_state=5).fit(X)
    two = clone(one).set_params(n_jobs=2).fit(X)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    stored = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(stored.predict(X), one.labels_)


def test_clusterers_without_predict_cannot_label_new_items() -> None:
    X, truth = load_iris(return_X_y=True)
    ensemble = BlindClusterEnsemble(3, estimator=AgglomerativeClustering(), random_state=0)
    assert not hasattr(ensemble, "predict")
    assert adjusted_rand_score(truth, ensemble.fit_predict(X)) > 0.6
    assert hasattr(BlindClusterEnsemble(estimator=KMeans()), "predict")


def test_it_works_in_a_pipeline_without_a_number_of_classes() -> None:
    X, truth = make_blobs(500, 8, centers=3, center_box=(-5, 5), random_state=3)
    pipeline = make_pipeline(StandardScaler(), BlindClusterEnsemble(None, random_state=0))
    assert adjusted_rand_score(truth, pipeline.fit_predict(X)) > 0.95
    assert pipeline[-1].n_clusters_ == 3


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"n_clusters": 0}, np.eye(5), "The 'n_clusters' parameter"),
        ({"n_estimators": 1}, np.eye(5), "The 'n_estimators' parameter"),
        ({"max_features": 0.0}, np.eye(5), "The 'max_features' parameter"),
        ({"estimator": 3}, np.eye(5), "The 'estimator' parameter"),
        ({"n_clusters": 5}, np.repeat(np.eye(3), 10, axis=0), "classes=5 is more than the 3"),
        ({"n_clusters": None}, np.arange(10.0)[:, None], "Pass the number of classes"),
    ],
)
def test_bad_parameters_are_refused(options: dict[str, Any], X: Any, message: str) -> None:
    with pytest.raises((ValueError, BlindfuseError), match=message):
        BlindClusterEnsemble(**options, random_state=0).fit(X)


def test_one_class_needs_no_fusion() -> None:
    X, _ = load_iris(return_X_y=True)
    ensemble = BlindClusterEnsemble(1, random_state=0).fit(X)
    assert ensemble.fusion_ is None
    assert not ensemble.labels_.any()
    assert ensemble.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
