"""Errors: against the oracle on the paper's synthetic settings, and on public crowds."""

import os
import warnings
from collections.abc import Callable
from itertools import pairwise
from statistics import fmean
from typing import Literal

import numpy as np

from blindfuse import (
    KOS,
    BadLabels,
    BayesianDawidSkene,
    BlindEnsemble,
    DawidSkene,
    MajorityVote,
    NotConverged,
    RankTooLow,
    Responses,
    simulate,
)
from blindfuse.datasets import Crowd, load
from blindfuse.estimators.base import Estimator
from blindfuse.estimators.registry import METHODS
from blindfuse.metrics import confusion_error, error_rate, prior_error
from blindfuse.model.posteriors import vote_shares
from experiments.settings import (
    FIGURE_3,
    FIGURE_4,
    FIGURE_11,
    TABLE_1,
    TABLE_2,
    Setting,
)
from report import Check, Section

SEEDS = range(10)
CROWDS = {"bird": 10.2, "rte": 7.3, "dog": 17.5, "web": 18.5, "trec": 30.0, "adult": 30.0}


PAPER_EM = "EM, no prior, 10 rounds"
EVERY: dict[str, Callable[[], Estimator]] = {
    **METHODS,
    PAPER_EM: lambda: DawidSkene(
        class_prior="uniform", start="shares", shrinkage=None, max_iter=10
    ),
    "KOS, svd": lambda: KOS(variant="svd", ordered=True),
}

Shrinkage = Literal["learned"] | float


def fitted(responses: Responses, shrinkage: Shrinkage = "learned") -> BlindEnsemble:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return BlindEnsemble(shrinkage=shrinkage).fit(responses)


def oracle() -> Section:
    """Algorithm 2 (MAP) against the MAP rule that knows the true confusion matrices and prior."""
    section = Section(
        "Against the oracle, Section V-A, M = 10, mean of 10 seeds",
        ["setting", "N", "vote %", "blindfuse %", "oracle %", "ε_CM", "ε_π"],
    )
    for setting, limits in (
        (TABLE_1, (1.05, 0.1, 10**4)),
        (TABLE_2, (1.05, 0.1, 10**4)),
        (FIGURE_3, (1.05, 0.1, 10**4)),
        (FIGURE_4, (1.1, 0.2, 10**5)),
    ):
        factor, points, least = limits
        trail = []
        for n_items in (10**3, 10**4, 10**5):
            vote, fused, best, matrices, prior = _errors(setting, n_items)
            trail.append((matrices, prior))
            section.rows.append(
                [setting.name, f"{n_items:,}"]
                + [f"{number:.2f}" for number in (vote, fused, best)]
                + [f"{number:.4f}" for number in (matrices, prior)]
            )
            if n_items >= least:
                section.checks.append(
                    Check(f"{setting.name}, N = {n_items:,}", fused, factor * best + points)
                )
        for which, name in enumerate(("ε_CM", "ε_π")):
            falls = max(late[which] / early[which] for early, late in pairwise(trail))
            section.checks.append(
                Check(f"{setting.name}: largest step of {name} when N grows tenfold", falls, 1.0)
            )
    return section


def _errors(setting: Setting, n_items: int) -> list[float]:
    rows = []
    for seed in SEEDS:
        simulation = setting.draw(n_items, seed)
        responses, truth = simulation.responses, simulation.truth
        ensemble = fitted(responses)
        rows.append(
            (
                100 * error_rate(vote_shares(responses), truth),
                100 * error_rate(ensemble.posteriors_, truth),
                100 * error_rate(simulation.model.posteriors(responses), truth),
                confusion_error(ensemble.model_, simulation.model),
                prior_error(ensemble.model_, simulation.model),
            )
        )
    return [fmean(column) for column in zip(*rows, strict=True)]


def crowds() -> Section:
    """Public crowd sets with all their annotators; ties share the credit."""
    section = Section(
        "Public crowds with all their annotators",
        ["set", "items", "annotators", "classes", "labels", "vote %", "blindfuse %", "seconds"],
    )
    if "BLINDFUSE_DATA" not in os.environ:
        section.note = "Left out: BLINDFUSE_DATA names no folder of crowd sets."
        return section
    for name, limit in CROWDS.items():
        crowd = load(name)
        fitted(crowd.responses)
        ensemble = fitted(crowd.responses)
        vote = 100 * error_rate(vote_shares(crowd.responses), crowd.truth)
        fused = 100 * error_rate(ensemble.posteriors_, crowd.truth)
        sizes = ("n_items", "n_annotators", "n_classes", "n_responses")
        seconds = float(ensemble.trace_.seconds.sum())  # type: ignore[union-attr]
        counts = [f"{getattr(crowd.responses, size):,}" for size in sizes]
        section.rows.append([name, *counts, f"{vote:.2f}", f"{fused:.2f}", f"{seconds:.2f}"])
        section.checks.append(Check(f"{name}: error %", fused, limit))
        if name == "trec":
            section.checks.append(Check("trec: seconds of sweeps, compiled", seconds, 4.0))
    section.note = (
        "On adult the majority vote is better: where annotators are not independent given the "
        "class, moment matching drifts away from it. On bird, 11.11 % are 12 of 108 items."
    )
    return section


def methods() -> Section:
    """Every method on the same crowds; the published errors it should reproduce."""
    names = ["trec", "bird", "rte", "web", "dog", "adult"]
    section = Section("Every method on public crowds, error %", ["method", *names])
    if "BLINDFUSE_DATA" not in os.environ:
        section.note = "Left out: BLINDFUSE_DATA names no folder of crowd sets."
        return section
    sets = {name: load(name) for name in names}
    published = {
        "MajorityVote": {"trec": 34.86, "bird": 24.07, "rte": 10.31, "web": 26.93, "dog": 17.78},
        PAPER_EM: {"trec": 30.02, "bird": 11.11, "rte": 7.25, "web": 16.02, "dog": 15.86},
        "KOS, svd": {"bird": 11.11, "rte": 39.75, "web": 42.93},
        "EigenRatio": {"bird": 27.78, "rte": 9.00},
    }
    furthest = 0.0
    for method, make in EVERY.items():
        cells = []
        for name, crowd in sets.items():
            error = _error_of(make(), crowd)
            cells.append("-" if error is None else f"{error:.2f}")
            if error is not None and name in published.get(method, {}):
                furthest = max(furthest, abs(error - published[method][name]))
        section.rows.append([method, *cells])
    section.checks.append(Check("largest distance to a published error, points", furthest, 0.15))
    section.note = "A dash: the method knows two classes only."
    return section


def _error_of(method: Estimator, crowd: Crowd) -> float | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        warnings.simplefilter("ignore", RankTooLow)
        try:
            return 100 * error_rate(method.fit(crowd.responses).posteriors_, crowd.truth)
        except BadLabels:
            return None


def polished() -> Section:
    """EM after the paper's method against the oracle, and how much of the rest EM could mend."""
    section = Section(
        "EM after BlindEnsemble (Remark 2), error over the oracle's, mean of 10 seeds",
        ["setting", "N", "after BlindEnsemble", "from the vote", "Bayesian", "from the true model"],
        note="The last column starts EM at the true confusion matrices and prior, which no blind "
        "method knows: what it lacks to 1 is the price of estimating them from so few items. In "
        "Figure 4's setting the rarest class has 43 of 10,000 items.",
    )
    for setting in (TABLE_1, TABLE_2, FIGURE_3, FIGURE_4):
        for n_items in (10**4, 10**5):
            rows = []
            for seed in SEEDS:
                simulation = setting.draw(n_items, seed)
                responses, truth = simulation.responses, simulation.truth
                methods = (
                    DawidSkene(start="blind"),
                    DawidSkene(),
                    BayesianDawidSkene(start="blind"),
                    DawidSkene(start=simulation.model),
                )
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", NotConverged)
                    found = [method.fit(responses).posteriors_ for method in methods]
                found.append(simulation.model.posteriors(responses))
                rows.append([error_rate(beliefs, truth) for beliefs in found])
            *errors, best = (fmean(column) for column in zip(*rows, strict=True))
            ratios = [error / best for error in errors]
            cells = [f"{ratio:.3f} ×" for ratio in ratios]
            section.rows.append([setting.name, f"{n_items:,}", *cells])
            section.checks.append(Check(f"{setting.name}, N = {n_items:,}", ratios[0], 1.02))
    return section


def uniform_prior() -> Section:
    """Table I: what EM without class shares, as the paper ran it, does to unequal classes."""
    section = Section(
        f"{TABLE_1.name}, N = 100,000: EM with and without class shares, mean of 10 seeds",
        ["method", "error %"],
    )
    methods: dict[str, Callable[[], Estimator]] = {
        "MajorityVote": MajorityVote,
        "DawidSkene, uniform prior": lambda: DawidSkene(class_prior="uniform", shrinkage=None),
        "DawidSkene, estimated prior": DawidSkene,
    }
    rows = []
    for seed in SEEDS:
        simulation = TABLE_1.draw(10**5, seed)
        found = [make().fit(simulation.responses).posteriors_ for make in methods.values()]
        found.append(simulation.model.posteriors(simulation.responses))
        rows.append([100 * error_rate(beliefs, simulation.truth) for beliefs in found])
    vote, uniform, estimated, best = (fmean(column) for column in zip(*rows, strict=True))
    names = [*methods, "Oracle"]
    section.rows = [
        [name, f"{error:.2f}"]
        for name, error in zip(names, (vote, uniform, estimated, best), strict=True)
    ]
    section.checks = [
        Check("uniform prior over the vote", uniform / vote, 2.0, at_most=False),
        Check("estimated prior over the oracle", estimated / best, 1.02),
    ]
    return section


def held_out() -> Section:
    """How shrinkage is chosen without the truth: by the likelihood of answers not fitted to."""
    strengths: list[Shrinkage] = ["learned", 0.3, 1.0, 3.0, 10.0]
    section = Section(
        "Held-out log-likelihood per label, by pseudo-labels a class",
        ["set", *map(str, strengths)],
    )
    if "BLINDFUSE_DATA" not in os.environ:
        section.note = "Left out: BLINDFUSE_DATA names no folder of crowd sets."
        return section
    for name in CROWDS:
        responses = load(name).responses
        half = np.random.default_rng(0).permutation(responses.n_items) % 2 == 0
        scores = []
        for shrinkage in strengths:
            total = 0.0
            for part in (half, ~half):
                model = fitted(responses.select_items(part), shrinkage).model_
                total += model.log_likelihood(responses.select_items(~part))
            scores.append(f"{total / responses.n_responses:.4f}")
        section.rows.append([name, *scores])
    section.note = (
        "Two halves of the items, each scored by the model of the other. The learned pseudo-labels "
        "are the default because they are the best or close to it here, where no truth is used."
    )
    return section


def adversaries() -> Section:
    """Forty percent of annotators whose largest entries are off the diagonal."""
    section = Section(
        "Adversaries, K = 3, N = 100,000, M = 10, α = 40 %",
        ["seed", "vote %", "blindfuse %", "oracle %"],
    )
    ratios = []
    for seed in SEEDS:
        simulation = simulate(
            10**5, 10, 3, np.random.default_rng(seed), prior=FIGURE_11.prior, adversaries=0.4
        )
        responses, truth = simulation.responses, simulation.truth
        errors = [
            100 * error_rate(beliefs, truth)
            for beliefs in (
                vote_shares(responses),
                fitted(responses).posteriors_,
                simulation.model.posteriors(responses),
            )
        ]
        ratios.append(errors[1] / errors[2])
        section.rows.append([str(seed), *(f"{error:.2f}" for error in errors)])
    section.checks.append(Check("largest ratio to the oracle", max(ratios), 1.1))
    return section
