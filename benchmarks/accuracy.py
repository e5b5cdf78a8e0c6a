"""Errors on the paper's synthetic settings, compared with the oracle, and on public crowds."""

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
    NotConverged,
    RankTooLow,
    Responses,
    simulate,
)
from blindfuse.datasets import Crowd, load
from blindfuse.estimators.base import Estimator
from blindfuse.estimators.registry import METHODS
from blindfuse.metrics import confusion_error, error_rate, prior_error
from blindfuse.model.posteriors import vote_posteriors
from experiments.settings import (
    FIGURE_3,
    FIGURE_4,
    FIGURE_11,
    TABLE_1,
    TABLE_2,
    Setting,
)
from report import Check, Section, public_data

SEEDS = range(10)
CROWDS = {"bird": 10.2, "rte": 7.3, "dog": 17.5, "web": 18.5, "trec": 30.0, "adult": 30.0}


PAPER_EM = "EM, uniform prior, 10 iterations"
ALL_METHODS: dict[str, Callable[[], Estimator]] = {
    **METHODS,
    PAPER_EM: lambda: DawidSkene(
        class_prior="uniform", start="shares", shrinkage=None, max_iter=10
    ),
    "KOS, svd": lambda: KOS(variant="svd", ordered=True),
}

Shrinkage = Literal["learned"] | float


def fit_blind_ensemble(responses: Responses, shrinkage: Shrinkage = "learned") -> BlindEnsemble:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return BlindEnsemble(shrinkage=shrinkage).fit(responses)


def oracle() -> Section:
    """Algorithm 2 (MAP) and the MAP rule with the true confusion matrices and prior."""
    section = Section(
        "Error compared with the oracle, Section V-A, M = 10, mean of 10 seeds",
        ["setting", "N", "vote %", "BlindEnsemble %", "oracle %", "ε_CM", "ε_π"],
    )
    for setting, limits in (
        (TABLE_1, (1.05, 0.1, 10**4)),
        (TABLE_2, (1.05, 0.1, 10**4)),
        (FIGURE_3, (1.05, 0.1, 10**4)),
        (FIGURE_4, (1.1, 0.2, 10**5)),
    ):
        factor, points, min_items = limits
        estimation_errors = []
        for n_items in (10**3, 10**4, 10**5):
            vote, fused, best, matrices, prior = _errors(setting, n_items)
            estimation_errors.append((matrices, prior))
            section.rows.append(
                [setting.name, f"{n_items:,}"]
                + [f"{number:.2f}" for number in (vote, fused, best)]
                + [f"{number:.4f}" for number in (matrices, prior)]
            )
            if n_items >= min_items:
                section.checks.append(
                    Check(
                        f"{setting.name}, N = {n_items:,}: error %", fused, factor * best + points
                    )
                )
        for which, name in enumerate(("ε_CM", "ε_π")):
            ratio = max(late[which] / early[which] for early, late in pairwise(estimation_errors))
            section.checks.append(
                Check(f"{setting.name}: largest ratio of {name} when N grows tenfold", ratio, 1.0)
            )
    return section


def _errors(setting: Setting, n_items: int) -> list[float]:
    rows = []
    for seed in SEEDS:
        simulation = setting.draw(n_items, seed)
        responses, truth = simulation.responses, simulation.truth
        ensemble = fit_blind_ensemble(responses)
        rows.append(
            (
                100 * error_rate(vote_posteriors(responses), truth),
                100 * error_rate(ensemble.posteriors_, truth),
                100 * error_rate(simulation.model.posteriors(responses), truth),
                confusion_error(ensemble.model_, simulation.model),
                prior_error(ensemble.model_, simulation.model),
            )
        )
    return [fmean(column) for column in zip(*rows, strict=True)]


def methods() -> Section:
    """Every method on the same crowds, compared with published errors."""
    names = ["trec", "bird", "rte", "web", "dog", "adult"]
    section = Section("Every method on public crowds, error %", ["method", *names])
    public_data()
    crowds = {name: load(name) for name in names}
    published = {
        "MajorityVote": {"trec": 34.86, "bird": 24.07, "rte": 10.31, "web": 26.93, "dog": 17.78},
        PAPER_EM: {"trec": 30.02, "bird": 11.11, "rte": 7.25, "web": 16.02, "dog": 15.86},
        "KOS, svd": {"bird": 11.11, "rte": 39.75, "web": 42.93},
        "EigenRatio": {"bird": 27.78, "rte": 9.00},
    }
    largest = 0.0
    for method, make in ALL_METHODS.items():
        cells = []
        for name, crowd in crowds.items():
            error = _error_of(make(), crowd)
            cells.append("-" if error is None else f"{error:.2f}")
            if error is not None and name in published.get(method, {}):
                largest = max(largest, abs(error - published[method][name]))
        section.rows.append([method, *cells])
    section.checks.append(Check("largest difference from a published error, points", largest, 0.15))
    section.note = "A dash: the method supports two classes only."
    return section


def _error_of(method: Estimator, crowd: Crowd) -> float | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        warnings.simplefilter("ignore", RankTooLow)
        try:
            return 100 * error_rate(method.fit(crowd.responses).posteriors_, crowd.truth)
        except BadLabels:
            return None


def em_after_blind_ensemble() -> Section:
    """EM from several starts, compared with the oracle."""
    section = Section(
        "EM started from BlindEnsemble (Remark 2): error / error of the oracle, mean of 10 seeds",
        [
            *("setting", "N", "from BlindEnsemble", "from the vote"),
            *("Bayesian, from BlindEnsemble", "from the true model"),
        ],
        note="The last column starts EM from the true confusion matrices and prior, which no blind "
        "method knows: its excess over 1 is the cost of estimating them from this number of items. "
        "In Figure 4's setting the rarest class has 43 of 10,000 items.",
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
                    posteriors = [method.fit(responses).posteriors_ for method in methods]
                posteriors.append(simulation.model.posteriors(responses))
                rows.append([error_rate(each, truth) for each in posteriors])
            *errors, best = (fmean(column) for column in zip(*rows, strict=True))
            ratios = [error / best for error in errors]
            cells = [f"{ratio:.3f} ×" for ratio in ratios]
            section.rows.append([setting.name, f"{n_items:,}", *cells])
            section.checks.append(
                Check(
                    f"{setting.name}, N = {n_items:,}: error / error of the oracle", ratios[0], 1.02
                )
            )
    return section


def held_out() -> Section:
    """Shrinkage strengths compared without gold labels, by the likelihood of held-out responses."""
    strengths: list[Shrinkage] = ["learned", 0.3, 1.0, 3.0, 10.0]
    section = Section(
        "Held-out log-likelihood per label, by pseudo-counts per class",
        ["dataset", *map(str, strengths)],
    )
    public_data()
    for name in CROWDS:
        responses = load(name).responses
        half = np.random.default_rng(0).permutation(responses.n_items) % 2 == 0
        scores = []
        for shrinkage in strengths:
            total = 0.0
            for training in (half, ~half):
                model = fit_blind_ensemble(responses.select_items(training), shrinkage).model_
                total += model.log_likelihood(responses.select_items(~training))
            scores.append(f"{total / responses.n_responses:.4f}")
        section.rows.append([name, *scores])
    section.note = (
        "The items are split into two halves, each scored by the model of the other. The learned "
        "pseudo-counts are the default because they are the best or nearly the best here, without "
        "gold labels."
    )
    return section


def adversaries() -> Section:
    """Forty percent of the annotators have the largest entries off the diagonal."""
    section = Section(
        "Adversaries, K = 3, N = 100,000, M = 10, α = 40 %",
        ["seed", "vote %", "BlindEnsemble %", "oracle %"],
    )
    ratios = []
    for seed in SEEDS:
        simulation = simulate(
            10**5, 10, 3, np.random.default_rng(seed), prior=FIGURE_11.prior, adversaries=0.4
        )
        responses, truth = simulation.responses, simulation.truth
        errors = [
            100 * error_rate(posteriors, truth)
            for posteriors in (
                vote_posteriors(responses),
                fit_blind_ensemble(responses).posteriors_,
                simulation.model.posteriors(responses),
            )
        ]
        ratios.append(errors[1] / errors[2])
        section.rows.append([str(seed), *(f"{error:.2f}" for error in errors)])
    section.checks.append(Check("largest error / error of the oracle", max(ratios), 1.1))
    return section
