"""``blindfuse audit``: choose items to check, and measure the error on the checked ones."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.fuse_options import FuseOptions
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.options import (
    EXISTING_FILE,
    report_option,
    with_fuse_options,
    with_input_options,
    with_output_options,
)
from blindfuse.cli.output_files import FileWriter, OutputFile, is_stdout
from blindfuse.cli.output_options import OutputOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blindfuse import AuditPlan
    from blindfuse.cli.fuse_options import FusionResult
    from blindfuse.readers.gold import CheckedFile

BUDGET = 100
MAX_ROWS = 10
"""Maximum number of items printed; a file has all."""


@click.command(
    epilog="""\b
Examples:
  blindfuse audit votes.csv --budget 100 -o to_check.csv
  blindfuse audit votes.csv --checked to_check.csv --report audit.html
  blindfuse audit votes.csv --checked to_check.csv --more 50 -o more.csv
  blindfuse audit votes.csv --budget 100 --label-studio tasks.json
"""
)
@with_output_options("one row per item to check (with --checked, one row per estimate)")
@click.option(
    "--budget",
    type=int,
    metavar="N",
    help=f"Number of items to check.  [default: {BUDGET}]",
)
@click.option(
    "--checked",
    type=EXISTING_FILE,
    metavar="FILE",
    help="Checked labels: the file of an earlier -o with its column label filled in, a JSON export "
    "of Label Studio, or a table with the columns item and label.",
)
@click.option(
    "--more", type=int, metavar="N", help="Add N items to check to those in the file of --checked."
)
@click.option(
    "--label-studio", type=OutputFile(("json",)), help="Write tasks for Label Studio: .json."
)
@report_option
@with_input_options
@with_fuse_options
def command(
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

    First, choose items with --budget and write them with -o. They are a stratified random sample:
    uncertain items are drawn more often, and every item has a chance. Fill in the column label.
    Check the items in the order of the file; you can stop at any time.

    Then pass the file to --checked: the errors of the fused labels, of the majority vote and of
    other methods, the class proportions and the annotators' accuracy are printed, with intervals
    that hold for all items whatever the model assumes. `blindfuse fuse --checked` uses the labels.

    A table of items and labels that were not drawn by this command is accepted too; its figures
    are valid for items like those.
    """
    _refuse_contradictions(budget, checked, more, label_studio, report)
    screen = output.screen
    with screen.progress() as step:
        data = inputs.read(screen, step)
        fused = replace(options, abstentions=False).fuse(data, screen, step)
        if checked is None or more is not None:
            step("choosing items")
            plan, labels = _plan(fused, options, budget, checked, more)
        else:
            step("measuring errors")
            _evaluate(inputs, data.notes, fused, output, checked, report)
            return
    _write_plan(plan, labels, output, label_studio)


def _refuse_contradictions(
    budget: int | None,
    checked: str | None,
    more: int | None,
    label_studio: Path | None,
    report: Path | None,
) -> None:
    """Raise an error for options that do not go together."""
    if more is not None and checked is None:
        raise click.UsageError("--more adds to a file of items: pass it with --checked.")
    if budget is not None and checked is not None:
        raise click.UsageError(
            "--budget makes a new plan and --checked uses an old one. Leave one of them out; "
            "--more adds items to the old plan."
        )
    planning = checked is None or more is not None
    if report is not None and planning:
        raise click.UsageError("--report needs checked labels: pass --checked without --more.")
    if label_studio is not None and not planning:
        raise click.UsageError("--label-studio writes items to check: pass --budget or --more.")


def _plan(
    fused: "FusionResult",
    options: FuseOptions,
    budget: int | None,
    checked: str | None,
    more: int | None,
) -> "tuple[AuditPlan, dict[str, str]]":
    """Return a new plan, or an old one with more items and the labels that it has already."""
    from blindfuse import plan_audit
    from blindfuse.cli.checked_files import plan_of_file, read_checked_file
    from blindfuse.errors import BadFile

    if checked is None or more is None:
        default = min(BUDGET, fused.fusion.responses.n_items)
        return plan_audit(fused.fusion, default if budget is None else budget, options.seed), {}
    file: CheckedFile = read_checked_file(fused.fusion, checked)
    plan = plan_of_file(fused.fusion, file, options.seed)
    if plan is None:
        raise BadFile(
            f"{checked} does not say how its items were drawn, so no items can be added. Make a "
            "new plan with --budget."
        )
    return plan.more(more), file.labels


def _write_plan(
    plan: "AuditPlan", labels: dict[str, str], output: OutputOptions, label_studio: Path | None
) -> None:
    from blindfuse.cli.checked_files import plan_frame, tasks_writer
    from blindfuse.cli.tables import as_rows

    frame = plan_frame(plan, labels)
    other_files: dict[Path, FileWriter] = {}
    if label_studio is not None:
        other_files[label_studio] = tasks_writer(frame)
    output.write(
        frame,
        text=lambda: _plan_text(plan, frame.select("item", "stratum", "probability").rows()),
        document=lambda: {"items": as_rows(frame)},
        other_files=other_files,
    )
    if output.as_json:
        return
    if output.path is not None and not is_stdout(output.path):
        output.screen.note(
            f"Fill in the column label of {output.path}, then pass the file to --checked."
        )
    elif output.path is None and label_studio is None:
        output.screen.note("No file was written; add `-o to_check.csv`.")


def _plan_text(plan: "AuditPlan", rows: list[tuple[str, int, float]]) -> "list[RenderableType]":
    from blindfuse.cli.screen import table

    columns = ("item", "stratum", "probability")
    shown = [(item, stratum, f"{p:.4g}") for item, stratum, p in rows[:MAX_ROWS]]
    blocks: list[RenderableType] = [
        f"{len(plan):,} of {int(plan.sizes.sum()):,} items to check, from {len(plan.sizes):,} "
        f"{'stratum' if len(plan.sizes) == 1 else 'strata'}.",
        "",
        table(columns, shown, right=["stratum", "probability"]),
    ]
    if len(rows) > MAX_ROWS:
        blocks += ["", f"{len(rows) - MAX_ROWS:,} more items."]
    return blocks


def _evaluate(
    inputs: InputOptions,
    notes: Any,
    fused: "FusionResult",
    output: OutputOptions,
    checked: str,
    report: Path | None,
) -> None:
    from blindfuse.cli.checked_files import audit_file, estimates_frame
    from blindfuse.cli.fused_files import report_writer
    from blindfuse.cli.screen import paragraph_table
    from blindfuse.cli.tables import as_rows

    result = audit_file(fused.fusion, checked, output.screen)
    frame = estimates_frame(result)
    other_files: dict[Path, FileWriter] = {}
    if report is not None:
        other_files[report] = report_writer(inputs.title, notes, fused, result)
    output.write(
        frame,
        text=lambda: [paragraph_table((one.heading, one.text) for one in result.paragraphs())],
        document=lambda: {
            "n_checked": result.n_checked,
            "n_items": result.fusion.responses.n_items,
            "is_probability_sample": result.is_probability_sample,
            "blind_error": result.blind_error,
            "better_method": result.better_method,
            "estimates": as_rows(frame),
        },
        other_files=other_files,
    )
