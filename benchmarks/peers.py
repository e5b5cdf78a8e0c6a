"""Comparison with another library on the same responses: labels, likelihoods and cost.

This module has the shared parts; each library has its own module with its sections.
"""

import time
import warnings
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse import Responses
from blindfuse.datasets import Crowd
from blindfuse.estimators.base import Estimator
from blindfuse.metrics import error_rate
from children import additional_memory, in_child
from experiments.settings import FIGURE_3
from report import Check, Section
from speed import seconds

Labels = NDArray[Any]


class Peer(NamedTuple):
    """Another library: its name, its format of responses, and its labels in the order of items."""

    name: str
    table: Callable[[Responses], Any]
    labels: Callable[[Any, Responses], Labels]

    @property
    def title(self) -> str:
        return f"Compared with {self.name} {version(self.name)}"


class Fits(NamedTuple):
    """One method fitted to the same responses by both libraries; ``peer`` is None if it failed."""

    responses: Responses
    own: Any
    peer: Any


class Pair(NamedTuple):
    """One method in both libraries, with the closest settings that they share.

    ``explained`` is the share of equal labels after removing the known causes of differences;
    ``likelihoods`` are the log-likelihoods of both fits under the same model.
    """

    own: Callable[[], Estimator]
    peer: Callable[[], Any]
    explained: Callable[[Fits], float]
    likelihoods: Callable[[Fits], tuple[float, float]] | None = None


def agreement(labels: Labels, other: Labels) -> float:
    """Return the share of equal labels."""
    return float(np.mean(labels == other))


def compare(peer: Peer, runs: Iterable[tuple[str, Pair, Crowd]], reasons: str) -> Section:
    """Return one row per method and dataset: errors, agreement, likelihoods and time."""
    header = ["method", "dataset", "blindfuse %", f"{peer.name} %", "agreement %", "explained %"]
    header += ["log-likelihood per label", f"{peer.name}'s", f"time of {peer.name} / blindfuse"]
    section = Section(f"{peer.title}: the same methods on the same responses", header, note=reasons)
    explained = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method, pair, crowd in runs:
            fits, time_ratio = _fit_both(peer, pair, crowd.responses)
            explained.append(100 * pair.explained(fits))
            cells = [*_errors_and_agreement(peer, fits, crowd), f"{explained[-1]:.2f}"]
            cells += [*_likelihoods(pair, fits), f"{time_ratio:.0f} ×"]
            section.rows.append([method, crowd.name, *cells])
    section.checks.append(
        Check("smallest explained agreement, %", min(explained), 99.9, at_most=False)
    )
    return section


def _fit_both(peer: Peer, pair: Pair, responses: Responses) -> tuple[Fits, float]:
    """Return both fits, and the peer's time divided by that of blindfuse."""
    own, table = pair.own().fit(responses), peer.table(responses)
    own_seconds = seconds(lambda: pair.own().fit(responses), repeats=3)
    started = time.perf_counter()
    try:
        other = pair.peer().fit(table)
    except KeyError:
        other = None
    return Fits(responses, own, other), (time.perf_counter() - started) / own_seconds


def _errors_and_agreement(peer: Peer, fits: Fits, crowd: Crowd) -> list[str]:
    """Return the errors of both libraries and their agreement, in percent."""
    own = f"{_error(fits.own.labels_, crowd):.2f}"
    if fits.peer is None:
        return [own, "fails", "-"]
    labels = peer.labels(fits.peer, fits.responses)
    equal = 100 * agreement(fits.own.labels_, labels)
    return [own, f"{_error(labels, crowd):.2f}", f"{equal:.2f}"]


def _likelihoods(pair: Pair, fits: Fits) -> list[str]:
    if pair.likelihoods is None:
        return ["-", "-"]
    return [f"{total / fits.responses.n_responses:.5f}" for total in pair.likelihoods(fits)]


def _error(labels: Labels, crowd: Crowd) -> float:
    return 100 * error_rate(labels[:, None] == crowd.responses.classes, crowd.truth)


def peak_memory(fit: Callable[[Any], None], table: Callable[[Responses], Any]) -> float:
    """Return the peak memory in MiB of a fit to Figure 3's setting with N = 100,000, in a child."""
    return in_child(_peak_memory, fit, table)


def _peak_memory(fit: Callable[[Any], None], table: Callable[[Responses], Any]) -> float:
    few, many = (table(FIGURE_3.draw(n_items, 0).responses) for n_items in (3000, 10**5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(few)  # import and compile
        return additional_memory(lambda: fit(many))
