"""``BlindVotingClassifier``: classifiers whose predictions are fused without labels."""

from typing import Any, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.ensemble import VotingClassifier
from sklearn.utils.validation import check_is_fitted

from blindfuse.fusion.evidence import SIGNIFICANT_Z
from blindfuse.fusion.fuse import Fusion, fuse
from blindfuse.model.posteriors import most_likely, weighted_votes
from blindfuse.responses.responses import Responses
from blindfuse.sklearn.opinion_pool import OpinionPool, fit_opinion_pool
from blindfuse.sklearn.voting import BlindVoting, Predictions
from blindfuse.typing import Array, Flags, Floats


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
    vote in step 3, and there ``y`` does decide how much each classifier counts: out of fold, the
    better of the majority vote and the mean probability is chosen, and a weighted log-opinion pool
    of all probabilities replaces it where its cross-validated log-loss is smaller by more than two
    standard errors (``method_`` is ``"OpinionPool"``). Otherwise ``method_`` is ``"SoftVote"`` or
    ``"MajorityVote"``.

    ``adapt`` repeats steps 2 and 3 with unlabelled items, of which there are often many when
    labelled items are few; weights of the classifiers stay those of ``fit``. ``predict`` labels
    each item on its own, so the result does not depend on the batch; the labels of the items passed
    to ``adapt``, fused together, are in ``fusion_``.

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

    # Parameters of VotingClassifier that are fixed here.
    weights = None
    flatten_transform = True

    def __init__(
        self,
        estimators: list[tuple[str, Any]],
        *,
        voting: Literal["hard", "soft"] = "hard",
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict(self, X: ArrayLike) -> Array:
        """Return labels ``[item]``."""
        codes = most_likely(self.predict_proba(X))
        return np.asarray(self.le_.inverse_transform(codes))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return posteriors ``[item, class]``; shares of the vote if ``method_`` is a vote."""
        return self._posteriors(self._member_predictions(X), self.method_)

    def _encode_targets(self, y: ArrayLike) -> Array:
        return np.asarray(self.le_.transform(y))

    def _member_predictions(self, X: ArrayLike) -> Predictions:
        """Return class codes ``[item, classifier]``, or probabilities if ``voting="soft"``."""
        check_is_fitted(self)
        if self.voting == "hard":
            return np.asarray(self._predict(X))
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
        shares = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0, posinf=0.0)
        sums = np.maximum(shares, 0).sum(axis=1, keepdims=True)
        return np.where(sums > 0, np.maximum(shares, 0) / np.where(sums > 0, sums, 1), 1 / K)

    def _weigh_members(self) -> None:
        if self.voting == "soft":
            self._pool: OpinionPool = fit_opinion_pool(self._held_out, self._truth)

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

    def _choose_method(self) -> tuple[str, str]:
        """Return the method that labels new items, and the reason."""
        if self.voting == "soft":
            vote, why_vote, described = self._pool.name, self._pool.why, self._pool.name
        else:
            vote, why_vote, described = "MajorityVote", self.fusion_.why, "the majority vote"
        method, why = self.fusion_.method, self.fusion_.why
        if method == "MajorityVote":
            return vote, why_vote
        vote_errors, fusion_errors = (self._errors(name) for name in (vote, method))
        gain = vote_errors.astype(float) - fusion_errors
        significant = gain.sum() > SIGNIFICANT_Z * np.sqrt(np.square(gain).sum())
        measured = (
            f"Out-of-fold error on {len(gain):,} training items: {fusion_errors.mean():.1%} with "
            f"{method}, {vote_errors.mean():.1%} with {described}"
        )
        if significant:
            return method, f"{why} {measured}."
        below = f"{measured}; the difference is below {SIGNIFICANT_Z:g} standard errors."
        return vote, f"{why_vote} {below}" if self.voting == "soft" else below

    def _errors(self, method: str) -> Flags:
        """Return whether the method mislabels each training item ``[item]``, out of fold."""
        return np.asarray(most_likely(self._posteriors(self._held_out, method)) != self._truth)

    def _posteriors(self, predictions: Predictions, method: str) -> Floats:
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
