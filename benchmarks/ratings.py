"""Ratings on a numeric scale: against the oracle, on public sets, and beside a group-by mean."""

import time
from collections import Counter

import numpy as np
import polars as pl
from numpy.typing import NDArray

from blindfuse import fuse_numbers, simulate_numbers
from report import Check, Section, public_data
from tests.support.rating_families import FAMILIES, correlation

Floats = NDArray[np.float64]

SEEDS = range(10)
FAMILY_SEEDS = range(10)
SHAPES = [(5, 1000), (10, 1000), (20, 1000), (50, 1000), (5, 10_000), (50, 10_000)]
"""Annotators and items."""
SETS = (
    *("flu_1wk", "judges_asset", "metrics_relevance"),
    *("snow_anger", "snow_joy", "snow_valence"),
)
SAME_SCALE = "flu_1wk", "snow_anger", "snow_joy", "snow_valence"
"""Sets in which truth and ratings have the same scale."""
BASELINES = "mean", "median", "standardized mean"


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
    """Families of ratings that could mislead a fusion, beside the baselines."""
    section = Section(
        f"Ratings: {len(FAMILIES)} families, correlation with the truth",
        ["family", "fuse_numbers", *BASELINES, "mean lead over the best", "methods"],
        note=(
            f"Means of {len(FAMILY_SEEDS)} seeds. The lead is over the baseline with the highest "
            "mean. Ratings of two annotators do not show whose are worth more."
        ),
    )
    leads: dict[str, float] = {}
    for name, draw in FAMILIES.items():
        rows, methods = [], Counter[str]()
        for seed in FAMILY_SEEDS:
            truth, matrix = draw(np.random.default_rng(seed))
            fusions = [fuse_numbers(matrix, method=method) for method in ("auto", *BASELINES)]
            rows.append([correlation(fusion.values, truth, matrix) for fusion in fusions])
            methods[fusions[0].method] += 1
        means = np.array(rows).mean(axis=0)
        leads[name] = float(means[0] - means[1:].max())
        section.rows.append(
            [
                name.replace("_", " "),
                *(f"{value:.3f}" for value in means),
                f"{leads[name]:+.3f}",
                ", ".join(f"{method} {count}" for method, count in methods.most_common()),
            ]
        )
    of_three = [lead for name, lead in leads.items() if name != "two_annotators"]
    section.checks = [
        Check("smallest mean lead, three or more annotators", min(of_three), -0.02, at_most=False),
        Check("mean lead", float(np.mean(list(leads.values()))), 0.0, at_most=False),
    ]
    return section


def public() -> Section:
    """Correlation with the truth and coverage on scores of judges, metrics, teams and a crowd."""
    section = Section(
        "Public ratings: correlation with the truth, and coverage of 95 % intervals",
        [
            *("set", "items", "annotators", "ratings", "method", "fuse_numbers", *BASELINES),
            "covered",
        ],
        note=(
            "Covered is the share of intervals with the truth, where truth and ratings have "
            "the same scale."
        ),
    )
    folder = public_data() / "scores"
    found: dict[str, Floats] = {}
    covered: dict[str, float] = {}
    for name in SETS:
        scores = pl.read_csv(folder / name / "scores.csv.gz")
        truth = dict(pl.read_csv(folder / name / "truth.csv.gz").iter_rows())
        columns = [scores[column].to_numpy() for column in ("item", "annotator", "score")]
        fusions = [fuse_numbers(*columns, method=method) for method in ("auto", *BASELINES)]
        fusion, table = fusions[0], fusions[0].numbers
        targets = np.array([truth[item] for item in fusion.items.tolist()])
        found[name] = np.array([np.corrcoef(one.values, targets)[0, 1] for one in fusions])
        if name in SAME_SCALE:
            covered[name] = float(np.mean((fusion.low <= targets) & (targets <= fusion.high)))
        section.rows.append(
            [
                *(name, f"{table.n_items:,}", f"{table.n_annotators:,}", f"{table.n_responses:,}"),
                *(fusion.method, *(f"{value:.3f}" for value in found[name])),
                f"{covered[name]:.1%}" if name in covered else "",
            ]
        )
    values = np.array(list(found.values()))
    leads = values[:, 0] - values[:, 1:].max(axis=1)
    section.checks = [
        Check("smallest lead over the best baseline", float(leads.min()), -0.02, at_most=False),
        Check(
            "mean lead over the mean",
            float((values[:, 0] - values[:, 1]).mean()),
            0.0,
            at_most=False,
        ),
        Check("smallest coverage of 95 % intervals", min(covered.values()), 0.85, at_most=False),
    ]
    return section


def scale_errors() -> Section:
    """One annotator on a tenfold scale, beside the same ratings without the scale error."""
    section = Section(
        "Ratings of which one annotator uses a tenfold scale: RMSE",
        ["annotators", "missing", "one scale", "one tenfold", "largest tenfold / one scale"],
        note=f"200 items around 5 with noise 1; means of {len(SEEDS)} seeds.",
    )
    largest: list[float] = []
    for n_annotators, missing in ((3, 0.0), (5, 0.0), (5, 0.4), (10, 0.4)):
        errors = np.array([_scale_error(n_annotators, missing, seed) for seed in SEEDS])
        largest.append(float((errors[:, 1] / errors[:, 0]).max()))
        section.rows.append(
            [
                *(f"{n_annotators}", f"{missing:.0%}"),
                *(f"{value:.3f}" for value in errors.mean(axis=0)),
                f"{largest[-1]:.2f}",
            ]
        )
    section.checks = [Check("largest RMSE / without the scale error", max(largest), 1.2)]
    return section


def _scale_error(n_annotators: int, missing: float, seed: int) -> list[float]:
    """RMSE of the estimates without and with a tenfold scale of the first annotator."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(5, 1.5, 200)
    matrix = truth[:, None] + rng.normal(size=(200, n_annotators))
    matrix[rng.random(matrix.shape) < missing] = np.nan
    rated = ~np.isnan(matrix).all(axis=1)
    tenfold = matrix * np.where(np.arange(n_annotators) == 0, 10.0, 1.0)
    return [
        float(np.sqrt(np.mean(np.square(fuse_numbers(ratings).values - truth)[rated])))
        for ratings in (matrix, tenfold)
    ]


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
