"""What voting classifiers and regressors share: out-of-fold predictions, and their fusion."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.model_selection import cross_val_predict
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted

from blindfuse.errors import BadLabels, BadParameter
from blindfuse.fusion.evidence import SIGNIFICANT_Z
from blindfuse.typing import Array, Floats

Predictions = Array
"""Predictions ``[item, member]``, or probabilities ``[item, member, class]``."""


class BlindVoting:
    """Trains members like scikit-learn's voting estimator, and fuses their predictions.

    A subclass derives from a voting estimator, too, and says how predictions are fused and judged
    by the training targets.
    """

    le_: Any
    _predict: Any
    fusion_: Any
    method_: str
    why_: str
    named_estimators_: dict[str, Any]

    _vote: str
    _loss_name: str
    _loss_format: str

    def __init__(
        self,
        estimators: list[tuple[str, Any]],
        *,
        weights: None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, **fit_params: Any) -> Self:
        """Train the members and fuse their out-of-fold predictions.

        ``sample_weight`` is passed to the members, and so are others with metadata routing.
        """
        if self.weights is not None:
            raise BadParameter(
                "weights= must be None: the fusion learns how much each member counts. Leave it "
                f"out, or use scikit-learn's {type(self).__name__.removeprefix('Blind')}."
            )
        super().fit(X, y, **fit_params)  # type: ignore[misc]
        if is_classifier(self):
            self._truth = np.asarray(self.le_.transform(y))
        else:
            self._truth = np.asarray(y, dtype=np.float64).ravel()
        self._held_out = self._out_of_fold(X, fit_params)
        self._baseline, self._why_baseline = self._choose_baseline()
        return self._fuse(self._held_out)

    def adapt(self, X: ArrayLike) -> Self:
        """Fuse the predictions for unlabelled items; the result labels new items from now on."""
        return self._fuse(self._member_predictions(X))

    def _fuse(self, predictions: Predictions) -> Self:
        """Fuse the predictions, and choose the method for new items."""
        self.fusion_ = self._fused(predictions)
        self.method_, self.why_ = self._choose_method()
        return self

    def _choose_method(self) -> tuple[str, str]:
        """Return the fused model if it has significantly smaller losses than the baseline, and why.

        The test is McNemar's where losses are errors.
        """
        method, baseline = self.fusion_.method, self._baseline
        if method == self._vote:
            return baseline, self._why_baseline or self.fusion_.why
        predicted = {name: self._predicted(self._held_out, name) for name in (method, baseline)}
        losses = {name: self._losses(values) for name, values in predicted.items()}
        gain = losses[baseline] - losses[method]
        measured = f"Out-of-fold {self._loss_name} on {len(gain):,} training items: " + ", ".join(
            f"{loss.mean():{self._loss_format}} with {name}" for name, loss in losses.items()
        )
        if gain.sum() > SIGNIFICANT_Z * np.sqrt(np.square(gain).sum()):
            return method, f"{self.fusion_.why} {measured}."
        below = f"{measured}; the difference is below {SIGNIFICANT_Z:g} standard errors."
        return baseline, f"{self._why_baseline} {below}".strip()

    def _out_of_fold(self, X: ArrayLike, fit_params: dict[str, Any]) -> Predictions:
        """Return the predictions of members that were trained without the item's fold."""
        members = [(name, each) for name, each in self.estimators if each != "drop"]
        params = {name: fit_params for name, _ in members}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **fit_params)
            params = {name: routed[name].fit for name, _ in members}
        folds = self._folds()
        columns = [
            self._as_prediction(
                cross_val_predict(
                    each,
                    X,
                    self._truth,
                    cv=folds,
                    n_jobs=self.n_jobs,
                    params=params[name],
                    method=self._prediction_method(each),
                )
            )
            for name, each in members
        ]
        return np.stack(columns, axis=1)

    def _folds(self) -> Any:
        """Return ``cv``; of few training items, no more folds than every class has items."""
        if not isinstance(self.cv, Integral):
            return self.cv
        fewest = np.bincount(self._truth).min() if is_classifier(self) else len(self._truth)
        if fewest < 2:
            per_class = " per class" if is_classifier(self) else ""
            raise BadLabels(
                f"n_samples={len(self._truth)} is too few: out-of-fold predictions need at least "
                f"two training items{per_class}. Add items."
            )
        return min(self.cv, int(fewest))

    def _prediction_method(self, member: Any) -> str:
        """Return the name of the method that a member predicts with."""
        return "predict"

    def _as_prediction(self, values: Array) -> Array:
        """Return what one member predicted, in the form that all members share."""
        return values

    @property
    def _member_names(self) -> list[str]:
        return [name for name, each in self.named_estimators_.items() if each != "drop"]

    def _member_predictions(self, X: ArrayLike) -> Predictions:
        check_is_fitted(self)
        return np.asarray(self._predict(X))

    def _fused(self, predictions: Predictions) -> Any:
        raise NotImplementedError

    def _choose_baseline(self) -> tuple[str, str]:
        """Return what the fused model is compared with, and why if there are several baselines."""
        return self._vote, ""

    def _predicted(self, predictions: Predictions, method: str) -> Floats:
        """Return what the method makes of the predictions of the members."""
        raise NotImplementedError

    def _losses(self, predicted: Floats) -> Floats:
        """Return the loss of the training items, if they were predicted so."""
        raise NotImplementedError
