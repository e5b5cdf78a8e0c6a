"""``blindfuse audit``: choose items to check, and measure the error on the checked ones."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import blindfuse
from blindfuse.cli.fusing import FuseOptions, report_writer, with_responses
from blindfuse.cli.options import (
    InputOptions,
    OutputOptions,
    file_option,
    refuse_combinations,
    report_option,
    takes,
)
from blindfuse.cli.outputs import FileWriter, OutputFile, is_stdout
from blindfuse.errors import BadFile, BadLabels

if TYPE_CHECKING:
    from blindfuse import AuditPlan, AuditResult, Fusion
    from blindfuse.cli.screen import Screen
    from blindfuse.result import Columns

BUDGET = 100


@click.command(
    epilog="""\b
Examples:
  blindfuse audit votes.csv --budget 100 -o to_check.csv
  blindfuse audit votes.csv --checked to_check.csv --report audit.html
  blindfuse audit votes.csv --checked to_check.csv --more 50 -o more.csv
  blindfuse audit votes.csv --budget 100 --label-studio tasks.json
"""
)
@takes(output=OutputOptions)
@click.option(
    "--budget",
    type=int,
    metavar="N",
    help=f"Number of items to check.  [default: {BUDGET}]",
)
@file_option(
    "--checked",
    help="Checked labels: the file of an earlier -o with its column label filled in, a JSON export "
    "of Label Studio, or a table with the columns item and label.",
)
@click.option(
    "--more", type=int, metavar="N", help="Add N items to check to those in the file of --checked."
)
@click.option(
    "--label-studio", type=OutputFile(("json",)), help="Write tasks for Label Studio: .json."
)
@report_option()
@takes(inputs=InputOptions, options=FuseOptions)
def audit_command(
    inputs: InputOptions,
    options: FuseOptions,
    output: OutputOptions,
    budget: int | None,
    checked: str | None,
    more: int | None,
    label_studio: Path | None,
    report: Path | None,
) -> None:
    """Choose items in FILE… to check by hand, or measure errors on the checked ones.

    First, choose items with --budget and write a row for each with -o. They are a stratified random
    sample: uncertain items are drawn more often, and every item has a chance. Fill in the column
    label. Check the items in the order of the file; you can stop at any time.

    Then pass the file to --checked: the errors of the fused labels, of the majority vote and of
    other methods, the class proportions and the annotators' accuracy are printed, with intervals
    that hold for all items whatever the model assumes. `blindfuse fuse --checked` uses the labels.

    A table of items and labels that were not drawn by this command is accepted too; its figures
    are valid for items like those.
    """
    planning = checked is None or more is not None
    excluded = {"checked": ("budget",) if planning else ("budget", "label_studio")}
    needed = {"more": "checked", "report": "checked"}
    refuse_combinations({**excluded, "more": ("report",)}, needed)
    writers: dict[Path, FileWriter] = {}
    labels: dict[str, str] = {}
    with output.screen.progress() as step:
        data = inputs.read(output.screen, step)
        fused = options.fuse(data, output.screen, step)
        fusion = fused.fusion
        step("choosing items" if planning else "measuring errors")
        if not planning:
            result = audit_file(fusion, str(checked), output.screen)
            if report is not None:
                measured = replace(fused, audit=result)
                writers[report] = report_writer(inputs.title, data.notes, measured)
        elif checked is None:
            n_items = min(BUDGET, fusion.responses.n_items) if budget is None else budget
            plan = blindfuse.plan_audit(fusion, n_items, options.seed)
        else:
            labels, old_plan = _read_checks(fusion, checked, options.seed)
            if old_plan is None:
                raise BadFile(
                    f"{checked} does not say how its items were drawn, so no items can be added. "
                    "Make a new plan with --budget."
                )
            plan = old_plan.more(int(more or 0))
    if planning:
        _write_plan(plan, labels, output, label_studio)
    else:
        _write_estimates(result, output, writers)


def _write_plan(
    plan: "AuditPlan", labels: dict[str, str], output: OutputOptions, label_studio: Path | None
) -> None:
    from blindfuse.cli.screen import preview
    from blindfuse.report.blocks import Field
    from blindfuse.result import json_rows

    columns = _plan_columns(plan, labels)
    rows = json_rows(columns)
    n_strata = f"{len(plan.sizes):,} {'stratum' if len(plan.sizes) == 1 else 'strata'}"
    size = f"{len(plan):,} of {int(plan.sizes.sum()):,} items to check, from {n_strata}.\n"
    fields = (
        *(Field("item", "item"), Field("stratum", "stratum", "d")),
        Field("probability", "probability", ".4g"),
    )
    tasks = [{"data": {name: row[name] for name in row if name != "label"}} for row in rows]
    text = json.dumps(tasks, ensure_ascii=False, indent=1)
    output.write(
        columns,
        text=lambda: [size, *preview(fields, rows)],
        document=lambda: {"items": rows},
        other_files={label_studio: lambda path: path.write_text(text, encoding="utf-8")}
        if label_studio
        else {},
    )
    if output.as_json or is_stdout(output.path):
        return
    if output.path is not None:
        output.screen.note(
            f"Fill in the column label of {output.path}, then pass the file to --checked."
        )
    elif label_studio is None:
        output.screen.note("No file was written; add `-o to_check.csv`.")


def _plan_columns(plan: "AuditPlan", labels: dict[str, str]) -> "Columns":
    """Return one row per item to check, in the order of the plan, with labels given so far."""
    import numpy as np

    responses = plan.candidates.fusion.responses.select_items(plan.positions)
    annotators, classes = responses.annotators.tolist(), responses.classes.tolist()
    starts, codes, symbols = (column.tolist() for column in responses.by_item)
    texts = [
        "; ".join(f"{annotators[codes[r]]}: {classes[symbols[r]]}" for r in range(begin, end))
        for begin, end in pairwise(starts)
    ]
    items = [str(item) for item in plan.items.tolist()]
    probabilities = [float(f"{p:.6g}") for p in plan.probability.tolist()]
    return {
        "item": np.array(items, dtype=object),
        "label": np.array([labels.get(item) for item in items], dtype=object),
        "responses": np.array(texts, dtype=object),
        "stratum": plan.strata + 1,
        "stratum_size": plan.sizes[plan.strata].astype(int),
        "probability": np.array(probabilities),
        "n_strata": np.full(len(plan), plan.n_strata),
    }


def _read_checks(
    fusion: "Fusion", path: str, seed: int = 0
) -> "tuple[dict[str, str], AuditPlan | None]":
    """Read checked labels, with the plan they were drawn by; None for a list of the user's own."""
    from blindfuse.auditing.plan import restore_plan
    from blindfuse.readers.gold import read_checked

    checked = read_checked(path, fusion.responses.classes)
    if checked.items is None or checked.strata is None or checked.sizes is None:
        return checked.labels, None
    design = checked.items, checked.strata, checked.sizes, checked.n_strata
    return checked.labels, restore_plan(fusion, *design, seed)


def audit_file(fusion: "Fusion", path: str, screen: "Screen") -> "AuditResult":
    """Audit a fusion with the labels in a file."""
    labels, plan = _read_checks(fusion, path)
    if not labels:
        raise BadLabels(f"{path} has no labels. Fill in its column label, at least in some rows.")
    if plan is None:
        labels = with_responses(labels, set(fusion.responses.items.tolist()), path, screen)
    elif plan.stratum_of_item is None:
        screen.note(
            f"The strata in {path} are not those of this fusion. They are used as they are, and "
            "the intervals stay valid."
        )
    return blindfuse.audit(fusion, plan, labels)


def _write_estimates(
    result: "AuditResult", output: OutputOptions, writers: dict[Path, FileWriter]
) -> None:
    from blindfuse.cli.screen import paragraph_table
    from blindfuse.result import json_rows

    columns = _estimate_columns(result)
    output.write(
        columns,
        text=lambda: [paragraph_table((each.heading, each.text) for each in result.paragraphs())],
        document=lambda: {
            "n_checked": result.n_checked,
            "n_items": result.fusion.responses.n_items,
            "is_probability_sample": result.is_probability_sample,
            "blind_error": result.blind_error,
            "better_method": result.better_method,
            "estimates": json_rows(columns),
        },
        other_files=writers,
    )


def _estimate_columns(result: "AuditResult") -> "Columns":
    """Return one row per estimate of an audit."""
    import numpy as np

    rated = result.annotators
    groups: dict[str, Any] = {
        "error": result.errors,
        "error minus that of fuse": result.differences,
        "class proportion": result.class_shares,
        "annotator accuracy": {
            name: rated.interval(m) for m, name in enumerate(rated.names.tolist())
        },
    }
    names = [(quantity, str(name)) for quantity, estimates in groups.items() for name in estimates]
    values = [each for estimates in groups.values() for each in estimates.values()]
    texts = np.array(names, dtype=object).T
    columns = zip(("value", "low", "high"), np.array(values, dtype=float).T, strict=True)
    return {"quantity": texts[0], "name": texts[1], **dict(columns)}
