"""Files of an audit: items to check, tasks for Label Studio, and checked labels."""

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from blindfuse.cli.output_files import FileWriter, string_writer
from blindfuse.errors import BadLabels, list_names

if TYPE_CHECKING:
    import polars as pl

    from blindfuse import AuditPlan, AuditResult, Fusion
    from blindfuse.cli.screen import Screen
    from blindfuse.metrics.interval import Interval
    from blindfuse.readers.gold import CheckedFile

PROBABILITY_DIGITS = 6
"""Significant digits of inclusion probabilities in files."""


def plan_frame(plan: "AuditPlan", labels: dict[str, str] | None = None) -> "pl.DataFrame":
    """Return one row per item to check, in the order of the plan, with labels given so far."""
    import polars as pl

    known = labels or {}
    responses = plan.candidates.fusion.responses.select_items(plan.positions)
    annotators, classes = responses.annotators.tolist(), responses.classes.tolist()
    starts, codes, symbols = (column.tolist() for column in responses.by_item)
    texts = [
        "; ".join(f"{annotators[codes[r]]}: {classes[symbols[r]]}" for r in range(begin, end))
        for begin, end in pairwise(starts)
    ]
    items = [str(item) for item in plan.items.tolist()]
    return pl.DataFrame(
        {
            "item": items,
            "label": [known.get(item) for item in items],
            "responses": texts,
            "stratum": (plan.strata + 1).tolist(),
            "stratum_size": plan.sizes[plan.strata].astype(int).tolist(),
            "probability": [
                float(f"{p:.{PROBABILITY_DIGITS}g}") for p in plan.probability.tolist()
            ],
            "n_strata": [plan.n_strata] * len(plan),
        },
        schema_overrides={"label": pl.String},
    )


def tasks_writer(frame: "pl.DataFrame") -> FileWriter:
    """Return a function that writes the items as tasks that Label Studio imports."""
    columns = [name for name in frame.columns if name != "label"]
    tasks = [{"data": row} for row in frame.select(columns).to_dicts()]
    return string_writer(json.dumps(tasks, ensure_ascii=False, indent=1))


def read_checked_file(fusion: "Fusion", path: str) -> "CheckedFile":
    """Read a file of checked labels, which are written as the classes of the fusion are."""
    from blindfuse.readers.gold import read_checked

    return read_checked(path, fusion.responses.classes)


def plan_of_file(fusion: "Fusion", checked: "CheckedFile", seed: int = 0) -> "AuditPlan | None":
    """Return the plan in a file of checked labels; None for a list of the user's own."""
    from blindfuse.auditing.plan import restore_plan

    if checked.items is None or checked.strata is None or checked.sizes is None:
        return None
    design = checked.items, checked.strata, checked.sizes, checked.n_strata
    return restore_plan(fusion, *design, seed)


def audit_file(fusion: "Fusion", path: str, screen: "Screen") -> "AuditResult":
    """Audit a fusion with the labels in a file."""
    from blindfuse.auditing.audit import audit

    checked = read_checked_file(fusion, path)
    if not checked.labels:
        raise BadLabels(f"{path} has no labels. Fill in its column label, at least in some rows.")
    plan = plan_of_file(fusion, checked)
    if plan is None:
        responded = set(fusion.responses.items.tolist())
        labels = {item: label for item, label in checked.labels.items() if item in responded}
        unknown = [item for item in checked.labels if item not in labels]
        if unknown and labels:
            screen.note(
                f"{len(unknown):,} checked items without responses were skipped: "
                f"{list_names(unknown)}"
            )
            return audit(fusion, None, labels)
    if plan is not None and plan.stratum_of_item is None:
        screen.note(
            f"The strata in {path} are not those of this fusion. They are used as they are, and "
            "the intervals stay valid."
        )
    return audit(fusion, plan, checked.labels)


def estimates_frame(result: "AuditResult") -> "pl.DataFrame":
    """Return one row per estimate of an audit."""
    import polars as pl

    found = result.annotators
    annotators = {name: found.interval(m) for m, name in enumerate(found.names.tolist())}
    groups: dict[str, dict[Any, Interval]] = {
        "error": dict(result.errors),
        "error minus that of fuse": dict(result.differences),
        "class proportion": result.class_shares,
        "class proportion, Rogan-Gladen": result.rogan_gladen,
        "annotator accuracy": annotators,
    }
    rows = [
        (quantity, str(name), one.value, one.low, one.high)
        for quantity, estimates in groups.items()
        for name, one in estimates.items()
    ]
    return pl.DataFrame(rows, schema=["quantity", "name", "value", "low", "high"], orient="row")
