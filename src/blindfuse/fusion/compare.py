"""`compare`: run every method on the same responses."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from blindfuse.errors import BlindfuseError, NotConverged, RankTooLow
from blindfuse.estimators.base import Estimator, check_responses
from blindfuse.estimators.registry import METHODS
from blindfuse.fusion.fuse import Fusion, fuse
from blindfuse.kernels.threads import single_threaded_blas
from blindfuse.metrics import error_rate
from blindfuse.model.posteriors import most_likely
from blindfuse.parameters import Constraint
from blindfuse.responses.gold import gold_codes
from blindfuse.typing import Floats

_METHODS = Constraint(
    "a dictionary {name: function that returns an estimator}",
    lambda value: isinstance(value, Mapping) and all(map(callable, value.values())),
)


@dataclass(frozen=True)
class Comparison:
    """The result of one method.

    ``error`` is its error rate on the items with known truth, None without a truth. ``differs`` is
    the share of items that it labels differently from ``fuse``. ``failed`` is why the method could
    not be used, or None. ``seconds`` is None for a fusion that was passed in.
    """

    method: str
    error: float | None
    differs: float | None
    seconds: float | None
    failed: str | None


def compare(
    responses: Any,
    truth: Mapping[Any, Any] | None = None,
    methods: Mapping[str, Callable[[], Estimator]] = METHODS,
    *,
    fused: Fusion | None = None,
    report: Callable[[str], None] = lambda name: None,
) -> list[Comparison]:
    """Run ``fuse`` and every method; with ``truth``, ``{item: label}``, measure their errors.

    No method is given the truth. ``fused`` is the result of ``fuse``, if there is one already.
    ``report`` is called with the name of each method before it runs.
    """
    table = check_responses(responses)
    _METHODS.check("methods", methods)
    positions, codes = gold_codes(table, truth)
    report("fuse")
    began = perf_counter()
    fusion = fused or fuse(table)
    seconds = None if fused else perf_counter() - began
    labels = most_likely(fusion.posteriors)

    def error(posteriors: Floats) -> float | None:
        return error_rate(posteriors[positions], codes) if len(positions) else None

    found = [Comparison("fuse", error(fusion.posteriors), 0.0, seconds, None)]
    for name, make in methods.items():
        report(name)
        began = perf_counter()
        try:
            with single_threaded_blas(), warnings.catch_warnings():
                warnings.simplefilter("ignore", NotConverged)
                warnings.simplefilter("ignore", RankTooLow)
                posteriors = make().fit(table).posteriors_
        except BlindfuseError as reason:
            found.append(Comparison(name, None, None, perf_counter() - began, str(reason)))
            continue
        seconds = perf_counter() - began
        differs = float(np.mean(most_likely(posteriors) != labels))
        found.append(Comparison(name, error(posteriors), differs, seconds, None))
    return found
