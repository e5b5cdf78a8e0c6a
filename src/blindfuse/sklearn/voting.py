"""What voting classifiers and regressors share: out-of-fold predictions, and their fusion."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.model_selection import cross_val_predict
from sklearn.utils.metadata_routing import process_routing

from blindfuse.typing import Array

Predictions = Array
"""Predictions ``[item, member]``, or probabilities ``[item, member, class]``."""


class BlindVoting:
    """Trains members like scikit-learn's voting estimator, and fuses their predictions.

    A subclass derives from a voting estimator, too, and says how predictions are collected, fused
    and judged by the training targets.
    """

    fusion_: Any
    method_: str
    why_: str
    estimators: list[tuple[str, Any]]
    named_estimators_: dict[str, Any]
    cv: Any
    n_jobs: int | None

    def fit(self, X: ArrayLike, y: ArrayLike, **fit_params: Any) -> Self:
        """Train the members and fuse their out-of-fold predictions.

        ``sample_weight`` is passed to the members, and so are others with metadata routing.
        """
        super().fit(X, y, **fit_params)  # type: ignore[misc]
        self._truth = self._encode_targets(y)
        self._held_out = self._out_of_fold(X, fit_params)
        self._weigh_members()
        return self._fuse(self._held_out)

    def adapt(self, X: ArrayLike) -> Self:
        """Fuse the predictions for unlabelled items; the result labels new items from now on."""
        return self._fuse(self._member_predictions(X))

    def _fuse(self, predictions: Predictions) -> Self:
        """Fuse the predictions, and choose the method for new items."""
        self.fusion_ = self._fused(predictions)
        self.method_, self.why_ = self._choose_method()
        return self

    def _out_of_fold(self, X: ArrayLike, fit_params: dict[str, Any]) -> Predictions:
        """Return the predictions of members that were trained without the item's fold."""
        members = [(name, each) for name, each in self.estimators if each != "drop"]
        params = {name: fit_params for name, _ in members}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **fit_params)
            params = {name: routed[name].fit for name, _ in members}
        columns = [
            self._as_prediction(
                cross_val_predict(
                    each,
                    X,
                    self._truth,
                    cv=self.cv,
                    n_jobs=self.n_jobs,
                    params=params[name],
                    method=self._prediction_method(each),
                )
            )
            for name, each in members
        ]
        return np.stack(columns, axis=1)

    def _prediction_method(self, member: Any) -> str:
        """Return the name of the method that a member predicts with."""
        return "predict"

    def _as_prediction(self, values: Array) -> Array:
        """Return what one member predicted, in the form that all members share."""
        return values

    def _weigh_members(self) -> None:
        """Learn from the training targets how much the out-of-fold predictions count, if at all."""

    @property
    def _member_names(self) -> list[str]:
        return [name for name, each in self.named_estimators_.items() if each != "drop"]

    def _encode_targets(self, y: ArrayLike) -> Array:
        raise NotImplementedError

    def _member_predictions(self, X: ArrayLike) -> Predictions:
        raise NotImplementedError

    def _fused(self, predictions: Predictions) -> Any:
        raise NotImplementedError

    def _choose_method(self) -> tuple[str, str]:
        raise NotImplementedError
