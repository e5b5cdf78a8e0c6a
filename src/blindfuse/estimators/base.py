"""The interface of every method: parameters, checks, fitting and prediction."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, Self, get_args

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, BlindfuseError, NotConverged, list_names
from blindfuse.estimators.registry import ESTIMATOR_MODULES, SYMBOL_METHODS
from blindfuse.model.model import Model, Rule
from blindfuse.model.posteriors import most_likely
from blindfuse.model.shrinkage import PseudoCounts, ShrinkageOption, make_shrinkage
from blindfuse.parameters import (
    Constraint,
    any_of,
    at_least,
    integer_at_least,
    one_of,
    optional,
    probabilities,
)
from blindfuse.responses.alphabet import IDENTITY, Alphabet, Anchor
from blindfuse.responses.responses import Responses, as_responses
from blindfuse.typing import Array, Floats

Threads = Annotated[int | None, optional(integer_at_least(1))]
Seed = Annotated[int | None, optional(integer_at_least(0))]
Iterations = Annotated[int, integer_at_least(1)]
NonNegative = Annotated[float, at_least(0)]
CombinationRule = Annotated[Rule, one_of(*get_args(Rule))]
ShrinkageStrength = Annotated[ShrinkageOption, optional(one_of("learned"), at_least(0))]
ClassPrior = Annotated[
    Literal["estimated", "uniform"] | Sequence[float] | Floats,
    any_of(one_of("estimated", "uniform"), probabilities()),
]

_warns: ContextVar[bool] = ContextVar("warns", default=True)


class NotFitted(BlindfuseError):
    """A method was asked for a result that only ``fit`` provides."""


@contextmanager
def without_warnings() -> Iterator[None]:
    """Let methods that are fitted within this context, in this thread, not warn."""
    token = _warns.set(False)
    try:
        yield
    finally:
        _warns.reset(token)


@dataclass(kw_only=True, eq=False, repr=False)
class Estimator(ABC):
    """A method with keyword parameters, ``fit``, and results in attributes that end in ``_``.

    A subclass with parameters is a dataclass whose fields are annotated with the type and the rule
    for the value: ``max_iter: Annotated[int, integer_at_least(1)] = 100``.

    Attributes
    ----------
    labels_ ``[item]``, posteriors_ ``[item, class]``
        the result for the items that were fitted.
    annotators_, classes_, symbols_
        the names that ``fit`` has seen.
    """

    labels_: Array = field(init=False)
    posteriors_: Floats = field(init=False)
    annotators_: Array = field(init=False)
    classes_: Array = field(init=False)
    symbols_: Array = field(init=False)

    def fit(self, responses: Any, y: None = None) -> Self:
        """Estimate the parameters of the annotators and label the items; ``y`` must be None."""
        self._fit(self._check_input(responses, y))
        self._warn_unless_converged()
        return self

    @abstractmethod
    def _fit(self, table: Responses) -> None:
        """Fit a table that was checked, and store the results."""

    @abstractmethod
    def _posteriors(self, table: Responses) -> Floats:
        """Return posteriors ``[item, class]`` of responses in the codes of ``fit``."""

    def fit_predict(self, responses: Any, y: None = None) -> Array:
        """Fit the method and return the labels of the items, ``[item]``; ``y`` must be None."""
        return self.fit(responses, y=y).labels_

    def predict(self, responses: Any) -> Array:
        """Return the labels ``[item]`` of new items, from annotators that ``fit`` has seen."""
        return self._name_labels(self.predict_proba(responses))

    def predict_proba(self, responses: Any) -> Floats:
        """Return posteriors ``[item, class]`` of new items, from annotators seen by ``fit``."""
        return self._posteriors(self._recode(responses))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; ``deep`` exists for scikit-learn and has no effect."""
        return {name: getattr(self, name) for name in self._constraints()}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name; they take effect at the next ``fit``."""
        names = list(self._constraints())
        unknown = [name for name in parameters if name not in names]
        if unknown:
            raise BadParameter(
                f"{type(self).__name__} has no parameter {list_names(unknown)}. "
                f"It has {list_names(names, 20) or 'no parameters'}."
            )
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    @classmethod
    def _constraints(cls) -> dict[str, Constraint]:
        """The rule for the value of each parameter."""
        declared = [parameter for parameter in fields(cls) if parameter.init]
        return {parameter.name: get_args(parameter.type)[1] for parameter in declared}

    def _check_parameters(self) -> None:
        """Raise BadParameter for the first parameter that violates its constraint."""
        for name, constraint in self._constraints().items():
            constraint.check(name, getattr(self, name))

    def _check_input(self, data: Any, y: Any = None) -> Responses:
        """Check the parameters, and return the data as Responses that can be fitted."""
        if y is not None:
            raise BadParameter(
                f"{type(self).__name__} does not learn from true labels, but y was given. Leave y "
                "out; fuse(responses, gold={item: label}) uses known labels."
            )
        self._check_parameters()
        responses = check_responses(data)
        if not responses.is_plain:
            self._require_symbol_support(responses.alphabet)
        return responses

    def _require_symbol_support(self, alphabet: Alphabet) -> None:
        """Raise BadParameter unless the registry says that the method takes symbols."""
        name = type(self).__name__
        start = self.get_params().get("start")
        if (name in ESTIMATOR_MODULES and name not in SYMBOL_METHODS) or start == "spectral":
            method = f"{name}(start='spectral')" if start == "spectral" else name
            raise BadParameter(
                f"{method} needs annotators who report classes, but these report "
                f"{len(alphabet.symbols):,} symbols (anchor {alphabet.anchor.kind!r}). Use "
                f"{list_names([other for other in SYMBOL_METHODS if other != 'Oracle'], 10)}."
            )

    def _check_fitted(self) -> None:
        if not hasattr(self, "classes_"):
            raise NotFitted(f"This {type(self).__name__} is not fitted yet. Call fit first.")

    def _remember_names(self, names: Responses | Model) -> None:
        """Store the names of the annotators, classes and symbols."""
        self.annotators_, self.classes_ = names.annotators, names.classes
        self.symbols_ = names.symbols

    def _recode(self, responses: Any) -> Responses:
        """Return responses in the codes of ``fit``."""
        self._check_fitted()
        table = as_responses(responses, self.classes_, self.annotators_)
        return table.recoded(self.annotators_, self.classes_, self.symbols_)

    def _name_labels(self, posteriors: Floats) -> Array:
        """Return the most probable class per item; ties go to the first class."""
        return np.asarray(self.classes_[most_likely(posteriors)])

    def _store_posteriors(self, posteriors: Floats) -> None:
        """Store the posteriors and labels of the items that were fitted."""
        self.posteriors_, self.labels_ = posteriors, self._name_labels(posteriors)

    def _warn_unless_converged(self) -> None:
        """Warn the caller of ``fit`` or ``partial_fit`` if the method stopped at its maximum."""
        for name, unit in (("max_iter", "iterations"), ("max_sweeps", "sweeps")):
            if name in getattr(self, "stopped_", ""):
                self._warn(
                    f"did not converge in {getattr(self, name):,} {unit}. "
                    f"The result is usable; raise {name} or tolerance to converge.",
                    NotConverged,
                )

    def _warn(self, message: str, category: type[Warning]) -> None:
        if _warns.get():
            warnings.warn(f"{type(self).__name__} {message}", category, stacklevel=4)

    def __repr__(self) -> str:
        defaults = {parameter.name: parameter.default for parameter in fields(self)}
        changed = ", ".join(
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if not _equals(value, defaults[name])
        )
        return f"{type(self).__name__}({changed})"


@dataclass(kw_only=True, eq=False, repr=False)
class ModelEstimator(Estimator):
    """A method that fits a :class:`Model` and labels items by the MAP or ML rule."""

    rule: CombinationRule = "map"
    threads: Threads = None

    def _posteriors(self, table: Responses) -> Floats:
        return self.model_.posteriors(table, self.rule, self.threads)

    def _set_model(self, model: Model) -> None:
        """Store a fitted model."""
        self.model_: Model = model
        self._remember_names(model)

    def _store(self, model: Model, table: Responses) -> None:
        """Store a fitted model, and the posteriors and labels of the items it was fitted to."""
        self._set_model(model.with_scale(table.anchor.scale))
        self._store_posteriors(self._posteriors(table))

    def __repr__(self) -> str:
        fitted = f"\n  fitted {self.model_!r}" if hasattr(self, "model_") else ""
        return f"{super().__repr__()}{fitted}"


def check_responses(data: Any) -> Responses:
    """Return data of any supported type as Responses, with at least one label and two classes."""
    responses = as_responses(data)
    if responses.n_responses == 0:
        raise BadLabels("The responses contain no labels. Check how missing responses are marked.")
    require_two_classes(responses.classes)
    return responses


def require_two_classes(classes: Array) -> None:
    """Raise BadLabels if there are fewer than two classes."""
    if len(classes) < 2:
        raise BadLabels(
            f"Every label is {list_names(classes)}, but at least two classes are needed. "
            "If nobody reported some of the classes, list all of them in classes=."
        )


def fixed_prior(name: str, prior: Any, n_classes: int) -> Floats | None:
    """Return the prior ``[class]`` that is held fixed, or None if it is to be estimated.

    ``prior`` is a ClassPrior; ``name`` is the parameter that an error message names.
    """
    if isinstance(prior, str):
        return np.full(n_classes, 1 / n_classes) if prior == "uniform" else None
    fixed = np.asarray(prior, dtype=float)
    if fixed.shape != (n_classes,):
        raise BadParameter(
            f"{name}={prior!r} has {len(fixed)} probabilities, but there are {n_classes} classes. "
            "Pass one probability per class, in the order of the classes."
        )
    return fixed


def shrink_model(
    estimate: Model,
    option: ShrinkageOption,
    count_expected: Callable[[], Floats],
    anchor: Anchor = IDENTITY,
) -> tuple[Model, PseudoCounts | None]:
    """Shrink the confusion matrices of an estimate; return the model and the prior.

    ``count_expected`` returns the expected counts ``[annotator, reported, true]`` under the
    estimate, from which the prior is learned. It is not called if ``option`` is None. Where symbols
    are not classes, the counts themselves are shrunk: one iteration of EM (Remark 2), because
    moments of many symbols use the responses less efficiently than the likelihood does.
    """
    if option is None:
        return estimate, None
    counts = count_expected()
    shrinkage = make_shrinkage(option, counts, anchor)
    if anchor.kind == "identity":
        counts = counts.sum(axis=1, keepdims=True) * estimate.confusions
    confusions = shrinkage.shrink(counts)
    names = estimate.annotators, estimate.classes, None, estimate.symbols
    return Model(confusions, estimate.prior, *names), shrinkage


def _equals(value: Any, default: Any) -> bool:
    return value is default or (not isinstance(value, np.ndarray) and bool(value == default))
