"""Constraints on parameters: which values are allowed, and one message for those that are not.

An estimator declares ``max_iter: Annotated[int, integer_at_least(1)] = 100``. A function checks
one value at a time: ``integer_at_least(1).check("budget", budget)``.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from blindfuse.errors import BadParameter

MAX_SHOWN = 80
"""Characters of a refused value that a message shows."""


@dataclass(frozen=True)
class Constraint:
    """A rule for the value of a parameter.

    ``rule`` completes the sentence "the parameter must be …"; ``accepts`` returns whether a value
    follows the rule.
    """

    rule: str
    accepts: Callable[[Any], bool]

    def check(self, name: str, value: Any) -> None:
        """Raise BadParameter, with the name, the value and the rule, unless the value is valid."""
        if not self.accepts(value):
            raise BadParameter(f"{name}={_shortened(value)} must be {self.rule}.")


def at_least(minimum: float) -> Constraint:
    """A number that is not below a minimum."""
    return Constraint(
        f"a number of at least {minimum}",
        lambda value: isinstance(value, Real) and float(value) >= minimum,
    )


def integer_at_least(minimum: int) -> Constraint:
    """An integer that is not below a minimum."""
    return Constraint(
        f"an integer of at least {minimum}",
        lambda value: isinstance(value, Integral) and int(value) >= minimum,
    )


def positive() -> Constraint:
    """A number above zero."""
    return Constraint(
        "a positive number", lambda value: isinstance(value, Real) and float(value) > 0
    )


def between(minimum: float, limit: float) -> Constraint:
    """A number from a minimum to just below a limit."""
    return Constraint(
        f"a number of at least {minimum} and below {limit}",
        lambda value: isinstance(value, Real) and minimum <= float(value) < limit,
    )


def one_of(*options: Hashable) -> Constraint:
    """One of these values."""
    return Constraint(
        _alternatives([repr(option) for option in options]),
        lambda value: isinstance(value, Hashable) and value in options,
    )


def instance_of(*types: type, description: str) -> Constraint:
    """An instance of one of these types, which messages call ``description``."""
    return Constraint(description, lambda value: isinstance(value, types))


def probabilities() -> Constraint:
    """A sequence of probabilities that sum to one."""
    return Constraint("a sequence of probabilities that sum to 1", _are_probabilities)


def array_at_least(minimum: float) -> Constraint:
    """An array of which no number is below a minimum."""
    return Constraint(
        f"an array of numbers of at least {minimum}",
        lambda value: (
            isinstance(value, np.ndarray)
            and value.dtype.kind in "buif"
            and bool(np.all(value >= minimum))
        ),
    )


def any_of(*constraints: Constraint) -> Constraint:
    """A value that at least one of these constraints accepts."""
    return Constraint(
        _alternatives([constraint.rule for constraint in constraints]),
        lambda value: any(constraint.accepts(value) for constraint in constraints),
    )


def optional(*constraints: Constraint) -> Constraint:
    """None, or a value that at least one of these constraints accepts."""
    return any_of(*constraints, one_of(None))


def _are_probabilities(value: Any) -> bool:
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return False
    return numbers.ndim == 1 and bool(np.all(numbers >= 0) and np.isclose(numbers.sum(), 1))


def _alternatives(rules: list[str]) -> str:
    """Join rules as text: ``a, b or c``."""
    *first, last = rules
    return f"{', '.join(first)} or {last}" if first else last


def _shortened(value: Any) -> str:
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= MAX_SHOWN else f"{shown[: MAX_SHOWN - 1]}…"
