"""``blindfuse demo``: the main job on data that needs no network."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from blindfuse.cli.fuse_options import FusionResult
from blindfuse.cli.options import force_option
from blindfuse.cli.output_files import OutputFile, write_all
from blindfuse.cli.report import report_writer
from blindfuse.errors import BadParameter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.table import Table

    from blindfuse import Fusion

TITLE = "Weak classifiers label handwritten digits"
MAX_ROWS = 8
"""Annotators that the table lists: the least accurate ones, as estimated."""


@click.command(
    epilog="""\b
Examples:
  blindfuse demo
  blindfuse demo --report report.html
"""
)
@click.option("--report", type=OutputFile(("html", "htm")), help="Write a report: .html.")
@force_option
def command(report: Path | None) -> None:
    """Fuse the labels of 40 weak classifiers and 3 guessers for handwritten digits.

    Each classifier is trained on a few digits and a third of the pixels, and labels 15 to 20 % of
    the digits. The estimates made without the truth are shown beside the true figures.
    """
    try:
        from blindfuse.datasets.digits import digits_crowd
    except ModuleNotFoundError as missing:
        raise BadParameter(
            f"The demo needs {missing.name}. Run: pip install 'blindfuse[sklearn]'."
        ) from missing
    from blindfuse.cli.screen import Screen, table
    from blindfuse.cli.summary import summary_table
    from blindfuse.fusion.fuse import fuse
    from blindfuse.fusion.gold_check import check_on_gold

    screen = Screen()
    with screen.progress() as step:
        step("training the classifiers")
        crowd = digits_crowd()
        step("fusing their labels")
        fusion = fuse(crowd.responses)
        truth = dict(zip(crowd.responses.items.tolist(), crowd.truth.tolist(), strict=True))
        check = check_on_gold(fusion, truth)
        fused = FusionResult(fusion, truth, fusion, check, True)
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


def _accuracies(fusion: "Fusion", truth: "NDArray[np.intp]") -> "Table":
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
