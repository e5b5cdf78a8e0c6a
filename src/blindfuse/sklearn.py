"""``BlindVotingClassifier`` and ``BlindVotingRegressor``: ensembles fused without labels."""

from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.model_selection import cross_val_predict
from sklearn.utils.metadata_routing import process_routing

from blindfuse.fusion.fuse import Fusion, fuse
from blindfuse.fusion.selection import SIGNIFICANT_Z
from blindfuse.model.posteriors import most_likely, weighted_votes
from blindfuse.numbers.fuse_numbers import NumberFusion, fuse_numbers
from blindfuse.numbers.table import Numbers
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]


class BlindVotingClassifier(VotingClassifier):  # type: ignore[misc]
    """A voting classifier that fuses predictions with :func:`blindfuse.fuse`.

    ``y`` trains the classifiers and evaluates the fusion, but the fusion itself does not use it:

    1. ``fit`` trains the classifiers on all of ``X``, like
       :class:`sklearn.ensemble.VotingClassifier`.
    2. It fuses their out-of-fold predictions for ``X``, without ``y``. Predictions for items that a
       classifier was trained on would overestimate its accuracy.
    3. New items are labelled by the fused model if it has fewer errors on the out-of-fold
       predictions than the majority vote, by more than two standard errors (McNemar's test).
       Otherwise they are labelled by the majority vote, and the fused model only breaks ties.

    ``adapt`` repeats steps 2 and 3 with unlabelled items, of which there are often many when
    labelled items are few. ``predict`` labels each item on its own, so the result does not depend
    on the batch; the labels of the items passed to ``adapt``, fused together, are in ``fusion_``.

    The fusion improves most on the majority vote if the classifiers differ in accuracy and see
    different features or training items. Classifiers that share all features have correlated
    errors; the majority vote is then hard to beat, and step 3 detects this.

    Parameters
    ----------
    estimators
        ``(name, classifier)`` pairs; ``"drop"`` in place of a classifier leaves it out. With fewer
        than three classifiers, the majority vote is used.
    cv
        folds of step 2, as in :func:`sklearn.model_selection.cross_val_predict`. Each fold costs
        one more fit of every classifier.
    n_jobs
        number of parallel jobs for classifiers and folds, and of threads for the fusion.
    verbose
        whether to print the time of each fit.

    Attributes
    ----------
    fusion_
        the :class:`blindfuse.Fusion`, with diagnostics of accuracy and correlated errors.
    method_, why_
        the method that labels new items, and the reason for it.
    classes_, estimators_, named_estimators_, le_
        as in VotingClassifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from blindfuse.sklearn import BlindVotingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = BlindVotingClassifier(
    ...     [
    ...         ("logistic", LogisticRegression()),
    ...         ("bayes", GaussianNB()),
    ...         ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ...     ]
    ... )
    >>> pipeline = make_pipeline(StandardScaler(), classifier).fit(X[::2], y[::2])
    >>> pipeline.predict(X[1::50])
    array([0, 1, 2])
    >>> pipeline[-1].method_
    'MajorityVote'
    """

    fusion_: Fusion
    method_: str
    why_: str

    # Parameters of VotingClassifier that are fixed here.
    voting = "hard"
    weights = None
    flatten_transform = True

    def __init__(
        self,
        estimators: list[tuple[str, Any]],
        *,
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, **fit_params: Any) -> Self:
        """Train the classifiers and fuse their out-of-fold predictions.

        ``sample_weight`` is passed to the classifiers, and so are others with metadata routing.
        """
        super().fit(X, y, **fit_params)
        self._truth = self.le_.transform(y)
        self._held_out = self._as_responses(self._out_of_fold(X, fit_params))
        return self._fuse(self._held_out)

    def adapt(self, X: ArrayLike) -> Self:
        """Fuse the predictions for unlabelled items; the result labels new items from now on."""
        return self._fuse(self._predictions(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return labels ``[item]``."""
        codes = most_likely(self.predict_proba(X))
        return np.asarray(self.le_.inverse_transform(codes))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return posteriors ``[item, class]``; vote shares if ``method_`` is the majority vote."""
        return self._posteriors(self._predictions(X), self.method_)

    def _out_of_fold(self, X: ArrayLike, fit_params: dict[str, Any]) -> NDArray[Any]:
        """Return predictions ``[item, classifier]`` after training without the item's fold."""
        classifiers = [(name, each) for name, each in self.estimators if each != "drop"]
        params = {name: fit_params for name, _ in classifiers}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **fit_params)
            params = {name: routed[name].fit for name, _ in classifiers}
        columns = [
            cross_val_predict(
                each, X, self._truth, cv=self.cv, n_jobs=self.n_jobs, params=params[name]
            )
            for name, each in classifiers
        ]
        return np.column_stack(columns)

    def _predictions(self, X: ArrayLike) -> Responses:
        """Return the predictions of all classifiers as responses."""
        return self._as_responses(np.asarray(self.transform(X)))

    def _as_responses(self, codes: NDArray[Any]) -> Responses:
        """Return class codes ``[item, classifier]`` as responses."""
        names = [name for name, each in self.named_estimators_.items() if each != "drop"]
        items, annotators = np.indices(codes.shape).reshape(2, -1)
        return Responses.from_codes(
            items,
            annotators,
            codes.ravel().astype(np.intp),
            items=np.arange(len(codes)),
            annotators=names,
            classes=self.classes_,
        )

    def _fuse(self, responses: Responses) -> Self:
        """Fuse the responses, and choose between the fused model and the majority vote."""
        self.fusion_ = fuse(responses, threads=effective_n_jobs(self.n_jobs))
        self.method_, self.why_ = self._choose_method()
        return self

    def _choose_method(self) -> tuple[str, str]:
        """Return the method that labels new items, and the reason."""
        method, why = self.fusion_.method, self.fusion_.why
        if method == "MajorityVote":
            return method, why
        vote_errors, fusion_errors = (self._errors(name) for name in ("MajorityVote", method))
        gain = vote_errors.astype(float) - fusion_errors
        significant = gain.sum() > SIGNIFICANT_Z * np.sqrt(np.square(gain).sum())
        measured = (
            f"Out-of-fold error on {len(gain):,} training items: {fusion_errors.mean():.1%} with "
            f"{method}, {vote_errors.mean():.1%} with the majority vote"
        )
        if significant:
            return method, f"{why} {measured}."
        return (
            "MajorityVote",
            f"{measured}; the difference is below {SIGNIFICANT_Z:g} standard errors.",
        )

    def _errors(self, method: str) -> NDArray[np.bool_]:
        """Return whether the method mislabels each training item ``[item]``, out of fold."""
        return np.asarray(most_likely(self._posteriors(self._held_out, method)) != self._truth)

    def _posteriors(self, responses: Responses, method: str) -> Floats:
        """Return posteriors ``[item, class]`` by the fused model or the majority vote.

        Each item is labelled on its own. The posteriors of the fused model are worth one vote
        that is divided among the classes, so that they only break ties of the majority vote.
        """
        posteriors = self.fusion_.predict_proba(responses)
        if method == self.fusion_.method:
            return posteriors
        return np.asarray((weighted_votes(responses) + posteriors) / (responses.n_annotators + 1))


class BlindVotingRegressor(VotingRegressor):  # type: ignore[misc]
    """A voting regressor that fuses predictions with :func:`blindfuse.fuse_numbers`.

    ``y`` trains the regressors and evaluates the fusion, but the fusion itself does not use it:

    1. ``fit`` trains the regressors on all of ``X``, like
       :class:`sklearn.ensemble.VotingRegressor`.
    2. It fuses their out-of-fold predictions for ``X``, without ``y``.
    3. New items are predicted by the fused model if its squared error on the out-of-fold
       predictions is smaller than that of the mean, by more than two standard errors. Otherwise
       they are predicted by the mean.

    ``adapt`` repeats steps 2 and 3 with unlabelled items. ``predict`` treats each item on its own,
    so the result does not depend on the batch.

    Parameters
    ----------
    estimators
        ``(name, regressor)`` pairs; ``"drop"`` in place of a regressor leaves it out. With fewer
        than three regressors, the mean is used.
    cv
        folds of step 2, as in :func:`sklearn.model_selection.cross_val_predict`.
    n_jobs
        number of parallel jobs for regressors and folds.
    verbose
        whether to print the time of each fit.

    Attributes
    ----------
    fusion_
        the :class:`blindfuse.NumberFusion`, with bias, scale and noise of the regressors.
    method_, why_
        the method that predicts new items, and the reason for it.
    estimators_, named_estimators_
        as in VotingRegressor.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from blindfuse.sklearn import BlindVotingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> regressor = BlindVotingRegressor(
    ...     [
    ...         ("ridge", Ridge()),
    ...         ("neighbours", KNeighborsRegressor()),
    ...         ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
    ...     ]
    ... ).fit(X[::2], y[::2])
    >>> regressor.predict(X[1:4]).shape
    (3,)
    """

    fusion_: NumberFusion
    method_: str
    why_: str

    weights = None  # a parameter of VotingRegressor that is fixed here

    def __init__(
        self,
        estimators: list[tuple[str, Any]],
        *,
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, **fit_params: Any) -> Self:
        """Train the regressors and fuse their out-of-fold predictions."""
        super().fit(X, y, **fit_params)
        self._truth = np.asarray(y, dtype=np.float64).ravel()
        self._held_out = self._as_numbers(self._out_of_fold(X, fit_params))
        return self._fuse(self._held_out)

    def adapt(self, X: ArrayLike) -> Self:
        """Fuse the predictions for unlabelled items; the result predicts new items from now on."""
        return self._fuse(self._as_numbers(self.transform(X)))

    def predict(self, X: ArrayLike) -> Floats:
        """Return predictions ``[item]``."""
        numbers = self._as_numbers(self.transform(X))
        return self._estimates(numbers, self.method_)

    def _out_of_fold(self, X: ArrayLike, fit_params: dict[str, Any]) -> Floats:
        """Return predictions ``[item, regressor]`` after training without the item's fold."""
        regressors = [(name, each) for name, each in self.estimators if each != "drop"]
        params = {name: fit_params for name, _ in regressors}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **fit_params)
            params = {name: routed[name].fit for name, _ in regressors}
        columns = [
            cross_val_predict(
                each, X, self._truth, cv=self.cv, n_jobs=self.n_jobs, params=params[name]
            )
            for name, each in regressors
        ]
        return np.column_stack(columns)

    def _as_numbers(self, predictions: Floats) -> Numbers:
        names = [name for name, each in self.named_estimators_.items() if each != "drop"]
        return Numbers.from_matrix(np.asarray(predictions, dtype=np.float64), annotators=names)

    def _fuse(self, numbers: Numbers) -> Self:
        """Fuse the predictions, and choose between the fused model and the mean."""
        self.fusion_ = fuse_numbers(numbers)
        self.method_, self.why_ = self._choose_method()
        return self

    def _choose_method(self) -> tuple[str, str]:
        """Return the method that predicts new items, and the reason."""
        method, why = self.fusion_.method, self.fusion_.why
        if method == "mean":
            return method, why
        mean_loss, fusion_loss = (
            np.square(self._estimates(self._held_out, name) - self._truth)
            for name in ("mean", method)
        )
        gain = mean_loss - fusion_loss
        measured = (
            f"Out-of-fold RMSE on {len(gain):,} training items: {np.sqrt(fusion_loss.mean()):.4g} "
            f"with the {method}, {np.sqrt(mean_loss.mean()):.4g} with the mean"
        )
        if gain.mean() > SIGNIFICANT_Z * gain.std() / np.sqrt(len(gain)):
            return method, f"{why} {measured}."
        return "mean", f"{measured}; the gain is below {SIGNIFICANT_Z:g} standard errors."

    def _estimates(self, numbers: Numbers, method: str) -> Floats:
        """Return estimates ``[item]`` by the fused model or by the mean."""
        if method == self.fusion_.method and method != "mean":
            return self.fusion_.predict(numbers)
        return np.asarray(numbers.matrix().mean(axis=1))
