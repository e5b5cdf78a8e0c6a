"""Blind fusion for scikit-learn: a VotingClassifier that learns whose votes to trust."""

from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import cross_val_predict
from sklearn.utils.metadata_routing import process_routing

from blindfuse.fusion.fuse import Fusion, fuse
from blindfuse.fusion.selection import SIGNIFICANT_Z
from blindfuse.model.posteriors import most_likely, weighted_votes
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]


class BlindVotingClassifier(VotingClassifier):  # type: ignore[misc]
    """A :class:`sklearn.ensemble.VotingClassifier` whose votes are fused by :func:`blindfuse.fuse`.

    ``y`` trains the classifiers and judges the fusion, and never enters it:

    1. ``fit`` trains the classifiers on all of ``X``, as VotingClassifier does.
    2. It fuses, without ``y``, what they say of ``X`` out of fold. What they say of items that they
       were trained on would tell little about them.
    3. The fusion labels new items if it labels those of step 2 better than the vote does, by two
       standard errors. Else the vote labels them, as with ``voting="hard"``, and the fused model
       only breaks its ties.

    ``adapt`` repeats steps 2 and 3 with unlabelled items, of which there are often many where
    labelled ones are few. ``predict`` labels items one by one, whatever batch they come in; the
    labels of the items of ``adapt``, fused together, are in ``fusion_``.

    Expect much where classifiers differ in skill and see different things: other features, other
    training items. Classifiers that share all their features err together; the vote is then hard to
    beat, and step 3 finds that out.

    Parameters
    ----------
    estimators
        ``(name, classifier)`` pairs; ``"drop"`` in place of a classifier leaves it out. Fewer than
        three can only vote.
    cv
        folds of step 2, as in :func:`sklearn.model_selection.cross_val_predict`. Each costs one
        more fit of every classifier.
    n_jobs
        classifiers, folds and threads at a time.
    verbose
        whether to print the time of each fit.

    Attributes
    ----------
    fusion_
        the :class:`blindfuse.Fusion`, with diagnostics: who is how good, who errs together.
    method_, why_
        what labels new items, and the reason in words.
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

    # What VotingClassifier reads, and fusion leaves no choice about.
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
        """Train the classifiers, and fuse what they say out of fold.

        ``sample_weight``, and with metadata routing other parameters, reach the classifiers.
        """
        super().fit(X, y, **fit_params)
        self._truth = self.le_.transform(y)
        self._held_out = self._as_responses(self._out_of_fold(X, fit_params))
        return self._fuse(self._held_out)

    def adapt(self, X: ArrayLike) -> Self:
        """Fuse what the classifiers say of these unlabelled items, and label new items by that."""
        return self._fuse(self._answers(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels ``[item]``."""
        codes = most_likely(self.predict_proba(X))
        return np.asarray(self.le_.inverse_transform(codes))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Posteriors ``[item, class]``; shares of votes where those do better than the fusion."""
        return self._posteriors(self._answers(X), self.method_)

    def _out_of_fold(self, X: ArrayLike, fit_params: dict[str, Any]) -> NDArray[Any]:
        """What each classifier says of each item after training without its fold."""
        trained = [(name, each) for name, each in self.estimators if each != "drop"]
        params = {name: fit_params for name, _ in trained}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **fit_params)
            params = {name: routed[name].fit for name, _ in trained}
        columns = [
            cross_val_predict(
                each, X, self._truth, cv=self.cv, n_jobs=self.n_jobs, params=params[name]
            )
            for name, each in trained
        ]
        return np.column_stack(columns)

    def _answers(self, X: ArrayLike) -> Responses:
        return self._as_responses(np.asarray(self.transform(X)))

    def _as_responses(self, codes: NDArray[Any]) -> Responses:
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

    def _fuse(self, answers: Responses) -> Self:
        """Fuse these answers, and find out whether that labels better than the vote."""
        self.fusion_ = fuse(answers, threads=effective_n_jobs(self.n_jobs))
        self.method_, self.why_ = self._judged()
        return self

    def _judged(self) -> tuple[str, str]:
        """The fusion's method and reason, or the vote's if the fusion is not surely better."""
        method, why = self.fusion_.method, self.fusion_.why
        if method == "MajorityVote":
            return method, why
        voted, fused = (self._errs(rule) for rule in ("MajorityVote", method))
        gain = voted.astype(float) - fused
        surely = gain.sum() > SIGNIFICANT_Z * np.sqrt(np.square(gain).sum())
        measured = (
            f"Of {len(gain):,} training items, labelled out of fold, {method} mistakes "
            f"{fused.mean():.1%} and the vote {voted.mean():.1%}"
        )
        if surely:
            return method, f"{why} {measured}."
        return "MajorityVote", f"{measured}: not better by {SIGNIFICANT_Z:g} standard errors."

    def _errs(self, method: str) -> NDArray[np.bool_]:
        """Whether this method mislabels each training item, out of fold."""
        return np.asarray(most_likely(self._posteriors(self._held_out, method)) != self._truth)

    def _posteriors(self, answers: Responses, method: str) -> Floats:
        """Beliefs ``[item, class]``, by what the last fusion knows, of one item at a time."""
        posteriors = self.fusion_.predict_proba(answers)
        if method == self.fusion_.method:
            return posteriors
        return np.asarray((weighted_votes(answers) + posteriors) / (answers.n_annotators + 1))
