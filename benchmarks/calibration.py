"""Learn how the error of fused labels relates to what a table shows without a truth.

``make calibration`` (with BLINDFUSE_DATA) fuses public tables, ensembles of classifiers trained on
public features, variants of both and generated tables, compares the labels with the truth, fits the
relation and writes ``src/blindfuse/diagnostics/expected_error.json``. It also prints how well the
relation predicts families of tables that were left out of the fit.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from blindfuse.diagnostics.expected_error import LEVEL, ExpectedError, Features, Relation
from experiments.calibration_tables import data_folder, generated_tables, tables_with_truth
from measured_tables import Record, measure_tables

Floats = NDArray[np.float64]

COEFFICIENTS = Path(__file__).parents[1] / "src/blindfuse/diagnostics/expected_error.json"
FEATURES = ("mace_error", "near_error", "margin", "misfit")
GENERATED_SEEDS = range(12)
VARIANT_SEED = 100
GENERATED_WEIGHT = 0.3
"""Weight of a generated table, relative to a public one."""
VARIANT_WEIGHT = 0.3
"""Weight of a variant, relative to the table as it is."""
NOT_FITTED = ("independent", "copying")
"""Generated kinds that the relation is not fitted to."""
TABLE_VARIANCE = 0.1
"""Variance of the logit of the error between tables with the same features, for the weights."""
RIDGE = 0.1
HUBER = 0.7
"""Residuals of the logit from which on a table counts less."""
ITERATIONS = 20
MIN_ERROR = 0.003
"""Errors are raised to this before the logit."""
MAX_SPREAD = 3.0
BISECTIONS = 20


def gather_records() -> list[Record]:
    """All tables, variants of the public and trained ones, and generated tables."""
    folder = data_folder()
    if folder is None:
        sys.exit("Set BLINDFUSE_DATA to the folder of the public tables.")
    tables = list(tables_with_truth(folder))
    records = measure_tables(tables) + measure_tables(tables, VARIANT_SEED)
    records += measure_tables(generated_tables(GENERATED_SEEDS))
    return [record for record in records if record.features is not None]


def features_of(record: Record) -> Features:
    assert record.features is not None
    return record.features


def is_fitted(record: Record) -> bool:
    """Whether the relation is fitted to this table."""
    return record.family not in NOT_FITTED and not features_of(record).one_sided


def fit_relation(records: Iterable[Record]) -> Relation:
    """Fit the logit of the error by ridge regression with Huber's weights.

    Families count by the square root of their number of tables, and tables with few items with a
    truth count less. The spread is not fitted here.
    """
    used = [record for record in records if is_fitted(record)]
    X = np.array([features_of(record).values() for record in used])
    y = logit(np.clip([record.error for record in used], MIN_ERROR, 1 - MIN_ERROR))
    weights = table_weights(used)
    centre, scale = X.mean(axis=0), X.std(axis=0)
    design = np.column_stack([np.ones(len(X)), (X - centre) / scale])
    ridge = np.sqrt(RIDGE) * np.eye(X.shape[1], X.shape[1] + 1, 1)
    robust = weights
    for _ in range(ITERATIONS):
        roots = np.sqrt(robust)
        system = np.vstack([design * roots[:, None], ridge])
        target = np.concatenate([y * roots, np.zeros(len(ridge))])
        solution = np.linalg.lstsq(system, target, rcond=None)[0]
        residuals = np.abs(y - design @ solution)
        robust = weights * np.minimum(1, HUBER / np.maximum(residuals, 1e-9))
    slopes = solution[1:] / scale
    return Relation(float(solution[0] - slopes @ centre), tuple(slopes.tolist()), float("nan"))


def table_weights(records: list[Record]) -> Floats:
    """Weights of tables in the fit, the largest one."""
    families = [record.family for record in records]
    sizes = np.array([families.count(family) for family in families])
    errors = np.maximum([record.error for record in records], 2 * MIN_ERROR)
    noise = 1 / (errors * (1 - errors) * [record.n_known for record in records])
    kinds = np.array([_kind_weight(record) for record in records])
    weights = kinds / np.sqrt(sizes) / (1 + noise / TABLE_VARIANCE)
    return np.asarray(weights / weights.max())


def _kind_weight(record: Record) -> float:
    if record.is_generated:
        return GENERATED_WEIGHT
    return VARIANT_WEIGHT if record.variant else 1.0


def leave_families_out(records: list[Record]) -> dict[str, Relation]:
    """The relation for each family, with slopes and spread from the other families."""
    slopes = _slopes_without(records)
    return {
        family: replace(
            relation, spread=fit_spread([one for one in records if one.family != family], slopes)
        )
        for family, relation in slopes.items()
    }


def fit_all(records: list[Record]) -> Relation:
    """The relation fitted to all records, with the spread of families that were left out."""
    return replace(fit_relation(records), spread=fit_spread(records, _slopes_without(records)))


def _slopes_without(records: list[Record]) -> dict[str, Relation]:
    """The relation without spread for each family, fitted to the others."""
    families = sorted({record.family for record in records})
    return {
        family: fit_relation(one for one in records if one.family != family) for family in families
    }


def fit_spread(records: list[Record], slopes: dict[str, Relation]) -> float:
    """The spread with which stated intervals contain 80 % of public tables and their variants.

    The slopes of a table are those without its family.
    """
    used = [record for record in records if is_fitted(record) and not record.is_generated]
    weights = np.array([_kind_weight(record) for record in used])
    low, high = 0.0, MAX_SPREAD
    for _ in range(BISECTIONS):
        spread = (low + high) / 2
        relations = {name: replace(one, spread=spread) for name, one in slopes.items()}
        covered = np.array([is_covered(record, relations) for record in used])
        if weights @ covered < LEVEL * weights.sum():
            low = spread
        else:
            high = spread
    return high


def expect(record: Record, relations: dict[str, Relation]) -> ExpectedError:
    """The expected error under the relation of the table's family."""
    return features_of(record).expect(record.n_known, relations[record.family])


def is_covered(record: Record, relations: dict[str, Relation]) -> bool:
    """Whether the interval contains the error."""
    expected = expect(record, relations)
    return expected.low <= record.error <= expected.high


def write_coefficients(relation: Relation, path: Path) -> None:
    """Write the coefficients."""
    document = {
        "made_by": "make calibration; see docs/method.md",
        "intercept": round(relation.intercept, 4),
        "slopes": {
            name: round(slope, 4) for name, slope in zip(FEATURES, relation.slopes, strict=True)
        },
        "spread": round(relation.spread, 4),
    }
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def summarize(records: list[Record], relations: dict[str, Relation]) -> dict[str, float]:
    """Coverage, median width, bias and mean absolute difference of left-out families."""
    expected = [expect(record, relations) for record in records]
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


def main() -> None:
    """Measure, fit, print how families that were left out are predicted, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=COEFFICIENTS, help="the file to write")
    options = parser.parse_args()
    records = gather_records()
    relations = leave_families_out(records)
    public = [record for record in records if not record.is_generated]
    groups = {name: [one for one in records if one.family == name] for name in relations}
    groups["public, as they are"] = [record for record in public if not record.variant]
    groups["public, variants"] = [record for record in public if record.variant]
    for name, group in groups.items():
        figures = summarize(group, relations)
        print(f"{name:24}", "  ".join(f"{key} {value:.4g}" for key, value in figures.items()))
    relation = fit_all(records)
    write_coefficients(relation, options.out)
    print(relation)


if __name__ == "__main__":
    main()
