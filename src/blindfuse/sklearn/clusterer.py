"""``BlindClusterEnsemble``: clusterings of random halves of the features, fused into one."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from blindfuse.fusion.fuse_clusters import ClusterFusion, fuse_clusters
from blindfuse.responses.responses import Responses
from blindfuse.typing import Array, Codes, Floats

Labels = NDArray[np.int64]


def _members_predict(self: "BlindClusterEnsemble") -> bool:
    """Whether runs can assign new items to their clusters."""
    return hasattr(KMeans if self.estimator is None else self.estimator, "predict")


class BlindClusterEnsemble(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Cluster items many times on random features, and fuse the runs.

    Each run clusters the items by a random half of the features, with its own number of clusters.
    :func:`blindfuse.fuse_clusters` then finds the classes that the runs have in common. Fuse
    clusterings that you already have with that function.

    Parameters
    ----------
    n_clusters
        number of classes to find, by default that of scikit-learn's clusterers; None to choose it
        by how well the clusters of one run are predicted from those of the others.
    estimator
        the clusterer of a run, with a parameter ``n_clusters``; None for
        ``KMeans(n_init=1)``. With a clusterer that has ``predict``, new items can be labelled.
    n_estimators
        number of runs, at least two.
    max_features
        share of the features that a run sees.
    random_state
        seed of features, numbers of clusters and runs.
    n_jobs
        number of parallel jobs for the runs, and of threads for the fusion.

    Attributes
    ----------
    labels_ ``[item]``
        class of each item, from 0.
    n_clusters_
        number of classes that have items.
    fusion_
        the :class:`blindfuse.ClusterFusion`, with posteriors and the agreement of every run; None
        if ``n_clusters`` is 1.
    estimators_, estimators_features_
        the runs, and the features that each of them saw.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from blindfuse.sklearn import BlindClusterEnsemble
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> ensemble = BlindClusterEnsemble(None, random_state=0).fit(X)
    >>> ensemble.n_clusters_
    3
    """

    labels_: Labels
    n_clusters_: int
    fusion_: ClusterFusion | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "estimator": [HasMethods(["fit_predict", "set_params"]), None],
        "n_estimators": [Interval(Integral, 2, None, closed="left")],
        "max_features": [Interval(Real, 0, 1, closed="right")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        estimator: Any = None,
        n_estimators: int = 15,
        max_features: float = 0.5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Cluster the items in every run, and fuse the runs; ``y`` is ignored."""
        items = validate_data(self, X, ensure_min_samples=2)
        self._validate_params()
        rng = check_random_state(self.random_state)
        runs = [self._draw_run(items, rng) for _ in range(self.n_estimators)]
        self.estimators_features_ = [features for _, features in runs]
        columns = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_run)(member, items[:, features]) for member, features in runs
        )
        self.estimators_ = [member for member, _ in columns]
        table = np.stack([labels for _, labels in columns], axis=1)
        codes = np.zeros(len(items), dtype=np.int64)
        self.fusion_ = None
        if self.n_clusters != 1:  # one class needs no fusion
            threads = effective_n_jobs(self.n_jobs)
            self.fusion_ = fuse_clusters(table, self.n_clusters, threads=threads)
            codes = self.fusion_.posteriors.argmax(axis=1)
        self._classes, labels = np.unique(codes, return_inverse=True)
        self.labels_, self.n_clusters_ = labels.astype(np.int64), len(self._classes)
        return self

    @available_if(_members_predict)  # type: ignore[untyped-decorator]
    def predict(self, X: ArrayLike) -> Labels:
        """Return the class of each new item ``[item]``, from its clusters in every run."""
        return np.asarray(self.predict_proba(X).argmax(axis=1), dtype=np.int64)

    @available_if(_members_predict)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return posteriors ``[item, class]`` of new items."""
        check_is_fitted(self)
        items = validate_data(self, X, reset=False)
        if self.fusion_ is None:
            return np.ones((len(items), 1))
        members = zip(self.estimators_, self.estimators_features_, strict=True)
        columns = [member.predict(items[:, features]) for member, features in members]
        table = np.stack(columns, axis=1)
        fused = self.fusion_.responses
        rows = Responses.from_matrix(table, classes=fused.symbols, annotators=fused.annotators)
        responses = Responses.from_clusters(rows, classes=fused.classes)
        posteriors = self.fusion_.predict_proba(responses)[:, self._classes]
        return np.asarray(posteriors / posteriors.sum(axis=1, keepdims=True))

    def _draw_run(self, X: Floats, rng: np.random.RandomState) -> tuple[Any, Codes]:
        """Return an unfitted clusterer and its features, both drawn at random."""
        n_features = X.shape[1]
        count = max(1, round(self.max_features * n_features))
        features = np.sort(rng.permutation(n_features)[:count])
        low, high = 2, 20
        if self.n_clusters is not None:
            low, high = self.n_clusters, 2 * self.n_clusters
        high = min(high, len(np.unique(X[:, features], axis=0)))
        number = int(rng.randint(min(low, high), high + 1))
        member = KMeans(n_init=1) if self.estimator is None else clone(self.estimator)
        member.set_params(n_clusters=number)
        if "random_state" in member.get_params():
            member.set_params(random_state=rng.randint(np.iinfo(np.int32).max))
        return member, features


def _fit_run(member: Any, X: Floats) -> tuple[Any, Array]:
    """Return the fitted clusterer and the cluster of each item."""
    labels = member.fit_predict(X)
    return member, labels
