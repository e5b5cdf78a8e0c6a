"""What every method shares: parameters in scikit-learn's manner, inputs of any kind, prediction."""

import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadLabels, BadParameter, BlindfuseError, NotConverged, naming
from blindfuse.model.model import Model, Rule
from blindfuse.model.posteriors import most_likely
from blindfuse.model.shrinkage import learned_pseudo_counts, pooled_pseudo_counts, shrink
from blindfuse.responses.responses import Responses, as_responses

Floats = NDArray[np.float64]
Shrinkage = Literal["learned"] | float | None


class NotFitted(BlindfuseError):
    """A method was asked for what only ``fit`` finds out."""


class Estimator(ABC):
    """A method: keyword parameters, ``fit``, and what it found in attributes that end in ``_``."""

    labels_: NDArray[Any]
    posteriors_: Floats

    _found: ClassVar[str] = "posteriors_"
    """The attribute that prediction needs."""

    @abstractmethod
    def fit(self, responses: Any) -> Self:
        """Find out about annotators and label the items."""

    @abstractmethod
    def predict(self, responses: Any) -> NDArray[Any]:
        """Labels ``[item]`` of new items by annotators that ``fit`` has seen."""

    @abstractmethod
    def predict_proba(self, responses: Any) -> Floats:
        """Posteriors ``[item, class]`` of new items by annotators that ``fit`` has seen."""

    def fit_predict(self, responses: Any) -> NDArray[Any]:
        """Fit, and return the labels of the items, ``[item]``."""
        return self.fit(responses).labels_

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
        return f"{type(self).__name__}({changed})"

    def _check_fitted(self) -> None:
        if not hasattr(self, self._found):
            raise NotFitted(f"This {type(self).__name__} is not fitted yet. Call fit first.")


class TableEstimator(Estimator):
    """A method without a :class:`Model`: it turns answers of annotators it knows into beliefs.

    Attributes
    ----------
    annotators_, classes_
        the names that ``fit`` has seen.
    """

    annotators_: NDArray[Any]
    classes_: NDArray[Any]

    @abstractmethod
    def _posteriors(self, responses: Responses) -> Floats:
        """Beliefs ``[item, class]`` about items, in the codes of ``fit``."""

    def predict(self, responses: Any) -> NDArray[Any]:
        return self._named(self.predict_proba(responses))

    def predict_proba(self, responses: Any) -> Floats:
        self._check_fitted()
        known = as_responses(responses, classes=self.classes_)
        return self._posteriors(known.recoded(self.annotators_, self.classes_))

    def _codes(self, beliefs: Floats) -> NDArray[np.intp]:
        """The class of each item: the largest belief, of equals the first."""
        return most_likely(beliefs)

    def _named(self, beliefs: Floats) -> NDArray[Any]:
        return np.asarray(self.classes_[self._codes(beliefs)])


class ModelEstimator(Estimator):
    """A method that fits a :class:`Model` and labels items by its MAP or ML rule."""

    rule: Rule
    threads: int | None
    model_: Model

    _found = "model_"

    def predict(self, responses: Any) -> NDArray[Any]:
        found = self.predict_proba(responses)
        return self.model_.name_labels(found)

    def predict_proba(self, responses: Any) -> Floats:
        self._check_fitted()
        known = as_responses(responses, classes=self.model_.classes)
        return self.model_.posteriors(known, self.rule, self.threads)

    def _keep(self, model: Model, responses: Responses) -> Self:
        """Store a fitted model with the posteriors and labels of the items it was fitted to."""
        self.model_ = model
        self.posteriors_ = model.posteriors(responses, self.rule, self.threads)
        self.labels_ = model.name_labels(self.posteriors_)
        return self

    def __repr__(self) -> str:
        fitted = f"\n  fitted {self.model_!r}" if hasattr(self, "model_") else ""
        return f"{super().__repr__()}{fitted}"


def to_fit(data: Any) -> Responses:
    """What ``fit`` was given, as Responses that have something to fit."""
    responses = as_responses(data)
    if responses.n_responses == 0:
        raise BadLabels("There is no label at all: nothing can be fused.")
    require_classes(responses.classes)
    return responses


def require_classes(classes: NDArray[Any]) -> None:
    """Refuse to tell apart what is all the same."""
    if len(classes) < 2:
        raise BadLabels(
            f"Every label is {naming(classes)}: at least two classes are needed. "
            "If there are others that nobody reported, name them all in classes=[…]."
        )


def known_prior(name: str, prior: Any, n_classes: int) -> Floats | None:
    """The prior to hold fixed, or None if it is to be estimated."""
    if isinstance(prior, str):
        one_of(name, prior, ("estimated", "uniform"))
        return np.full(n_classes, 1 / n_classes) if prior == "uniform" else None
    known = np.asarray(prior, dtype=float)
    if known.shape != (n_classes,) or not np.all(known >= 0) or not np.isclose(known.sum(), 1):
        raise BadParameter(
            f"{name}={prior!r} must be {n_classes} shares that sum to one, in the order of classes."
        )
    return known


def pseudo_counts(shrinkage: Shrinkage, counts: Floats) -> Floats:
    """Pseudo-labels ``[reported, true]``: learned from these counts, of a given number, or none."""
    check_shrinkage(shrinkage)
    if isinstance(shrinkage, str):
        return learned_pseudo_counts(counts)
    return pooled_pseudo_counts(counts, 0.0 if shrinkage is None else float(shrinkage))


def shrink_model(
    estimate: Model, shrinkage: Shrinkage, expected: Callable[[], Floats]
) -> tuple[Model, Floats]:
    """The model with few-label annotators pulled towards the crowd, and the pseudo-labels used.

    ``expected`` counts labels ``[annotator, reported, true]`` under the estimate, if they matter.
    """
    if shrinkage is None:
        return estimate, np.zeros_like(estimate.confusions[0])
    counts = expected()
    pseudo = pseudo_counts(shrinkage, counts)
    pulled = shrink(estimate.confusions, counts, pseudo)
    return Model(pulled, estimate.prior, estimate.annotators, estimate.classes), pseudo


def check_shrinkage(shrinkage: Shrinkage) -> None:
    """Refuse what is neither ``"learned"`` nor a number of pseudo-labels nor None."""
    if isinstance(shrinkage, str):
        one_of("shrinkage", shrinkage, ("learned",))
    elif shrinkage is not None:
        at_least("shrinkage", shrinkage, 0)


def warn_not_converged(method: Estimator, max_iter: int) -> None:
    """Tell the caller of ``fit`` that it ended at ``max_iter``."""
    warnings.warn(
        f"{type(method).__name__} did not converge in {max_iter} iterations. "
        "The result is usable; raise max_iter or tolerance to converge.",
        NotConverged,
        stacklevel=3,
    )


def at_least(name: str, value: float, least: int) -> None:
    """Refuse a parameter below its least value, or NaN."""
    if not value >= least:
        raise BadParameter(f"{name}={value!r} must be at least {least}.")


def one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Refuse a parameter outside its few allowed values."""
    if value not in allowed:
        raise BadParameter(f"{name}={value!r} is none of {naming(allowed)}.")


def _same(value: Any, default: Any) -> bool:
    return value is default or (not isinstance(value, np.ndarray) and bool(value == default))
