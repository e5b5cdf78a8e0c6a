"""Other libraries beside ours, in one run on the same answers: labels, likelihoods, cost.

Here is what they share; each library has a file of its own with its sections.
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
from children import extra_memory, in_child
from experiments.settings import FIGURE_3
from report import Check, Section
from speed import seconds

Labels = NDArray[Any]


class Peer(NamedTuple):
    """Another library: its name, answers as it wants them, and its labels in our order."""

    name: str
    table: Callable[[Responses], Any]
    labels: Callable[[Any, Responses], Labels]

    @property
    def title(self) -> str:
        return f"Beside {self.name} {version(self.name)}"


class Fits(NamedTuple):
    """One method fitted to the same answers by both libraries; ``theirs`` is None if it failed."""

    responses: Responses
    ours: Any
    theirs: Any


class Pair(NamedTuple):
    """One method in both libraries, with the closest settings that both have.

    ``explained`` is the share of equal labels once the known reasons are taken away;
    ``likelihoods`` are the log-likelihoods that both have reached, under the same model.
    """

    ours: Callable[[], Estimator]
    theirs: Callable[[], Any]
    explained: Callable[[Fits], float]
    likelihoods: Callable[[Fits], tuple[float, float]] | None = None


def equal(one: Labels, other: Labels) -> float:
    return float(np.mean(one == other))


def compared(peer: Peer, runs: Iterable[tuple[str, Pair, Crowd]], reasons: str) -> Section:
    """A row for each method and set: errors, equal labels, likelihoods, time."""
    header = ["method", "set", "blindfuse %", f"{peer.name} %", "agree %", "explained %"]
    header += ["log-likelihood a label", f"{peer.name}'s", f"{peer.name}'s time"]
    section = Section(f"{peer.title}: the same methods on the same answers", header, note=reasons)
    explained = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method, pair, crowd in runs:
            fits, slower = _fit_both(peer, pair, crowd.responses)
            explained.append(100 * pair.explained(fits))
            cells = [*_agreement(peer, fits, crowd), f"{explained[-1]:.2f}"]
            cells += [*_reached(pair, fits), f"{slower:.0f} ×"]
            section.rows.append([method, crowd.name, *cells])
    section.checks.append(Check("least explained, %", min(explained), 99.9, at_most=False))
    return section


def _fit_both(peer: Peer, pair: Pair, responses: Responses) -> tuple[Fits, float]:
    """Both fits, and the time of theirs in times of ours."""
    ours, table = pair.ours().fit(responses), peer.table(responses)
    spent = seconds(lambda: pair.ours().fit(responses), repeats=3)
    began = time.perf_counter()
    try:
        theirs = pair.theirs().fit(table)
    except KeyError:
        theirs = None
    return Fits(responses, ours, theirs), (time.perf_counter() - began) / spent


def _agreement(peer: Peer, fits: Fits, crowd: Crowd) -> list[str]:
    """Errors of both, and how many labels are equal, in percent."""
    ours = f"{_error(fits.ours.labels_, crowd):.2f}"
    if fits.theirs is None:
        return [ours, "fails", "-"]
    labels = peer.labels(fits.theirs, fits.responses)
    return [ours, f"{_error(labels, crowd):.2f}", f"{100 * equal(fits.ours.labels_, labels):.2f}"]


def _reached(pair: Pair, fits: Fits) -> list[str]:
    if pair.likelihoods is None:
        return ["-", "-"]
    return [f"{found / fits.responses.n_responses:.5f}" for found in pair.likelihoods(fits)]


def _error(labels: Labels, crowd: Crowd) -> float:
    return 100 * error_rate(labels[:, None] == crowd.responses.classes, crowd.truth)


def peak_memory(fit: Callable[[Any], None], table: Callable[[Responses], Any]) -> float:
    """Peak memory in MiB of a fit to Figure 3's answers, N = 100,000, in a process of its own."""
    return in_child(_peak_memory, fit, table)


def _peak_memory(fit: Callable[[Any], None], table: Callable[[Responses], Any]) -> float:
    few, many = (table(FIGURE_3.draw(n_items, 0).responses) for n_items in (1000, 10**5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(few)  # imports and compiles
        return extra_memory(lambda: fit(many))
