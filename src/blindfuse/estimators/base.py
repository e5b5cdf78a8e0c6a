"""What every method shares: parameters in scikit-learn's manner, inputs of any kind, prediction."""

import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadLabels, BadParameter, BlindfuseError, naming
from blindfuse.model import Model, Rule
from blindfuse.responses import Responses, as_responses

Floats = NDArray[np.float64]


class NotFitted(BlindfuseError):
    """A method was asked for what only ``fit`` finds out."""


class Estimator:
    """A method that fits a :class:`Model`; a subclass has keyword parameters and ``fit``."""

    rule: Rule
    threads: int | None

    model_: Model
    labels_: NDArray[Any]
    posteriors_: Floats

    def fit(self, responses: Any) -> Self:
        raise NotImplementedError

    def fit_predict(self, responses: Any) -> NDArray[Any]:
        """Fit, and return the labels of the items, ``[item]``."""
        return self.fit(responses).labels_

    def predict(self, responses: Any) -> NDArray[Any]:
        """Labels ``[item]`` of new items by annotators that ``fit`` has seen."""
        return self._fitted().name_labels(self.predict_proba(responses))

    def predict_proba(self, responses: Any) -> Floats:
        """Posteriors ``[item, class]`` of new items by annotators that ``fit`` has seen."""
        model = self._fitted()
        known = as_responses(responses, classes=model.classes)
        return model.posteriors(known, self.rule, self.threads)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; ``deep`` is there for scikit-learn and changes nothing."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name, before the next ``fit``."""
        unknown = [name for name in parameters if name not in self._parameters()]
        if unknown:
            raise BadParameter(
                f"{type(self).__name__} has no parameter {naming(unknown)}. "
                f"It has {naming(self._parameters(), 20)}."
            )
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def _keep(self, model: Model, responses: Responses) -> Self:
        """Store a fitted model with the posteriors and labels of the items it was fitted to."""
        self.model_ = model
        self.posteriors_ = model.posteriors(responses, self.rule, self.threads)
        self.labels_ = model.name_labels(self.posteriors_)
        return self

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise NotFitted(f"This {type(self).__name__} is not fitted yet. Call fit first.")
        return self.model_

    @classmethod
    def _parameters(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)

    def __repr__(self) -> str:
        defaults = {name: p.default for name, p in inspect.signature(type(self)).parameters.items()}
        changed = ", ".join(
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if not _same(value, defaults[name])
        )
        fitted = f"\n  fitted {self.model_!r}" if hasattr(self, "model_") else ""
        return f"{type(self).__name__}({changed}){fitted}"


def to_fit(data: Any) -> Responses:
    """What ``fit`` was given, as Responses that have something to fit."""
    responses = as_responses(data)
    if responses.n_labels == 0:
        raise BadLabels("There is no label at all: nothing can be fused.")
    if responses.n_classes < 2:
        raise BadLabels(
            f"Every label is {naming(responses.classes)}: at least two classes are needed. "
            "If there are others that nobody reported, name them all in classes=[…]."
        )
    return responses


def one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Refuse a parameter outside its few allowed values."""
    if value not in allowed:
        raise BadParameter(f"{name}={value!r} is none of {naming(allowed)}.")


def _same(value: Any, default: Any) -> bool:
    return value is default or (not isinstance(value, np.ndarray) and bool(value == default))
