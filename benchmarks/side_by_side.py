"""Other libraries and blindfuse on the same answers: time, peak memory, error over the oracle's.

Each fits in a process of its own, one after another, by its defaults, to the same three draws.
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
from blindfuse.model.posteriors import vote_shares
from children import in_child, measured
from experiments.settings import FIGURE_3
from report import Check, Section

SEEDS = range(3)

Codes = NDArray[Any]
Draw = Callable[[int, int], Simulation]


class Contestant(NamedTuple):
    """A method: answers as it wants them, and what it makes of them, a class an item."""

    table: Callable[[Responses], Any]
    labels: Callable[[Any], Codes]


class Score(NamedTuple):
    """Means over the draws."""

    seconds: float
    mebibytes: float
    error: float


def as_they_are(responses: Responses) -> Responses:
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
    from crowdkit.aggregation import DawidSkene as Theirs

    return np.asarray(Theirs().fit_predict(table).sort_index())


def as_matrix(responses: Responses) -> tuple[Codes, int]:
    return np.array(responses.matrix(), dtype=int), responses.n_classes


def by_snorkel(table: tuple[Codes, int]) -> Codes:
    from snorkel.labeling.model import LabelModel

    matrix, n_classes = table
    model = LabelModel(cardinality=n_classes, verbose=False)
    model.fit(matrix, seed=0, progress_bar=False)
    return np.asarray(model.predict_proba(matrix).argmax(axis=1))


def with_shares(responses: Responses) -> tuple[Codes, Codes]:
    """Answers as cleanlab wants them: NaN for none, with the beliefs of a classifier beside."""
    matrix = np.array(responses.matrix(), dtype=float)
    matrix[matrix < 0] = np.nan
    return matrix, vote_shares(responses)


def by_cleanlab(table: tuple[Codes, Codes]) -> Codes:
    from cleanlab.multiannotator import get_label_quality_multiannotator

    found = get_label_quality_multiannotator(*table, verbose=False)
    return np.asarray(found["label_quality"]["consensus_label"])


CONTESTANTS = {
    "DawidSkene": Contestant(as_they_are, by_dawid_skene),
    "BlindEnsemble": Contestant(as_they_are, by_blind_ensemble),
    "fuse": Contestant(as_they_are, by_fuse),
    "crowd-kit's DawidSkene": Contestant(as_frame, by_crowd_kit),
    "snorkel's LabelModel": Contestant(as_matrix, by_snorkel),
    "cleanlab's multiannotator": Contestant(with_shares, by_cleanlab),
}


def complete_answers(n_items: int, seed: int) -> Simulation:
    return FIGURE_3.draw(n_items, seed)


def sparse_answers(n_items: int, seed: int) -> Simulation:
    """Ten labels an item by 500 annotators, four classes; every item has at least one."""
    drawn = simulate(n_items, 500, 4, np.random.default_rng([seed, n_items]), missing=0.98)
    answered = drawn.responses.responses_per_item > 0
    return Simulation(drawn.responses.select_items(answered), drawn.truth[answered], drawn.model)


def complete(n_items: int = 10**5) -> Section:
    """Ten annotators who answer everything."""
    title = f"N = {n_items:,}, M = 10, K = 5"
    section, scores = _compared(title, complete_answers, n_items, list(CONTESTANTS))
    ours, theirs = scores["DawidSkene"], scores["crowd-kit's DawidSkene"]
    section.checks = [
        _faster("DawidSkene", "crowd-kit's DawidSkene", scores, 100),
        Check("DawidSkene's memory in crowd-kit's", ours.mebibytes / theirs.mebibytes, 0.2),
    ]
    for name in ("DawidSkene", "BlindEnsemble", "fuse"):
        section.checks.append(_faster(name, "snorkel's LabelModel", scores, 10))
        section.checks.append(_more_right(name, "snorkel's LabelModel", scores))
    return section


def sparse(n_items: int = 10**4) -> Section:
    """Many annotators who answer little."""
    title = f"a sparse crowd, {10 * n_items:,} labels, M = 500, K = 4"
    names = [name for name in CONTESTANTS if name != "snorkel's LabelModel"]
    section, scores = _compared(title, sparse_answers, n_items, names)
    section.note += " snorkel is left out: with so many annotators it takes minutes a draw."
    section.checks = [
        _faster("DawidSkene", "crowd-kit's DawidSkene", scores, 30),
        _faster("fuse", "crowd-kit's DawidSkene", scores, 10),
        _more_right("fuse", "crowd-kit's DawidSkene", scores),
    ]
    return section


def _compared(
    title: str, draw: Draw, n_items: int, names: list[str]
) -> tuple[Section, dict[str, Score]]:
    libraries = ", ".join(
        f"{name} {version(name)}" for name in ("crowd-kit", "snorkel", "cleanlab")
    )
    section = Section(
        f"Beside {libraries}: {title}, {len(SEEDS)} draws",
        ["method", "time, in fuse's", "peak memory, in fuse's", "error %", "over the oracle's"],
        note="Each by its defaults. cleanlab scores labels by a classifier's beliefs; here the "
        "shares of votes stand for them.",
    )
    best = in_child(oracle_error, draw, n_items)
    scores = {name: in_child(score, name, draw, n_items) for name in names}
    section.rows = [
        [
            name,
            f"{found.seconds / scores['fuse'].seconds:.2f} ×",
            f"{found.mebibytes / scores['fuse'].mebibytes:.2f} ×",
            f"{100 * found.error:.2f}",
            f"{found.error / best:.3f} ×",
        ]
        for name, found in scores.items()
    ]
    return section, scores


def score(name: str, draw: Draw, n_items: int) -> Score:
    """One contestant on every draw, after a small one that imports and compiles."""
    contestant = CONTESTANTS[name]
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        contestant.labels(contestant.table(draw(1000, 0).responses))
        for seed in SEEDS:
            drawn = draw(n_items, seed)
            table = contestant.table(drawn.responses)
            run = measured(partial(contestant.labels, table))
            error = error_rate(_certain(run.result, drawn), drawn.truth)
            rows.append((run.seconds, run.mebibytes, error))
    return Score(*np.mean(rows, axis=0))


def oracle_error(draw: Draw, n_items: int) -> float:
    drawn = [draw(n_items, seed) for seed in SEEDS]
    oracles = (Oracle(model=each.model).fit(each.responses) for each in drawn)
    errors = [error_rate(o.posteriors_, d.truth) for o, d in zip(oracles, drawn, strict=True)]
    return float(np.mean(errors))


def _certain(labels: Codes, drawn: Simulation) -> NDArray[np.float64]:
    """Labels as beliefs ``[item, class]``; classes of a simulation are their codes."""
    return np.asarray(labels[:, None] == drawn.responses.classes, dtype=float)


def _faster(ours: str, theirs: str, scores: dict[str, Score], asked: float) -> Check:
    ratio = scores[theirs].seconds / scores[ours].seconds
    return Check(f"{ours}, times faster than {theirs}", ratio, asked, at_most=False)


def _more_right(ours: str, theirs: str, scores: dict[str, Score]) -> Check:
    ratio = scores[ours].error / scores[theirs].error
    return Check(f"{ours}'s error in that of {theirs}", ratio, 1.0)
