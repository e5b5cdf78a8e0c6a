"""A task: one method on one draw. The unit that is run, kept, and never run twice."""

import resource
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse import BlindfuseError, Model, NotConverged, RankTooLow, Responses, simulate
from blindfuse.datasets import load
from blindfuse.metrics import confusion_error, error_rate, prior_error
from experiments.ensembles import SUBSETS, ensemble
from experiments.methods import METHODS, ORACLE, OURS, PLAIN, UNAIDED, Known
from experiments.settings import SETTINGS, Setting

Found = dict[str, float | str]

FILTERS = {"adult": 371, "trec": 708}
"""Annotators of Table IX gave more labels than this, and used every class.

The paper says 370 for adult, which gives 39 annotators once repeated answers are merged; 371 gives
the paper's 38.
"""


@dataclass(frozen=True)
class Task:
    """A method on a source: a setting of Section V-A, an ensemble of V-B or a crowd of V-C."""

    source: str
    method: str
    seed: int = 0
    n_items: int | None = None
    n_annotators: int | None = None
    adversaries: float = 0.0
    skill: float = 0.0
    filtered: bool = False

    def parameters(self) -> dict[str, Any]:
        """All that makes it what it is, without what is as usual."""
        usual = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != usual[name]}

    @property
    def data(self) -> "Task":
        """The same for all methods on the same answers."""
        return replace(self, method="")


def synthetic(
    setting: Setting,
    methods: Iterable[str],
    sizes: Iterable[int],
    seeds: Iterable[int],
    **more: Any,
) -> list[Task]:
    """Every method on every draw of a setting; plain ones, which take long, on one."""
    methods = list(methods)
    return [
        Task(setting.name, method, seed, size, **more)
        for size in sizes
        for seed in seeds
        for method in methods
        if method not in UNAIDED or seed == 0
    ]


def run_task(task: Task, folder: str | None) -> Found:
    """What came out: error %, seconds, and whatever else the method gives.

    A method that refuses says why under ``failed``; data that cannot be had raise.
    """
    began = perf_counter()
    known = draw(task.data, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        warnings.simplefilter("ignore", RankTooLow)
        warm_up(task.method, known.responses.n_classes)
        started = perf_counter()
        try:
            fitted = METHODS[task.method](known)
        except BlindfuseError as reason:
            return {"failed": str(reason), "spent": perf_counter() - began}
        seconds = perf_counter() - started
    found: Found = {"seconds": seconds, **_scores(task.method, fitted, known)}
    found["spent"] = perf_counter() - began
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return found


@lru_cache(maxsize=1)
def draw(data: Task, folder: str | None) -> Known:
    """The answers that a task is about; the last ones are kept for the next method."""
    if data.source in SETTINGS:
        simulation = SETTINGS[data.source].draw(
            data.n_items or 0,
            data.seed,
            data.skill,
            data.n_annotators,
            data.adversaries,
            same_annotators=True,
        )
        return Known(simulation.responses, simulation.truth, simulation.model)
    if data.source in SUBSETS:
        crowd = ensemble(data.source, data.seed, data.n_items, folder)
    else:
        crowd = load(data.source, folder)
    responses = crowd.responses
    if data.filtered:  # items that lose all their answers stay
        responses = responses.select_annotators(busy(responses, FILTERS[data.source]))
    return Known(responses, crowd.truth)


def busy(responses: Responses, more_than: int) -> NDArray[np.bool_]:
    """Annotators ``[annotator]`` who used every class and gave more labels than that."""
    matrix = responses.matrix()
    used = [(matrix == code).any(axis=0) for code in range(responses.n_classes)]
    return np.asarray(np.all(used, axis=0) & (responses.responses_per_annotator > more_than))


@cache
def warm_up(method: str, n_classes: int) -> None:
    """Let kernels compile for this number of classes before anything is timed."""
    tiny = simulate(300, 15, n_classes, np.random.default_rng(0), skill=0.5)
    try:
        METHODS[method](Known(tiny.responses, tiny.truth, tiny.model))
    except BlindfuseError:
        return


def chernoff_bound(model: Model) -> float:
    """Theorem 2's bound in percent, at these confusion matrices and shares.

    Σ_{k<l} min_s π_k^{1−s} π_l^s Π_m Σ_a Γ_m(a, k)^{1−s} Γ_m(a, l)^s: the proof's union bound (48)
    over pairs of classes, each bounded by Chernoff's.
    """
    K = len(model.prior)
    logs, shares = np.log(np.maximum(model.confusions, 1e-300)), np.log(model.prior)
    total = 0.0
    for one in range(K):
        for other in range(one + 1, K):
            exponents = [
                (1 - s) * shares[one]
                + s * shares[other]
                + np.log(
                    np.exp((1 - s) * logs[:, :, one] + s * logs[:, :, other]).sum(axis=1)
                ).sum()
                for s in np.linspace(0.01, 0.99, 99)
            ]
            total += float(np.exp(min(exponents)))
    return 100 * total


def _scores(method: str, fitted: Any, known: Known) -> Found:
    posteriors = getattr(fitted, "posteriors_", None)
    posteriors = fitted.posteriors if posteriors is None else posteriors
    found = _errors("error", posteriors, known)
    model = getattr(fitted, "model_", None) or getattr(fitted, "model", None)
    if isinstance(model, Model) and known.model is not None:
        found["confusion_error"] = confusion_error(model, known.model)
        found["prior_error"] = prior_error(model, known.model)
    if method in (OURS, ORACLE) and isinstance(model, Model):
        found |= _errors("error_ml", model.posteriors(known.responses, rule="ml"), known)
    if method == ORACLE and known.model is not None:
        found["bound"] = chernoff_bound(known.model)
    if method in (OURS, PLAIN):
        found["sweeps"] = fitted.trace_.sweeps
        found["sweep_seconds"] = float(fitted.trace_.seconds.sum())
        found["stopped"] = fitted.stopped_
    if hasattr(fitted, "why"):
        found["chosen"] = fitted.method
    return found


def _errors(name: str, posteriors: NDArray[np.float64], known: Known) -> Found:
    """Error % on items of known truth that have answers, and on all of them."""
    answered = known.responses.responses_per_item > 0
    found: Found = {name: 100 * error_rate(posteriors[answered], known.truth[answered])}
    found[f"all_{name}"] = 100 * error_rate(posteriors, known.truth)
    return found
