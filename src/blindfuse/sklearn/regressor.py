"""``BlindVotingRegressor``: regressors whose predictions are fused without targets."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.ensemble import VotingRegressor

from blindfuse.fusion.evidence import SIGNIFICANT_Z
from blindfuse.numbers.fuse_numbers import fuse_numbers
from blindfuse.numbers.number_fusion import NumberFusion
from blindfuse.numbers.table import Numbers
from blindfuse.sklearn.voting import BlindVoting, Predictions
from blindfuse.typing import Floats


class BlindVotingRegressor(BlindVoting, VotingRegressor):  # type: ignore[misc]
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
        than four regressors, no model of regressors is used.
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

    def predict(self, X: ArrayLike) -> Floats:
        """Return predictions ``[item]``."""
        return self._estimates(self._member_predictions(X), self.method_)

    def _encode_targets(self, y: ArrayLike) -> Floats:
        return np.asarray(y, dtype=np.float64).ravel()

    def _member_predictions(self, X: ArrayLike) -> Predictions:
        return np.asarray(self.transform(X))

    def _as_numbers(self, predictions: Predictions) -> Numbers:
        values = np.asarray(predictions, dtype=np.float64)
        return Numbers.from_matrix(values, annotators=self._member_names)

    def _fused(self, predictions: Predictions) -> NumberFusion:
        return fuse_numbers(self._as_numbers(predictions))

    def _choose_method(self) -> tuple[str, str]:
        """Return the method that predicts new items, the mean or the fused model, and why."""
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

    def _estimates(self, predictions: Predictions, method: str) -> Floats:
        """Return estimates ``[item]`` by the fused model or by the mean."""
        if method == self.fusion_.method and method != "mean":
            return self.fusion_.predict(self._as_numbers(predictions))
        return np.asarray(predictions.mean(axis=1))
