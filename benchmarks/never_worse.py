"""fuse compared with the majority vote on every table that has a truth, by family."""

import warnings
from collections.abc import Iterator
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
from experiments.table_variants import MAX_ITEMS, variants_of
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


VARIANT_SEEDS = range(2)
MAX_ABOVE = 0.05
"""Share of variants on which fuse may exceed its limit; noise alone exceeds 2.3 % of them."""


@dataclass(frozen=True, eq=False)
class VariantTable(Table):
    """A variant of a table."""

    variant: str


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
    """The probability that the label is wrong if ties are broken at random, ``[item]``.

    A true class of K or more is one that nobody reports.
    """
    K = scores.shape[1]
    largest = scores == scores.max(axis=1, keepdims=True)
    right = largest[np.arange(len(truth)), np.minimum(truth, K - 1)] & (truth < K)
    return np.asarray(1 - right / largest.sum(axis=1))


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


def variants() -> Section:
    """Error of fuse minus the vote's on variants of all tables, by family and variant."""
    section = Section(
        "fuse compared with the majority vote on variants of the tables, points",
        ["family", "variant", "tables", "vote %", "mean difference", "above the limit", "largest"],
    )
    if not has_data():
        section.note = LEFT_OUT
        return section
    groups: dict[tuple[str, str], list[Measured]] = {}
    for table in _variant_tables():
        groups.setdefault((table.family, table.variant), []).append(measure(table))
    for (family, variant), found in groups.items():
        section.rows.append([family, variant, str(len(found)), *_summarize(found)])
    everything = [one for found in groups.values() for one in found]
    section.rows.append(["all", "all", str(len(everything)), *_summarize(everything)])
    above = fmean(one.errors.difference > one.limit for one in everything)
    section.checks = [
        Check("share of tables above their limit, %", 100 * above, 100 * MAX_ABOVE),
        Check("mean difference, points", fmean(_differences(everything)), 0.0),
    ]
    section.note = (
        f"Each table with a truth, at most {MAX_ITEMS:,} items of it, {len(VARIANT_SEEDS)} draws "
        "of each variant (experiments/table_variants.py). The limit is 0.3 points (0.5 for "
        "ensembles) and at least two standard errors of the paired difference, which a method that "
        "is as good as "
        "the vote exceeds in 2.3 % of the tables. Models that are averaged, and the bound of "
        "corrections, were chosen with other draws of these variants in view."
    )
    return section


def _variant_tables() -> Iterator[VariantTable]:
    """Variants of the tables with at least 30 items whose truth is known."""
    for load in all_tables():
        table = load()
        for seed in VARIANT_SEEDS:
            drawn = variants_of(table.name, table.responses, table.truth, seed)
            for variant, responses, truth in drawn:
                yield VariantTable(table.name, table.family, responses, truth, variant)


def _summarize(found: list[Measured]) -> list[str]:
    differences = _differences(found)
    above = sum(one.errors.difference > one.limit for one in found)
    vote = fmean(one.errors.vote for one in found)
    return [f"{vote:.1f}", f"{fmean(differences):+.2f}", str(above), f"{max(differences):+.1f}"]


def _differences(found: list[Measured]) -> list[float]:
    return [one.errors.difference for one in found]


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
