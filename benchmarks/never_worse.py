"""fuse compared with the majority vote on every table that has a truth, by family."""

import warnings
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accuracy import LEFT_OUT
from blindfuse import BlindEnsemble, NotConverged, fuse
from blindfuse.model.posteriors import vote_posteriors
from experiments.methods import FEW_SWEEPS
from report import Check, Section
from tables import Table, all_tables
from trust import has_data

Floats = NDArray[np.float64]

MAX_LOSS = {"ensembles": 0.5}
"""Points by which fuse may be worse than the vote in any case, by family; 0.3 in the others."""
MIN_GAIN = {
    "crowds": 3.3,
    "APIs": 2.8,
    "weak supervision": 1.5,
    "LLM juries": 1.0,
    "ensembles": 0.3,
}
"""Points by which the mean error of a family must be below the vote's."""


@dataclass(frozen=True)
class PairedErrors:
    """Errors of the vote and of fuse on the same items, and their difference, in points.

    ``noise`` is the standard error of the difference. Of c tied classes, the vote's label is right
    with probability 1/c.
    """

    vote: float
    fused: float
    noise: float

    @property
    def difference(self) -> float:
        return self.fused - self.vote


@dataclass(frozen=True)
class Measured:
    """What ``fuse`` did on one table."""

    name: str
    family: str
    errors: PairedErrors
    expected: float
    method: str

    @property
    def limit(self) -> float:
        """The largest difference that is allowed, in points."""
        return max(MAX_LOSS.get(self.family, 0.3), 2 * self.errors.noise)


def compare_errors(votes: Floats, posteriors: Floats, truth: NDArray[np.intp]) -> PairedErrors:
    """Errors of two methods on the items ``[item]`` whose truth is known (not −1)."""
    by_vote, by_fuse = (
        _wrong(scores[truth >= 0], truth[truth >= 0]) for scores in (votes, posteriors)
    )
    noise = np.std(by_fuse - by_vote) / np.sqrt(max(len(by_vote), 1))
    return PairedErrors(100 * by_vote.mean(), 100 * by_fuse.mean(), float(100 * noise))


def _wrong(scores: Floats, truth: NDArray[np.intp]) -> Floats:
    """The probability that the label is wrong if ties are broken at random, ``[item]``."""
    largest = scores == scores.max(axis=1, keepdims=True)
    return np.asarray(1 - largest[np.arange(len(truth)), truth] / largest.sum(axis=1))


def measure(table: Table) -> Measured:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        fusion = fuse(table.responses)
    errors = compare_errors(vote_posteriors(table.responses), fusion.posteriors, table.truth)
    expected = 100 * fusion.diagnostics.expected_error.value
    return Measured(table.name, table.family, errors, expected, fusion.method)


@cache
def measure_all() -> tuple[Measured, ...]:
    return tuple(measure(load()) for load in all_tables())


def all_tables_with_truth() -> Section:
    """Error of fuse minus the vote's on every table, and its mean by family."""
    section = Section(
        "fuse compared with the majority vote on every table with a truth, error %",
        ["family", "table", "vote", "fuse", "difference", "noise", "limit", "expected", "method"],
    )
    if not has_data():
        section.note = LEFT_OUT
        return section
    found = measure_all()
    for one in found:
        errors = one.errors
        figures = errors.vote, errors.fused, errors.difference, errors.noise, one.limit
        cells = [f"{figure:.2f}" for figure in (*figures, one.expected)]
        section.rows.append([one.family, one.name, *cells, one.method])
        if errors.difference > one.limit:
            section.checks.append(
                Check(f"{one.name}: fuse minus the vote, points", errors.difference, one.limit)
            )
    excess = max(one.errors.difference - one.limit for one in found)
    section.checks.append(Check("largest difference minus its limit, points", excess, 0.0))
    for family, least in MIN_GAIN.items():
        gains = [-one.errors.difference for one in found if one.family == family]
        name = f"{family}: mean gain over the vote on {len(gains)} tables, points"
        section.checks.append(Check(name, fmean(gains), least, at_most=False))
    section.note = (
        "Noise is the standard error of the paired difference; the limit is twice that, and at "
        "least 0.3 points (0.5 for ensembles). Ensembles are fifteen classifiers as in Section V-B "
        "and eleven others; none is trained on the rows it labels."
    )
    return section


def depth() -> Section:
    """Alg. 2 after a few plain sweeps and converged, on the ensembles of Table VIII."""
    section = Section(
        f"Alg. 2 after {FEW_SWEEPS} plain sweeps and converged: fifteen classifiers, error %",
        ["table", "vote", f"{FEW_SWEEPS} sweeps", "converged", "difference to the vote"],
        note="Classifiers are trained on other rows. They share features, so their errors are "
        "correlated, and Alg. 2 converges to a model that follows the correlation. A few sweeps "
        "from the vote stay near it: they regularise. `BlindEnsemble(max_sweeps=10, "
        "acceleration=None)`; `fuse` decides between vote and models without the truth.",
    )
    if not has_data():
        section.note = LEFT_OUT
        return section
    losses = []
    for load in all_tables():
        if ", paper, " not in load.name:
            continue
        table = load()
        votes = vote_posteriors(table.responses)
        few, converged = (
            compare_errors(votes, _fit_depth(table, **depth), table.truth)
            for depth in ({"max_sweeps": FEW_SWEEPS, "acceleration": None}, {})
        )
        losses.append(few.difference)
        figures = few.vote, few.fused, converged.fused
        cells = [f"{figure:.2f}" for figure in figures]
        section.rows.append([table.name, *cells, f"{few.difference:+.2f}"])
    worse = sum(loss > MAX_LOSS["ensembles"] for loss in losses)
    section.checks = [
        Check(f"mean difference of {FEW_SWEEPS} sweeps to the vote, points", fmean(losses), 0.0),
        Check("ensembles on which they are more than 0.5 points above the vote", worse, 0),
    ]
    return section


def _fit_depth(table: Table, **parameters: Any) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return BlindEnsemble(**parameters).fit(table.responses).posteriors_
