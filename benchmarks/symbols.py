"""Responses whose symbols are not classes: scores, simulated alphabets, weak supervision."""

import csv
import gzip
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse import (
    BlindEnsemble,
    DawidSkene,
    MajorityVote,
    Oracle,
    Responses,
    fuse,
)
from blindfuse.metrics import error_rate
from blindfuse.simulation import simulate_scores
from report import Check, Section, public_data

SEEDS = range(5)
SHAPES = [(symbols, classes) for symbols in (3, 6, 11) for classes in (2, 3)]
SEPARATION = {2: 0.8, 3: 1.0}
"""Distance of neighbouring classes in standard deviations, by number of classes."""


def _rows(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return rows


def _percent_wrong(labels: NDArray[Any], items: NDArray[Any], truth: dict[str, str]) -> float:
    known = [at for at, item in enumerate(items.tolist()) if item in truth]
    wrong = [labels[at] != truth[items[at]] for at in known]
    return 100 * float(np.mean(wrong))


def scores() -> Section:
    """Twelve LLM judges who rate toxicity from 0 to 10; the truth is yes or no."""
    section = Section(
        "Scores of LLM judges: judges_toxicity, errors in percent",
        ["labels", "error", "expected error"],
        note=(
            "The best threshold is chosen with the truth. fuse sees neither truth nor threshold; "
            "the number of levels is its default, 11, except where the row says otherwise."
        ),
    )
    folder = public_data() / "scores" / "judges_toxicity"
    items, judges, texts = zip(*_rows(folder / "scores.csv.gz"), strict=True)
    given = np.array(texts, dtype=float)
    truth = dict(_rows(folder / "truth.csv.gz"))
    by_threshold = Responses.from_long(items, judges, (given >= 5).astype(int).astype(str))
    vote = MajorityVote().fit(by_threshold).labels_
    section.rows.append(
        ["vote at threshold 5", f"{_percent_wrong(vote, by_threshold.items, truth):.2f}", ""]
    )
    section.rows.append(["best threshold of the mean", f"{_best_threshold(folder):.2f}", ""])
    errors = {}
    for levels in (11, 3, 6, 20):
        responses = Responses.from_scores(items, judges, given, classes=["0", "1"], levels=levels)
        fusion = fuse(responses)
        errors[levels] = _percent_wrong(fusion.labels, responses.items, truth)
        assert fusion.expected_error is not None
        expected = 100 * fusion.expected_error.value
        name = "fuse" if levels == 11 else f"fuse, {levels} levels"
        section.rows.append([name, f"{errors[levels]:.2f}", f"{expected:.1f}"])
    section.checks = [Check("error of fuse in percent", errors[11], 27.0)]
    return section


def _best_threshold(folder: Path) -> float:
    """Error in percent of the mean score at the threshold that is best on the truth."""
    sums: dict[str, list[float]] = {}
    for item, _, score in _rows(folder / "scores.csv.gz"):
        sums.setdefault(item, []).append(float(score))
    truth = dict(_rows(folder / "truth.csv.gz"))
    means = np.array([np.mean(sums[item]) for item in truth])
    toxic = np.array([label == "1" for label in truth.values()])
    return 100 * min(float(np.mean((means >= cut) != toxic)) for cut in np.unique(means))


def simulated() -> Section:
    """Scores on R levels for K classes: labels beside the oracle, and estimates as N grows."""
    section = Section(
        "Symbols and classes: simulated scores of ten annotators, errors beside the oracle",
        [
            *("R", "K", "oracle, %", "BlindEnsemble / oracle", "DawidSkene / oracle"),
            *("fuse / oracle", "RMSE of Γ at 10³", "10⁴", "10⁵", "direct − explicit"),
        ],
        note=(
            f"Means of {len(SEEDS)} seeds, 10,000 items. RMSE of the entries of Γ by BlindEnsemble "
            "without shrinkage, run to convergence; Theorem 1 says that it falls by √10 per "
            "column. The last column is the largest difference of Γ between sweeps straight from "
            "the responses and from explicit moments, after twenty of them."
        ),
    )
    worst_blind = worst_fuse = worst_difference = 0.0
    smallest_fall = np.inf
    for n_symbols, n_classes in SHAPES:
        drawn = [_scores(10_000, n_symbols, n_classes, seed) for seed in SEEDS]
        errors = np.array([_errors(one) for one in drawn]).mean(axis=0)
        ratios = errors[1:] / errors[0]
        rmse = [
            np.mean([_rmse(_scores(n, n_symbols, n_classes, seed)) for seed in SEEDS])
            for n in (1_000, 10_000, 100_000)
        ]
        difference = max(_direct_difference(n_symbols, n_classes, seed) for seed in SEEDS)
        section.rows.append(
            [
                *(f"{n_symbols}", f"{n_classes}", f"{100 * errors[0]:.2f}"),
                *(f"{ratio:.3f}" for ratio in ratios),
                *(f"{value:.4f}" for value in rmse),
                f"{difference:.0e}",
            ]
        )
        worst_blind, worst_fuse = max(worst_blind, ratios[0]), max(worst_fuse, ratios[2])
        smallest_fall = min(smallest_fall, float(rmse[1] / rmse[2]))
        worst_difference = max(worst_difference, difference)
    section.checks = [
        Check("largest error / oracle of BlindEnsemble", worst_blind, 1.05),
        Check("largest error / oracle of fuse", worst_fuse, 1.05),
        Check("smallest fall of the RMSE from 10⁴ to 10⁵ items", smallest_fall, 2.5, at_most=False),
        Check("largest difference of direct and explicit", worst_difference, 1e-8),
    ]
    return section


def _scores(n_items: int, n_symbols: int, n_classes: int, seed: int) -> Any:
    rng = np.random.default_rng([n_symbols, n_classes, seed])
    shape = n_items, 10, n_symbols, n_classes
    return simulate_scores(*shape, rng, separation=SEPARATION[n_classes])


def _errors(drawn: Any) -> list[float]:
    methods = Oracle(model=drawn.model), BlindEnsemble(), DawidSkene()
    found = [method.fit(drawn.responses).posteriors_ for method in methods]
    found.append(fuse(drawn.responses).posteriors)
    return [error_rate(posteriors, drawn.truth) for posteriors in found]


def _rmse(drawn: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method = BlindEnsemble(shrinkage=None, tolerance=1e-7, max_sweeps=3000)
        fitted = method.fit(drawn.responses)
    return float(np.sqrt(np.mean((fitted.model_.confusions - drawn.model.confusions) ** 2)))


def _direct_difference(n_symbols: int, n_classes: int, seed: int) -> float:
    """The largest difference of Γ between the two forms of (21), after twenty sweeps."""
    rng = np.random.default_rng(seed)
    responses = simulate_scores(2_000, 6, n_symbols, n_classes, rng, missing=0.3).responses
    options = {"max_sweeps": 20, "tolerance": 0.0, "shrinkage": None, "acceleration": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        direct, explicit = (
            BlindEnsemble(moments=form, **options).fit(responses).model_.confusions  # type: ignore[arg-type]
            for form in ("labels", "counts")
        )
    return float(np.abs(direct - explicit).max())


def weak_supervision() -> Section:
    """Labelling functions that abstain, and mostly know one class."""
    section = Section(
        "Weak supervision: errors in percent",
        ["set", "items", "sources", "vote", "fuse", "method", "EM with abstentions"],
        note=(
            "fuse takes MACE for one-sided sources. EM with abstentions is "
            "fuse(…, abstentions=True), in which no response is a symbol."
        ),
    )
    found: dict[str, tuple[float, float]] = {}
    for name in ("ws_youtube", "ws_hausa"):
        folder = public_data() / "crowd" / name
        responses = Responses.from_long(*zip(*_rows(folder / "labels.csv.gz"), strict=True))
        truth = dict(_rows(folder / "truth.csv.gz"))
        vote = MajorityVote().fit(responses).labels_
        fusion, with_abstentions = fuse(responses), fuse(responses, abstentions=True)
        labels = vote, fusion.labels, with_abstentions.labels
        errors = [_percent_wrong(one, responses.items, truth) for one in labels]
        found[name] = errors[0], errors[1]
        section.rows.append(
            [
                *(name, f"{responses.n_items:,}", f"{responses.n_annotators}"),
                *(f"{errors[0]:.1f}", f"{errors[1]:.1f}", fusion.method, f"{errors[2]:.1f}"),
            ]
        )
    section.checks = [
        Check("ws_youtube", found["ws_youtube"][1], 12.0),
        Check("ws_youtube, fuse minus vote", np.subtract(*found["ws_youtube"][::-1]), 0.0),
        Check("ws_hausa, fuse minus vote", np.subtract(*found["ws_hausa"][::-1]), 0.0),
    ]
    return section
