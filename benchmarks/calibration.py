"""Learn how the error of fused labels relates to what is visible without a truth.

``make calibration`` (with BLINDFUSE_DATA) fuses public tables (those in the folder BLINDFUSE_DATA),
ensembles of classifiers trained on public features, variants of both and generated tables,
compares the labels with the truth, fits the relation and writes
``src/blindfuse/diagnostics/calibration.json``. It also prints how well the relation predicts
families of tables that were left out of the fit. What was measured per table is kept in the cache,
so that a run that was interrupted resumes; ``--fresh`` measures again.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from blindfuse import NotConverged, Responses, fuse
from blindfuse.diagnostics.calibration import (
    EXPLAINED_DEPENDENCE,
    EXPLAINED_SPREAD,
    LEVEL,
    MIN_ONE_SIDED,
    ErrorInterval,
    Relation,
    Z,
    combine,
    features,
    probability_of_shared_errors,
)
from blindfuse.diagnostics.visible import Independence, Visible
from blindfuse.files import cache_folder
from blindfuse.fusion.choice import Choice, FuseContext
from blindfuse.fusion.recalibration import measure
from blindfuse.fusion.selection import select_by_prediction
from blindfuse.responses.coding import positions
from experiments.calibration_tables import (
    KINDS,
    MAX_ITEMS,
    Table,
    data_folder,
    generated_tables,
    public_tables,
    sample_items,
    trained_tables,
)
from experiments.table_variants import variants_of

Floats = NDArray[np.float64]

COEFFICIENTS = Path(__file__).parents[1] / "src/blindfuse/diagnostics/calibration.json"
FEATURES = ("mixed_error", "mace_error", "margin", "misfit")
BOUNDS = (
    np.array([-np.inf, 0.0, 0.0, -np.inf, 0.0]),
    np.array([np.inf, np.inf, np.inf, 0.0, np.inf]),
)
"""Limits of the intercept and the slopes: more error under a reference model, a smaller margin and
more misfit never lower the expected error."""
GENERATED_SEEDS = range(12)
VARIANT_SEED = 100
GENERATED_WEIGHT = 0.3
"""Weight of a generated table, relative to a public one."""
VARIANT_WEIGHT = 0.3
"""Weight of a variant, relative to the table as it is."""
NOT_FITTED = ("independent", "copying")
"""Generated kinds in which a model explains the dependence; the relation is not needed there."""
TABLE_VARIANCE = 0.1
"""Variance of the logit of the error between tables with the same features, for the weights."""
RIDGE = 0.1
HUBER = 0.7
"""Residuals of the logit from which on a table counts less."""
ITERATIONS = 20
MIN_ERROR = 0.003
"""Errors are raised to this before the logit."""


@dataclass(frozen=True)
class Record:
    """What was measured of one table, and its actual error on ``n_known`` items with a truth.

    ``variant`` is empty for the table as it is. ``possible_errors`` are those of two camps, and
    ``outvoted`` is that if a group with correlated errors is right.
    """

    name: str
    variant: str
    family: str
    method: str
    error: float
    n_known: int
    own_error: float
    independence: Independence
    visible: Visible
    possible_errors: tuple[float, ...]
    outvoted: float

    @property
    def target(self) -> float:
        """The logit of the error."""
        error = float(np.clip(self.error, MIN_ERROR, 1 - MIN_ERROR))
        return float(np.log(error / (1 - error)))

    @property
    def noise(self) -> float:
        """The variance of the logit of the error by the sampling of the items with a truth."""
        error = max(self.error, 2 * MIN_ERROR)
        return 1 / (error * (1 - error) * self.n_known)

    @property
    def weight(self) -> float:
        """How much the table counts."""
        if self.family in KINDS:
            return GENERATED_WEIGHT
        return VARIANT_WEIGHT if self.variant else 1.0

    @property
    def is_fitted(self) -> bool:
        """Whether the relation is fitted to this table."""
        one_sided = self.visible.one_sided >= MIN_ONE_SIDED
        explained = self.is_explained or bool(self.possible_errors)
        return not one_sided and self.family not in NOT_FITTED and not explained

    @property
    def is_explained(self) -> bool:
        """Whether the method models the correlated errors."""
        return self.method == "LatentSubtypes"

    def expect(self, relation: Relation) -> ErrorInterval:
        """The expected error under a relation."""
        classes, seen = self.visible.n_classes, self.visible
        if self.is_explained:
            return combine(
                self.own_error,
                EXPLAINED_DEPENDENCE,
                seen,
                self.n_known,
                classes,
                relation,
                own_spread=EXPLAINED_SPREAD,
            )
        dependence = probability_of_shared_errors(self.independence)
        merged = self.independence.merged
        expected = combine(
            self.own_error, dependence, seen, self.n_known, classes, relation, merged=merged
        )
        return expected.widened_to(self.possible_errors).raised_to(self.outvoted)


def measure_table(table: Table) -> list[Record]:
    """Measure what is visible and what is true of a table and, if it is not drawn, its variants."""
    responses, truth = table.load()
    rng = np.random.default_rng(len(table.name))
    records = [_measure(table, "", *sample_items(responses, truth, MAX_ITEMS, rng))]
    if table.family not in KINDS:
        drawn = variants_of(table.name, responses, truth, VARIANT_SEED)
        records += [_measure(table, *one) for one in drawn]
    return records


def _measure(table: Table, variant: str, responses: Responses, truth: NDArray[np.intp]) -> Record:
    measured: list[Any] = []

    def select(context: FuseContext) -> Choice:
        choice = select_by_prediction(context)
        own, independence, visible = measure(choice, context)
        measured.extend((own, independence, visible(), choice.possible_errors, choice.outvoted))
        return choice

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        fusion = fuse(responses, selection=select, threads=1)
    known = truth >= 0
    wrong = positions(fusion.labels, responses.classes)[known] != truth[known]
    return Record(
        table.name,
        variant,
        table.family,
        fusion.method,
        float(wrong.mean()),
        int(known.sum()),
        *measured,
    )


def fit_relation(records: Iterable[Record]) -> Relation:
    """Fit the logit of the error by ridge regression with Huber's weights and known signs.

    Families count by the square root of their number of tables, and tables with few items with a
    truth count less. The spread is not fitted here.
    """
    used = [record for record in records if record.is_fitted]
    X = np.array([features(record.visible) for record in used])
    y, weights = np.array([record.target for record in used]), table_weights(used)
    centre, scale = X.mean(axis=0), X.std(axis=0)
    design = np.column_stack([np.ones(len(X)), (X - centre) / scale])
    ridge = np.sqrt(RIDGE) * np.eye(X.shape[1], X.shape[1] + 1, 1)
    robust = weights
    for _ in range(ITERATIONS):
        roots = np.sqrt(robust)
        system = np.vstack([design * roots[:, None], ridge])
        target = np.concatenate([y * roots, np.zeros(len(ridge))])
        solution = lsq_linear(system, target, BOUNDS).x
        residuals = np.abs(y - design @ solution)
        robust = weights * np.minimum(1, HUBER / np.maximum(residuals, 1e-9))
    slopes = solution[1:] / scale
    return Relation(float(solution[0] - slopes @ centre), tuple(slopes.tolist()), float("nan"))


def table_weights(records: list[Record]) -> Floats:
    """Weights of tables in the fit, the largest one."""
    families = [record.family for record in records]
    noise = np.array([record.noise for record in records])
    kinds = np.array([record.weight for record in records])
    sizes = np.array([families.count(family) for family in families])
    weights = kinds / np.sqrt(sizes) / (1 + noise / TABLE_VARIANCE)
    return np.asarray(weights / weights.max())


def leave_families_out(records: list[Record]) -> dict[str, Relation]:
    """The relation for each family, fitted to all others, with the spread of its residuals.

    The spread is such that the interval contains 80 % of the public tables when their own family is
    left out of the slopes.
    """
    families = sorted({record.family for record in records})
    slopes = {
        family: fit_relation(record for record in records if record.family != family)
        for family in families
    }
    spread = spread_of_residuals(records, slopes)
    return {family: replace(slopes[family], spread=spread(family)) for family in families}


def spread_of_residuals(records: list[Record], slopes: dict[str, Relation]) -> Any:
    """A function from a family to the spread of the residuals of all other public families.

    It is such that the interval, which adds the sampling noise of the table, contains 80 % of them,
    with the weights of the fit.
    """
    used = [record for record in records if record.is_fitted and record.family not in KINDS]
    residuals = np.array(
        [record.target - slopes[record.family].log_odds(record.visible) for record in used]
    )
    families = np.array([record.family for record in used])
    weights = table_weights(used)
    # |residual| ≤ Z √(spread² + noise) if the spread is at least this
    needed = np.sqrt(np.maximum((residuals / Z) ** 2 - [record.noise for record in used], 0))

    def spread(left_out: str | None) -> float:
        others = np.flatnonzero(families != left_out)
        order = others[np.argsort(needed[others])]
        shares = np.cumsum(weights[order]) / weights[order].sum()
        return float(needed[order][np.searchsorted(shares, LEVEL)])

    return spread


def fit_all(records: list[Record]) -> Relation:
    """The relation fitted to all records."""
    families = {record.family for record in records}
    slopes = {
        family: fit_relation(record for record in records if record.family != family)
        for family in families
    }
    return replace(fit_relation(records), spread=spread_of_residuals(records, slopes)(None))


def write_coefficients(relation: Relation, records: list[Record], path: Path) -> None:
    """Write the coefficients, and how they were made."""
    families = sorted({record.family for record in records})
    document = {
        "made_by": "make calibration; see docs/method.md",
        "tables": {name: sum(record.family == name for record in records) for name in families},
        "intercept": round(relation.intercept, 4),
        "slopes": {
            name: round(slope, 4) for name, slope in zip(FEATURES, relation.slopes, strict=True)
        },
        "spread": round(relation.spread, 4),
    }
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def summarize(records: list[Record], relations: dict[str, Relation]) -> dict[str, float]:
    """Coverage, median width, bias and mean absolute difference of left-out families."""
    expected = [record.expect(relations[record.family]) for record in records]
    errors = np.array([record.error for record in records])
    values, low, high = np.array([(one.value, one.low, one.high) for one in expected]).T
    return {
        "tables": len(records),
        "actual": float(100 * errors.mean()),
        "expected": float(100 * values.mean()),
        "coverage": float(100 * np.mean((low <= errors) & (errors <= high))),
        "width": float(np.median(high / np.maximum(low, 1e-9))),
        "difference": float(100 * np.mean(errors - values)),
        "absolute": float(100 * np.mean(np.abs(errors - values))),
    }


def gather_records(fresh: bool = False, jobs: int = 1) -> list[Record]:
    """Measure all tables, or take from the cache what was measured before."""
    path = cache_folder() / "calibration.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    if fresh:
        path.unlink(missing_ok=True)
    records = list(_read_records(path))
    known = {record.name for record in records}
    left = [table for table in _all_tables() if table.name not in known]
    with ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(measure_table, left):
            records += found
            with path.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(record)) + "\n" for record in found)
            for record in found:
                name = " ".join(filter(None, (record.name, record.variant)))
                print(f"{name}: {record.method}, error {100 * record.error:.1f} %", flush=True)
    return records


def _all_tables() -> Iterator[Table]:
    folder = data_folder()
    if folder is None:
        sys.exit("Set BLINDFUSE_DATA to the folder of the public tables.")
    yield from public_tables(folder)
    yield from trained_tables(folder)
    yield from generated_tables(GENERATED_SEEDS)


def _read_records(path: Path) -> Iterator[Record]:
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            stored = json.loads(line)
            stored["independence"] = Independence(**stored["independence"])
            stored["visible"] = Visible(**stored["visible"])
            yield Record(**stored)


def main() -> None:
    """Measure, fit, print how families that were left out are predicted, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="measure all tables again")
    parser.add_argument("--jobs", type=int, default=1, help="processes that measure tables")
    parser.add_argument("--out", type=Path, default=COEFFICIENTS, help="the file to write")
    options = parser.parse_args()
    records = gather_records(options.fresh, options.jobs)
    relations = leave_families_out(records)
    families = sorted({record.family for record in records})
    public = [record for record in records if record.family not in KINDS]
    groups = {name: [record for record in records if record.family == name] for name in families}
    groups |= {
        "public, as they are": [record for record in public if not record.variant],
        "public, with variants": public,
    }
    for name, group in groups.items():
        figures = summarize(group, relations)
        print(f"{name:32}", "  ".join(f"{key} {value:.4g}" for key, value in figures.items()))
    relation = fit_all(records)
    write_coefficients(relation, records, options.out)
    print(relation)


if __name__ == "__main__":
    main()
