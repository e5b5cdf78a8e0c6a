"""``BlindVotingRegressor``: regressors whose predictions are fused without targets."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.ensemble import VotingRegressor

from blindfuse.numbers.fuse_numbers import fuse_numbers
from blindfuse.numbers.number_fusion import NumberFusion
from blindfuse.numbers.table import Numbers
from blindfuse.sklearn.voting import BlindVoting, Predictions
from blindfuse.typing import Floats


class BlindVotingRegressor(BlindVoting, VotingRegressor):  # type: ignore[misc]
    """A voting regressor that fuses predictions with :func:`blindfuse.fuse_numbers`.

    As in :class:`BlindVotingClassifier`, the fusion uses out-of-fold predictions, and does not use
    ``y``. New items are predicted by the fused model if its squared error on the out-of-fold
    predictions is smaller than that of the mean, by more than two standard errors, and by the mean
    otherwise. ``adapt`` fuses the predictions for unlabelled items.

    Parameters
    ----------
    estimators
        ``(name, regressor)`` pairs; ``"drop"`` in place of a regressor leaves it out. With fewer
        than four regressors, no model of regressors is used.
    weights, cv, n_jobs, verbose
        as in :class:`BlindVotingClassifier`.

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

    _vote, _loss_name, _loss_format = "mean", "mean squared error", ".4g"

    def predict(self, X: ArrayLike) -> Floats:
        """Return predictions ``[item]``."""
        return self._predicted(self._member_predictions(X), self.method_)

    def _as_numbers(self, predictions: Predictions) -> Numbers:
        values = np.asarray(predictions, dtype=np.float64)
        return Numbers.from_matrix(values, annotators=self._member_names)

    def _fused(self, predictions: Predictions) -> NumberFusion:
        return fuse_numbers(self._as_numbers(predictions))

    def _losses(self, predicted: Floats) -> Floats:
        return np.asarray(np.square(predicted - self._truth))

    def _predicted(self, predictions: Predictions, method: str) -> Floats:
        """Return estimates ``[item]`` by the fused model or by the mean."""
        if method == self._vote:
            return np.asarray(predictions.mean(axis=1))
        return self.fusion_.predict(self._as_numbers(predictions))
