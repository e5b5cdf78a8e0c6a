"""``blindfuse demo``: the main job on data that needs no network."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.fusing import FusionResult, report_writer, summary_table
from blindfuse.cli.options import force_option, report_option
from blindfuse.cli.outputs import write_all

if TYPE_CHECKING:
    from rich.table import Table

    from blindfuse import Fusion
    from blindfuse.typing import Codes

TITLE = "Weak classifiers label tumours"
MAX_ROWS = 8
"""Annotators that the table lists: the least accurate ones, as estimated."""


@click.command(
    epilog="""\b
Examples:
  blindfuse demo
  blindfuse demo --report report.html
"""
)
@report_option()
@force_option(expose_value=False)
def command(report: Path | None) -> None:
    """Fuse the labels of 30 weak classifiers and 6 guessers for 569 breast tumours.

    Each classifier is trained on 4 to 20 tumours and three of 30 measurements, and labels 15 to
    25 % of the tumours as benign or malignant. The estimates made without the truth are shown
    beside the true figures.
    """
    from blindfuse import check_on_gold, fuse
    from blindfuse.cli.screen import Screen, table
    from blindfuse.datasets.tumours import tumours_crowd

    screen = Screen()
    with screen.progress() as step:
        crowd = tumours_crowd()
        step("fusing the labels")
        fusion = fuse(crowd.responses)
        labels = crowd.responses.classes[crowd.truth]
        truth = dict(zip(crowd.responses.items.tolist(), labels.tolist(), strict=True))
        check = check_on_gold(fusion, truth)
        fused = FusionResult(fusion, truth, fusion, check)
        if report is not None:
            step("comparing methods for the report")
            write_all({report: report_writer(TITLE, (), fused)})
    screen.show(summary_table(fused), "", _accuracies(fusion, crowd.truth), "")
    errors = [
        ["majority vote", f"{100 * check.vote_error.value:.1f} %"],
        ["blindfuse", f"{100 * check.error.value:.1f} %"],
    ]
    screen.show(table(("labels by", "wrong"), errors, right=["wrong"]))
    if report is not None:
        screen.note_written(report)


def _accuracies(fusion: "Fusion", truth: "Codes") -> "Table":
    """The least accurate annotators: estimated without the truth, and true."""
    import numpy as np

    from blindfuse.cli.screen import table
    from blindfuse.diagnostics.annotators import FLAGS
    from blindfuse.estimators.voting import agreement_with

    rated, true = fusion.diagnostics.annotators, agreement_with(fusion.responses, truth)
    rows: list[list[Any]] = [
        [
            rated.names[m],
            f"{100 * rated.accuracy[m]:.0f} %",
            f"{100 * true[m]:.0f} %",
            ", ".join(FLAGS[flag] for flag in rated.flags_of(m)),
        ]
        for m in np.argsort(rated.accuracy, kind="stable")[:MAX_ROWS]
    ]
    columns = "annotator", "accuracy, estimated", "true", "remark"
    return table(columns, rows, right=columns[1:3])
