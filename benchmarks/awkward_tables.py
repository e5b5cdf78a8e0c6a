"""fuse on generated tables of kinds that public data lack, on ties and on random responses."""

import warnings
from functools import partial

import numpy as np

from blindfuse import NotConverged, Responses, fuse
from blindfuse.model.posteriors import vote_posteriors
from experiments.awkward_crowds import KINDS, Kind, crowd_of
from measured_tables import MAX_LOSS, PairedErrors, compare_errors
from report import Check, Section

SEEDS = range(3)
FRESH_SEEDS = range(100, 120)
"""Draws of the kinds that are worse than the vote with the first seeds. Of so many kinds, two in a
hundred exceed twice the noise by chance, and three seeds do not measure the noise well."""
TIED_TABLES = 20
RANDOM_TABLES = 20


def generated() -> Section:
    """Error of fuse minus the vote's, for every kind of table."""
    section = Section(
        "fuse on generated tables, error %",
        ["kind", "vote", "difference", "noise", "largest", "methods"],
        note=f"{len(KINDS)} kinds, {len(SEEDS)} seeds each. Noise is the standard error of the "
        "mean difference over seeds, at least that of the paired differences of the items. A kind "
        "is worse than the vote if the mean difference exceeds both 0.3 points and twice the "
        f"noise. Such kinds are measured again with {len(FRESH_SEEDS)} fresh seeds, which the "
        "checks show.",
    )
    worse = 0
    for kind in KINDS:
        found, methods = _measure(kind, SEEDS)
        if not found:
            continue
        differences = np.array([one.difference for one in found])
        mean, noise, limit = _summarize(found)
        section.rows.append(
            [
                kind.name,
                f"{np.mean([one.vote for one in found]):.2f}",
                f"{mean:+.2f}",
                f"{noise:.2f}",
                f"{differences.max():+.2f}",
                ", ".join(sorted(methods)),
            ]
        )
        if mean > limit:
            mean, noise, limit = _summarize(_measure(kind, FRESH_SEEDS)[0])
            worse += mean > limit
            section.checks.append(Check(f"{kind.name}: fuse minus the vote, points", mean, limit))
    section.checks.append(Check("kinds of tables worse than the vote", worse, 0))
    return section


def _summarize(found: list[PairedErrors]) -> tuple[float, float, float]:
    """The mean difference, its noise, and the limit above which the kind counts as worse."""
    noise = mean_noise(found)
    mean = float(np.mean([one.difference for one in found]))
    return mean, noise, max(MAX_LOSS, 2 * noise)


def mean_noise(found: list[PairedErrors]) -> float:
    """Standard error of the mean difference: over seeds, or by the items if that is larger."""
    differences = np.array([one.difference for one in found])
    by_items = np.sqrt(np.mean([one.noise**2 for one in found]))
    by_seeds = differences.std(ddof=1) if len(found) > 1 else 0.0
    return float(max(by_items, by_seeds) / np.sqrt(len(found)))


def _measure(kind: Kind, seeds: range) -> tuple[list[PairedErrors], set[str]]:
    found, methods = [], set()
    for seed in seeds:
        crowd = kind.crowd(seed)
        if not (crowd.truth >= 0).any():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            fusion = fuse(crowd.responses)
        votes = vote_posteriors(crowd.responses)
        found.append(compare_errors(votes, fusion.posteriors, crowd.truth))
        methods.add(fusion.method)
    return found, methods


def ties() -> Section:
    """Two responses per item, so that most disagreements are ties."""
    section = Section(
        f"Ties: two responses per item, {TIED_TABLES} tables each, error %",
        ["K", "M", "ties %", "vote, ties at random", "fuse", "worse by two standard errors"],
        note="600 items, annotators of mixed skill (`crowd_of` in experiments/awkward_crowds.py). "
        "fuse breaks ties by one iteration of EM, and by how often classes are reported.",
    )
    for K, M in ((2, 10), (4, 10), (4, 40)):
        found, tied = [], []
        for seed in range(TIED_TABLES):
            draw = partial(crowd_of, M=M, K=K, per_item=2)
            crowd = Kind("two responses", f"K = {K}", draw).crowd(seed)
            votes = vote_posteriors(crowd.responses)
            found.append(compare_errors(votes, fuse(crowd.responses).posteriors, crowd.truth))
            tied.append(np.mean(votes.max(axis=1) < 1))
        vote, fused = (np.mean([getattr(one, name) for one in found]) for name in ("vote", "fused"))
        worse = sum(one.difference > 2 * one.noise for one in found)
        cells = [f"{figure:.1f}" for figure in (100 * np.mean(tied), vote, fused)]
        section.rows.append([str(K), str(M), *cells, str(worse)])
        where = f"K = {K}, M = {M}"
        section.checks += [
            Check(f"{where}: fuse minus the vote, points", float(fused - vote), 0.0),
            Check(f"{where}: tables that are worse by two standard errors", worse, 1),
        ]
    return section


def no_information() -> Section:
    """Annotators who click at random: no expected error must be stated."""
    section = Section(
        f"No information: annotators who report classes at random, {RANDOM_TABLES} tables each",
        ["rate of the second class", "N", "M", "expected error stated %", "labels of the vote %"],
        note="The test for agreement beyond chance has a level of 2.5 % on this side.",
    )
    for rate, N, M in ((0.5, 300, 5), (0.5, 3000, 10), (0.1, 300, 5), (0.1, 3000, 10)):
        stated, same = [], []
        for seed in range(RANDOM_TABLES):
            rng = np.random.default_rng([seed, N])
            matrix = (rng.random((N, M)) < rate).astype(np.intp)
            fusion = fuse(Responses.from_matrix(matrix))
            votes = vote_posteriors(fusion.responses)
            stated.append(fusion.expected_error is not None)
            largest = votes[np.arange(N), fusion.posteriors.argmax(axis=1)] == votes.max(axis=1)
            same.append(largest.mean())
        cells = [f"{100 * np.mean(figures):.1f}" for figures in (stated, same)]
        section.rows.append([str(rate), f"{N:,}", str(M), *cells])
        name = f"rate {rate}, N = {N:,}: tables with an expected error, %"
        section.checks.append(Check(name, float(100 * np.mean(stated)), 10))
    return section
