"""A task: one method on one set of responses. Tasks are run, stored and resumed one by one."""

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
from experiments.methods import ALG_2, METHODS, ORACLE, PLAIN_ALG_1, UNACCELERATED, LabelledData
from experiments.settings import SETTINGS, Setting
from experiments.trained_classifiers import SUBSETS, label_dataset

Measurements = dict[str, float | str]
"""Measurements of a task by name: ``error`` in percent, ``seconds``, …"""

FILTERS = {"adult": 371, "trec": 708}
"""Table IX keeps annotators who gave more labels than this and used every class.

The paper says 370 for adult, which gives 39 annotators once repeated labels are merged; 371 gives
the paper's 38.
"""


@dataclass(frozen=True)
class Task:
    """A method and its data: a setting of Section V-A, a dataset of V-B or a crowd of V-C."""

    source: str
    method: str
    seed: int = 0
    n_items: int | None = None
    n_annotators: int | None = None
    adversaries: float = 0.0
    skill: float = 0.0
    filtered: bool = False

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults."""
        defaults = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != defaults[name]}

    @property
    def data_key(self) -> "Task":
        """A key of the data: equal for all methods on the same responses."""
        return replace(self, method="")


def synthetic_tasks(
    setting: Setting,
    methods: Iterable[str],
    sizes: Iterable[int],
    seeds: Iterable[int],
    **more: Any,
) -> list[Task]:
    """Return one task per method, size and seed; unaccelerated methods run with one seed only."""
    methods = list(methods)
    return [
        Task(setting.name, method, seed, size, **more)
        for size in sizes
        for seed in seeds
        for method in methods
        if method not in UNACCELERATED or seed == 0
    ]


def run_task(task: Task, folder: str | None) -> Measurements:
    """Return the error in percent, the seconds, and further measurements of the method.

    If the method raises an error, its message is returned as ``failed``; unavailable data raise.
    """
    task_started = perf_counter()
    data = load_data(task.data_key, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        warnings.simplefilter("ignore", RankTooLow)
        warm_up(task.method, data.responses.n_classes)
        started = perf_counter()
        try:
            fitted = METHODS[task.method](data)
        except BlindfuseError as error:
            return {"failed": str(error), "spent": perf_counter() - task_started}
        seconds = perf_counter() - started
    measurements: Measurements = {"seconds": seconds, **_scores(task.method, fitted, data)}
    measurements["spent"] = perf_counter() - task_started
    measurements["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return measurements


@lru_cache(maxsize=1)
def load_data(key: Task, folder: str | None) -> LabelledData:
    """Simulate or load the responses of a task; the last ones are cached for the next method."""
    if key.source in SETTINGS:
        simulation = SETTINGS[key.source].draw(
            key.n_items or 0,
            key.seed,
            key.skill,
            key.n_annotators,
            key.adversaries,
            same_annotators=True,
        )
        return LabelledData(simulation.responses, simulation.truth, simulation.model)
    if key.source in SUBSETS:
        crowd = label_dataset(key.source, key.seed, key.n_items, folder)
    else:
        crowd = load(key.source, folder)
    responses = crowd.responses
    if key.filtered:  # items that lose all their responses stay
        responses = responses.select_annotators(active_annotators(responses, FILTERS[key.source]))
    return LabelledData(responses, crowd.truth)


def active_annotators(responses: Responses, more_than: int) -> NDArray[np.bool_]:
    """Return a mask of annotators who used every class and gave more labels than this."""
    matrix = responses.matrix()
    used = [(matrix == code).any(axis=0) for code in range(responses.n_classes)]
    return np.asarray(np.all(used, axis=0) & (responses.responses_per_annotator > more_than))


@cache
def warm_up(method: str, n_classes: int) -> None:
    """Compile the kernels for this number of classes before anything is timed."""
    small = simulate(300, 15, n_classes, np.random.default_rng(0), skill=0.5)
    try:
        METHODS[method](LabelledData(small.responses, small.truth, small.model))
    except BlindfuseError:
        return


def chernoff_bound(model: Model) -> float:
    """Return the bound of Theorem 2 in percent for this model.

    Σ_{k<l} min_s π_k^{1−s} π_l^s Π_m Σ_a Γ_m(a, k)^{1−s} Γ_m(a, l)^s: the union bound (48) of the
    proof over pairs of classes, with Chernoff's bound for each pair.
    """
    K = len(model.prior)
    log_confusions = np.log(np.maximum(model.confusions, 1e-300))
    log_prior = np.log(model.prior)
    total = 0.0
    for k in range(K):
        for l in range(k + 1, K):
            exponents = []
            for s in np.linspace(0.01, 0.99, 99):
                mixed = np.exp((1 - s) * log_confusions[:, :, k] + s * log_confusions[:, :, l])
                prior_term = (1 - s) * log_prior[k] + s * log_prior[l]
                exponents.append(prior_term + np.log(mixed.sum(axis=1)).sum())
            total += float(np.exp(min(exponents)))
    return 100 * total


def _scores(method: str, fitted: Any, data: LabelledData) -> Measurements:
    """Return errors of the labels and of the model, and what the solver and fuse() report."""
    posteriors = getattr(fitted, "posteriors_", None)
    posteriors = fitted.posteriors if posteriors is None else posteriors
    scores = _errors("error", posteriors, data)
    model = getattr(fitted, "model_", None) or getattr(fitted, "model", None)
    if isinstance(model, Model) and data.model is not None:
        scores["confusion_error"] = confusion_error(model, data.model)
        scores["prior_error"] = prior_error(model, data.model)
    if method in (ALG_2, ORACLE) and isinstance(model, Model):
        scores |= _errors("error_ml", model.posteriors(data.responses, rule="ml"), data)
    if method == ORACLE and data.model is not None:
        scores["bound"] = chernoff_bound(data.model)
    if method in (ALG_2, PLAIN_ALG_1):
        scores["sweeps"] = fitted.trace_.sweeps
        scores["sweep_seconds"] = float(fitted.trace_.seconds.sum())
        scores["stopped"] = fitted.stopped_
    if hasattr(fitted, "why"):
        scores["chosen"] = fitted.method
    return scores


def _errors(name: str, posteriors: NDArray[np.float64], data: LabelledData) -> Measurements:
    """Return the error in percent on gold items with responses, and on all gold items."""
    labelled = data.responses.responses_per_item > 0
    errors: Measurements = {name: 100 * error_rate(posteriors[labelled], data.truth[labelled])}
    errors[f"all_{name}"] = 100 * error_rate(posteriors, data.truth)
    return errors
