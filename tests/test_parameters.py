"""Constraints on parameters: the values they accept, and the messages for the others."""

from typing import Any

import numpy as np
import pytest

from blindfuse import BadParameter
from blindfuse.parameters import (
    MAX_SHOWN,
    Constraint,
    any_of,
    array_at_least,
    at_least,
    between,
    instance_of,
    integer_at_least,
    one_of,
    optional,
    positive,
    probabilities,
)

NAN = float("nan")


@pytest.mark.parametrize(
    ("constraint", "accepted", "refused"),
    [
        (at_least(0), [0, 0.0, 1e9, np.float32(1), np.int64(2)], [-1, NAN, "1", None, [1]]),
        (integer_at_least(1), [1, 10**30, np.int8(3)], [0, 1.0, 1.5, NAN, "1", None]),
        (positive(), [1e-300, 1, np.float64(2)], [0, -1, NAN, "1", None]),
        (between(0, 0.5), [0, 0.25, np.float64(0.499)], [0.5, -0.1, NAN, "0", None]),
        (one_of("map", "ml"), ["map", np.str_("ml")], ["MAP", None, 1, ["map"], np.array(["map"])]),
        (one_of(False, True), [True, False, np.True_], ["yes", None, 2]),
        (instance_of(dict, description="a dict"), [{}, {1: 2}], [[], None, "{}"]),
        (
            probabilities(),
            [[0.5, 0.5], (1.0,), np.full(3, 1 / 3)],
            [[0.5, 0.6], [-0.5, 1.5], [[0.5, 0.5]], [NAN, 1], 1.0, "uniform", ["a"], None],
        ),
        (
            array_at_least(0),
            [np.array([0.0, 1.0]), np.array([1, 2])],
            [np.array([-1.0]), np.array([NAN]), np.array(["a"]), [1.0], 1.0, None],
        ),
        (any_of(one_of("learned"), at_least(0)), ["learned", 3], ["much", -1, None]),
        (optional(integer_at_least(1)), [None, 1], [0, "None"]),
    ],
)
def test_accepted_and_refused_values(
    constraint: Constraint, accepted: list[Any], refused: list[Any]
) -> None:
    for value in accepted:
        constraint.check("parameter", value)
    for value in refused:
        with pytest.raises(BadParameter, match=r"^parameter=.* must be "):
            constraint.check("parameter", value)


@pytest.mark.parametrize(
    ("constraint", "value", "message"),
    [
        (integer_at_least(1), 0, "x=0 must be an integer of at least 1."),
        (at_least(0), -0.5, "x=-0.5 must be a number of at least 0."),
        (positive(), 0, "x=0 must be a positive number."),
        (between(0, 0.5), 0.5, "x=0.5 must be a number of at least 0 and below 0.5."),
        (one_of("a", "b", "c"), "d", "x='d' must be 'a', 'b' or 'c'."),
        (
            optional(one_of("a"), at_least(0)),
            "b",
            "x='b' must be 'a', a number of at least 0 or None.",
        ),
    ],
)
def test_messages_name_the_parameter_the_value_and_the_rule(
    constraint: Constraint, value: Any, message: str
) -> None:
    with pytest.raises(BadParameter) as refusal:
        constraint.check("x", value)
    assert str(refusal.value) == message


def test_long_values_are_shortened_to_one_line() -> None:
    with pytest.raises(BadParameter) as refusal:
        one_of("a").check("x", np.zeros((100, 100)))
    shown = str(refusal.value).removeprefix("x=").removesuffix(" must be 'a'.")
    assert len(shown) == MAX_SHOWN
    assert "\n" not in shown
