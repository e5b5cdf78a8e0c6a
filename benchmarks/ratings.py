"""Ratings on a numeric scale: against the oracle, on public sets, and beside a group-by mean."""

import os
import time
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from blindfuse import fuse_numbers, simulate_numbers
from report import Check, Section
from tests.support.rating_families import FAMILIES, correlation

Floats = NDArray[np.float64]

SEEDS = range(10)
FAMILY_SEEDS = range(10)
SHAPES = [(5, 1000), (10, 1000), (20, 1000), (50, 1000), (5, 10_000), (50, 10_000)]
"""Annotators and items."""
SETS = "judges_asset", "snow_anger", "snow_joy", "snow_valence"


def simulated() -> Section:
    """Half of the ratings missing, a fifth of the annotators useless, one in ten adversarial."""
    section = Section(
        f"Ratings of one factor: RMSE beside the oracle, {len(SEEDS)} seeds each",
        [
            *("annotators", "items", "RMSE / oracle, mean", "largest", "RMSE of the mean / oracle"),
            *("covered, mean", "smallest", "largest", "methods"),
        ],
        note=(
            "The oracle knows bias, scale and noise. Location and scale of the truth cannot be "
            "known without gold values, so estimates of both are first mapped to the truth by the "
            "best line. Half of the ratings are missing, 20 % of the annotators are useless and "
            "10 % rate in reverse."
        ),
    )
    ratios: list[float] = []
    coverages: list[float] = []
    for n_annotators, n_items in SHAPES:
        rows = [_simulate(n_items, n_annotators, seed) for seed in SEEDS]
        ratio, of_mean, covered = np.array([row[:3] for row in rows]).T
        methods = Counter(row[3] for row in rows)
        section.rows.append(
            [
                *(f"{n_annotators}", f"{n_items:,}", f"{ratio.mean():.3f}", f"{ratio.max():.3f}"),
                f"{of_mean.mean():.2f}",
                *(f"{share:.1%}" for share in (covered.mean(), covered.min(), covered.max())),
                ", ".join(f"{name} {count}" for name, count in methods.items()),
            ]
        )
        ratios += ratio.tolist()
        coverages.append(float(covered.mean()))
    section.checks = [
        Check("largest RMSE / oracle of all runs", max(ratios), 1.05),
        Check("smallest mean coverage of 95 % intervals", min(coverages), 0.93, at_most=False),
        Check("largest mean coverage of 95 % intervals", max(coverages), 0.97),
    ]
    return section


def _simulate(n_items: int, n_annotators: int, seed: int) -> tuple[float, float, float, str]:
    drawn = simulate_numbers(n_items, n_annotators, seed=seed)
    fusion, oracle = fuse_numbers(drawn.numbers), _error(drawn.oracle()[0], drawn.truth)
    mean = fuse_numbers(drawn.numbers, method="mean").values
    slope, intercept = np.polyfit(fusion.values, drawn.truth, 1)
    inside = np.abs(intercept + slope * fusion.values - drawn.truth)
    covered = np.mean(inside <= abs(slope) * (fusion.high - fusion.values))
    error, of_mean = (_error(values, drawn.truth) for values in (fusion.values, mean))
    return error / oracle, of_mean / oracle, float(covered), fusion.method


def _error(estimates: Floats, truth: Floats) -> float:
    """RMSE after the best linear map, in standard deviations of the truth."""
    return float(np.sqrt(1 - np.corrcoef(estimates, truth)[0, 1] ** 2))


def families() -> Section:
    """Ten families of ratings that could mislead a fusion, beside the mean and the median."""
    section = Section(
        f"Ratings: {len(FAMILIES)} families, correlation with the truth",
        ["family", "fuse_numbers", "mean", "median", "smallest lead over the better", "methods"],
        note=f"Means of {len(FAMILY_SEEDS)} seeds. The lead is over the better of both, per seed.",
    )
    leads: list[float] = []
    for name, draw in FAMILIES.items():
        rows, methods = [], Counter[str]()
        for seed in FAMILY_SEEDS:
            truth, matrix = draw(np.random.default_rng(seed))
            fusions = [fuse_numbers(matrix, method=one) for one in ("auto", "mean", "median")]
            rows.append([correlation(fusion.values, truth, matrix) for fusion in fusions])
            methods[fusions[0].method] += 1
        values = np.array(rows)
        lead = values[:, 0] - values[:, 1:].max(axis=1)
        section.rows.append(
            [
                name.replace("_", " "),
                *(f"{value:.3f}" for value in values.mean(axis=0)),
                f"{lead.min():+.3f}",
                ", ".join(f"{method} {count}" for method, count in methods.most_common()),
            ]
        )
        leads.append(float(lead.mean()))
    section.checks = [
        Check("smallest mean lead of a family", min(leads), -0.015, at_most=False),
        Check("mean lead of all families", float(np.mean(leads)), 0.0, at_most=False),
    ]
    return section


def public() -> Section:
    """Correlation with the truth on scores of LLM judges and of a crowd."""
    section = Section(
        "Public ratings: correlation with the truth",
        ["set", "items", "annotators", "ratings", "fuse_numbers", "method", "mean", "median"],
    )
    folder = Path(os.environ.get("BLINDFUSE_DATA", "")) / "scores"
    if not all((folder / name).is_dir() for name in SETS):
        section.note = "BLINDFUSE_DATA has no folder scores."
        return section
    found: dict[str, Floats] = {}
    for name in SETS:
        scores = pl.read_csv(folder / name / "scores.csv.gz")
        known = pl.read_csv(folder / name / "truth.csv.gz")
        truth = dict(known.iter_rows())
        columns = [scores[column].to_numpy() for column in ("item", "annotator", "score")]
        fusions = [fuse_numbers(*columns, method=method) for method in ("auto", "mean", "median")]
        targets = np.array([truth[item] for item in fusions[0].items.tolist()])
        correlations = [np.corrcoef(fusion.values, targets)[0, 1] for fusion in fusions]
        found[name] = np.array(correlations)
        table = fusions[0].numbers
        section.rows.append(
            [
                *(name, f"{table.n_items:,}", f"{table.n_annotators:,}", f"{table.n_ratings:,}"),
                *(f"{correlations[0]:.4f}", fusions[0].method),
                *(f"{value:.4f}" for value in correlations[1:]),
            ]
        )
    fused, mean, median = np.array(list(found.values())).T
    section.checks = [
        Check(
            "smallest lead over the better of mean and median",
            float((fused - np.maximum(mean, median)).min()),
            -0.015,
            at_most=False,
        ),
        Check("mean lead over the mean", float((fused - mean).mean()), 0.0, at_most=False),
        Check("judges_asset", float(found["judges_asset"][0]), 0.72, at_most=False),
    ]
    return section


def speed() -> Section:
    """A million ratings by a thousand annotators, and the mean by Polars, in turns."""
    rng = np.random.default_rng(0)
    n_ratings, n_items, n_annotators = 1_000_000, 100_000, 1000
    item = rng.permutation(np.repeat(np.arange(n_items), n_ratings // n_items))
    annotator = rng.integers(0, n_annotators, n_ratings)
    bias, scale, noise = (
        rng.normal(0, 0.5, n_annotators),
        rng.uniform(0.5, 1.5, n_annotators),
        rng.uniform(0.5, 1.5, n_annotators),
    )
    truth = rng.normal(size=n_items)
    value = bias[annotator] + scale[annotator] * truth[item]
    value += noise[annotator] * rng.normal(size=n_ratings)
    frame = pl.DataFrame({"item": item, "annotator": annotator, "value": value})
    fusion = fuse_numbers(frame)  # compiles
    times: dict[str, list[float]] = {"group-by mean": [], "fuse_numbers": []}
    for _ in range(9):
        for name, work in (
            ("group-by mean", lambda: frame.group_by("item").agg(pl.col("value").mean())),
            ("fuse_numbers", lambda: fuse_numbers(frame)),
        ):
            started = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - started)
    best = {name: min(measured) for name, measured in times.items()}
    ratio = best["fuse_numbers"] / best["group-by mean"]
    mean = frame.group_by("item").agg(pl.col("value").mean()).sort("item")["value"].to_numpy()
    return Section(
        "A million ratings by 1,000 annotators, and their mean by Polars, in one run",
        ["", "time / group-by mean", "correlation with the truth"],
        [
            ["group-by mean in Polars", "1.0", f"{np.corrcoef(mean, truth)[0, 1]:.4f}"],
            [
                f"fuse_numbers, {fusion.method}",
                f"{ratio:.1f}",
                f"{np.corrcoef(fusion.values, truth[fusion.items])[0, 1]:.4f}",
            ],
        ],
        [Check("time / group-by mean, shortest of 9 each", ratio, 5)],
        note="Items and annotators are integers in both; the frame is in memory and not sorted.",
    )
