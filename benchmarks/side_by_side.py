"""Comparison with several libraries on the same responses: time, peak memory and error.

Each method runs with default options in its own process, on the same three simulations.
"""

import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse import BlindEnsemble, DawidSkene, Oracle, Responses, Simulation, fuse, simulate
from blindfuse.metrics import error_rate
from blindfuse.model.posteriors import vote_posteriors
from children import in_child, measure
from experiments.settings import FIGURE_3
from report import Check, Section

SEEDS = range(3)

Codes = NDArray[Any]
Draw = Callable[[int, int], Simulation]


class Method(NamedTuple):
    """A method: its format of responses, and a function that labels the items."""

    table: Callable[[Responses], Any]
    labels: Callable[[Any], Codes]


class Score(NamedTuple):
    """Means over the simulations."""

    seconds: float
    mebibytes: float
    error: float


def unchanged(responses: Responses) -> Responses:
    return responses


def by_dawid_skene(responses: Responses) -> Codes:
    return DawidSkene().fit(responses).labels_


def by_blind_ensemble(responses: Responses) -> Codes:
    return BlindEnsemble().fit(responses).labels_


def by_fuse(responses: Responses) -> Codes:
    return fuse(responses).labels


def as_frame(responses: Responses) -> Any:
    from crowd_kit import frame

    return frame(responses)


def by_crowd_kit(table: Any) -> Codes:
    from crowdkit import aggregation

    return np.asarray(aggregation.DawidSkene().fit_predict(table).sort_index())


def as_matrix(responses: Responses) -> tuple[Codes, int]:
    return np.array(responses.matrix(), dtype=int), responses.n_classes


def by_snorkel(table: tuple[Codes, int]) -> Codes:
    from snorkel.labeling.model import LabelModel

    matrix, n_classes = table
    model = LabelModel(cardinality=n_classes, verbose=False)
    model.fit(matrix, seed=0, progress_bar=False)
    return np.asarray(model.predict_proba(matrix).argmax(axis=1))


def with_probabilities(responses: Responses) -> tuple[Codes, Codes]:
    """Return the responses in cleanlab's format, NaN if missing, and predicted probabilities."""
    matrix = np.array(responses.matrix(), dtype=float)
    matrix[matrix < 0] = np.nan
    return matrix, vote_posteriors(responses)


def by_cleanlab(table: tuple[Codes, Codes]) -> Codes:
    from cleanlab.multiannotator import get_label_quality_multiannotator

    quality = get_label_quality_multiannotator(*table, verbose=False)
    return np.asarray(quality["label_quality"]["consensus_label"])


METHODS = {
    "DawidSkene": Method(unchanged, by_dawid_skene),
    "BlindEnsemble": Method(unchanged, by_blind_ensemble),
    "fuse": Method(unchanged, by_fuse),
    "crowd-kit's DawidSkene": Method(as_frame, by_crowd_kit),
    "snorkel's LabelModel": Method(as_matrix, by_snorkel),
    "cleanlab's multiannotator": Method(with_probabilities, by_cleanlab),
}


def complete_responses(n_items: int, seed: int) -> Simulation:
    return FIGURE_3.draw(n_items, seed)


def sparse_responses(n_items: int, seed: int) -> Simulation:
    """Simulate about ten labels per item by 500 annotators; items without labels are dropped."""
    drawn = simulate(n_items, 500, 4, np.random.default_rng([seed, n_items]), missing=0.98)
    labelled = drawn.responses.responses_per_item > 0
    return Simulation(drawn.responses.select_items(labelled), drawn.truth[labelled], drawn.model)


def complete(n_items: int = 10**5) -> Section:
    """Ten annotators who label all items."""
    title = f"N = {n_items:,}, M = 10, K = 5"
    section, scores = _compare(title, complete_responses, n_items, list(METHODS))
    own, peer = scores["DawidSkene"], scores["crowd-kit's DawidSkene"]
    section.checks = [
        _speedup("DawidSkene", "crowd-kit's DawidSkene", scores, 100),
        Check("peak memory of DawidSkene / crowd-kit's", own.mebibytes / peer.mebibytes, 0.2),
    ]
    for name in ("DawidSkene", "BlindEnsemble", "fuse"):
        section.checks.append(_speedup(name, "snorkel's LabelModel", scores, 10))
        section.checks.append(_error_ratio(name, "snorkel's LabelModel", scores))
    return section


def sparse(n_items: int = 10**4) -> Section:
    """Many annotators who label few items each."""
    title = f"a sparse crowd, {10 * n_items:,} labels, M = 500, K = 4"
    names = [name for name in METHODS if name != "snorkel's LabelModel"]
    section, scores = _compare(title, sparse_responses, n_items, names)
    section.note += " snorkel is left out: with 500 annotators it takes minutes per simulation."
    section.checks = [
        _speedup("DawidSkene", "crowd-kit's DawidSkene", scores, 30),
        _speedup("fuse", "crowd-kit's DawidSkene", scores, 10),
        _error_ratio("fuse", "crowd-kit's DawidSkene", scores),
    ]
    return section


def _compare(
    title: str, draw: Draw, n_items: int, names: list[str]
) -> tuple[Section, dict[str, Score]]:
    libraries = ", ".join(
        f"{name} {version(name)}" for name in ("crowd-kit", "snorkel", "cleanlab")
    )
    section = Section(
        f"Compared with {libraries}: {title}, {len(SEEDS)} simulations",
        ["method", "time / fuse's", "peak memory / fuse's", "error %", "error / oracle's"],
        note="All methods run with default options. cleanlab rates labels by the predicted "
        "probabilities of a classifier; here the vote shares are used instead.",
    )
    oracle = in_child(oracle_error, draw, n_items)
    scores = {name: in_child(score, name, draw, n_items) for name in names}
    section.rows = [
        [
            name,
            f"{result.seconds / scores['fuse'].seconds:.2f} ×",
            f"{result.mebibytes / scores['fuse'].mebibytes:.2f} ×",
            f"{100 * result.error:.2f}",
            f"{result.error / oracle:.3f} ×",
        ]
        for name, result in scores.items()
    ]
    return section, scores


def score(name: str, draw: Draw, n_items: int) -> Score:
    """Measure a method on every simulation, after a small one to import and compile."""
    method = METHODS[name]
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method.labels(method.table(draw(3000, 0).responses))
        for seed in SEEDS:
            drawn = draw(n_items, seed)
            table = method.table(drawn.responses)
            run = measure(partial(method.labels, table))
            error = error_rate(_one_hot(run.result, drawn), drawn.truth)
            rows.append((run.seconds, run.mebibytes, error))
    return Score(*np.mean(rows, axis=0))


def oracle_error(draw: Draw, n_items: int) -> float:
    simulations = [draw(n_items, seed) for seed in SEEDS]
    errors = [
        error_rate(Oracle(model=drawn.model).fit(drawn.responses).posteriors_, drawn.truth)
        for drawn in simulations
    ]
    return float(np.mean(errors))


def _one_hot(labels: Codes, drawn: Simulation) -> NDArray[np.float64]:
    """Return the labels as posteriors ``[item, class]``; simulated classes are their codes."""
    return np.asarray(labels[:, None] == drawn.responses.classes, dtype=float)


def _speedup(own: str, peer: str, scores: dict[str, Score], required: float) -> Check:
    ratio = scores[peer].seconds / scores[own].seconds
    return Check(f"speedup of {own} over {peer}", ratio, required, at_most=False)


def _error_ratio(own: str, peer: str, scores: dict[str, Score]) -> Check:
    ratio = scores[own].error / scores[peer].error
    return Check(f"error of {own} / error of {peer}", ratio, 1.0)
