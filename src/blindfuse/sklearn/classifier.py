"""``BlindVotingClassifier``: classifiers whose predictions are fused without labels."""

from typing import Any, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.ensemble import VotingClassifier
from sklearn.utils.validation import check_is_fitted

from blindfuse.fusion.fuse import Fusion, fuse
from blindfuse.model.posteriors import most_likely, weighted_votes
from blindfuse.responses.responses import Responses
from blindfuse.sklearn.opinion_pool import fit_opinion_pool
from blindfuse.sklearn.voting import BlindVoting, Predictions
from blindfuse.typing import Array, Floats


class BlindVotingClassifier(BlindVoting, VotingClassifier):  # type: ignore[misc]
    """A voting classifier that fuses predictions with :func:`blindfuse.fuse`.

    ``y`` trains the classifiers and evaluates the fusion, but the fusion itself does not use it:

    1. ``fit`` trains the classifiers on all of ``X``, like
       :class:`sklearn.ensemble.VotingClassifier`.
    2. It fuses their out-of-fold predictions for ``X``, without ``y``. Predictions for items that a
       classifier was trained on would overestimate its accuracy.
    3. New items are labelled by the fused model if it has fewer errors on the out-of-fold
       predictions than the majority vote, by more than two standard errors (McNemar's test).
       Otherwise they are labelled by the majority vote, and the fused model only breaks ties.

    With ``voting="soft"``, the probabilities of the classifiers take the place of the majority
    vote in step 3: out of fold, the better of the majority vote and the mean probability is chosen,
    and a log-opinion pool of all probabilities, with weights learned from ``y``, replaces it where
    its cross-validated log-loss is smaller by more than two standard errors.

    ``adapt`` repeats steps 2 and 3 with unlabelled items, of which there are often many when
    labelled items are few. ``predict`` labels each item on its own, so the result does not depend
    on the batch.

    The fusion improves most on the majority vote if the classifiers differ in accuracy and see
    different features or training items. Classifiers that share all features have correlated
    errors; the majority vote is then hard to beat without probabilities, and step 3 detects this.

    Parameters
    ----------
    estimators
        ``(name, classifier)`` pairs; ``"drop"`` in place of a classifier leaves it out. With fewer
        than three classifiers, the majority vote is used.
    voting
        ``"hard"`` uses predicted classes, ``"soft"`` also the probabilities of classifiers that
        have ``predict_proba``; the class of any other counts with probability one.
    weights
        must be None, because the fusion learns how much each classifier counts.
    cv
        folds of step 2, as in :func:`sklearn.model_selection.cross_val_predict`, but at most as
        many as each class has training items. Each fold costs one more fit of every classifier.
    n_jobs
        number of parallel jobs for classifiers and folds, and of threads for the fusion.
    verbose
        whether to print the time of each fit.

    Attributes
    ----------
    fusion_
        the :class:`blindfuse.Fusion` of the training items, or of those passed to ``adapt``.
    method_, why_
        the method that labels new items, and the reason for it: the fused model,
        ``"MajorityVote"``, ``"SoftVote"`` or ``"OpinionPool"``.
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

    flatten_transform = True  # a parameter of VotingClassifier that is fixed here
    _vote, _loss_name, _loss_format = "MajorityVote", "error", ".1%"

    def __init__(
        self,
        estimators: list[tuple[str, Any]],
        *,
        voting: Literal["hard", "soft"] = "hard",
        weights: None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(estimators, weights=weights, cv=cv, n_jobs=n_jobs, verbose=verbose)
        self.voting = voting

    def predict(self, X: ArrayLike) -> Array:
        """Return labels ``[item]``."""
        codes = most_likely(self.predict_proba(X))
        return np.asarray(self.le_.inverse_transform(codes))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return posteriors ``[item, class]``; shares of the vote if ``method_`` is a vote."""
        return self._predicted(self._member_predictions(X), self.method_)

    def _member_predictions(self, X: ArrayLike) -> Predictions:
        """Return class codes ``[item, classifier]``, or probabilities if ``voting="soft"``."""
        if self.voting == "hard":
            return super()._member_predictions(X)
        check_is_fitted(self)
        return np.asarray(self._collect_probas(X).transpose(1, 0, 2))

    def _collect_probas(self, X: ArrayLike) -> Floats:
        """Return probabilities ``[classifier, item, class]``, as VotingClassifier uses them."""
        values = (getattr(each, self._prediction_method(each))(X) for each in self.estimators_)
        return np.stack([self._as_prediction(each) for each in values])

    def _prediction_method(self, member: Any) -> str:
        has_probabilities = self.voting == "soft" and hasattr(member, "predict_proba")
        return "predict_proba" if has_probabilities else "predict"

    def _as_prediction(self, values: Array) -> Array:
        """Return codes as they are or, if ``voting="soft"``, probabilities that sum to one.

        A class that was predicted without probabilities has probability one. Where probabilities
        sum to zero or are no numbers, as of one-against-rest classifiers that all say no, every
        class has the same.
        """
        if self.voting == "hard":
            return values
        K = len(self.classes_)
        if values.ndim == 1:
            return np.eye(K)[values.astype(np.intp)]
        shares = np.nan_to_num(values.astype(np.float64), posinf=0.0).clip(0)
        sums = shares.sum(axis=1, keepdims=True)
        return np.where(sums > 0, shares / np.where(sums > 0, sums, 1), 1 / K)

    def _as_responses(self, predictions: Predictions) -> Responses:
        """Return the predicted classes as responses; of probabilities, the most probable ones."""
        codes = predictions if predictions.ndim == 2 else predictions.argmax(axis=2)
        rows, annotators = np.indices(codes.shape).reshape(2, -1)
        return Responses.from_codes(
            rows,
            annotators,
            codes.ravel().astype(np.intp),
            items=np.arange(len(codes)),
            annotators=self._member_names,
            classes=self.classes_,
        )

    def _fused(self, predictions: Predictions) -> Fusion:
        return fuse(self._as_responses(predictions), threads=effective_n_jobs(self.n_jobs))

    def _choose_baseline(self) -> tuple[str, str]:
        if self.voting == "hard":
            return super()._choose_baseline()
        self._pool = fit_opinion_pool(self._held_out, self._truth)
        return self._pool.name, self._pool.why

    def _losses(self, predicted: Floats) -> Floats:
        return np.asarray(most_likely(predicted) != self._truth, dtype=np.float64)

    def _predicted(self, predictions: Predictions, method: str) -> Floats:
        """Return posteriors ``[item, class]`` by the fused model or by a vote.

        Each item is labelled on its own. The posteriors of the fused model are worth one vote
        that is divided among the classes, so that they only break ties of the majority vote.
        """
        if self.voting == "soft" and method == self._pool.name:
            return self._pool.posteriors(predictions)
        responses = self._as_responses(predictions)
        posteriors = self.fusion_.predict_proba(responses)
        if method == self.fusion_.method:
            return posteriors
        return np.asarray((weighted_votes(responses) + posteriors) / (responses.n_annotators + 1))
