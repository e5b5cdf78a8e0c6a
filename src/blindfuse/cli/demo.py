"""``blindfuse demo``: the main job on data that needs no network."""

from pathlib import Path

import click

from blindfuse.cli.options import force
from blindfuse.cli.page import page
from blindfuse.cli.targets import Target, write_all
from blindfuse.cli.work import Fused
from blindfuse.errors import BadParameter


@click.command(
    epilog="""\b
Examples:
  blindfuse demo
  blindfuse demo --report report.html
"""
)
@click.option("--report", type=Target(("html", "htm")), help="A page to look at: .html.")
@force
def command(report: Path | None) -> None:
    """15 classifiers label handwritten digits, and their answers are fused.

    Each one is trained on few digits. Who is how good is estimated without the truth, and shown
    beside the true figures.
    """
    try:
        from blindfuse.demo import play
    except ModuleNotFoundError as missing:
        raise BadParameter(
            f"The demo needs {missing.name}: pip install 'blindfuse[experiments]'."
        ) from missing
    from blindfuse.cli.screen import Screen, table
    from blindfuse.cli.summary import summary

    screen = Screen()
    with screen.working() as step:
        played = play(step)
        fused = Fused(played.fusion, played.truth, played.fusion, played.check, True)
        if report is not None:
            step("comparing methods for the report")
            write_all({report: page("15 classifiers look at handwritten digits", (), fused)})
    screen.show(summary(fused), "")
    accuracies = [[one.name, f"{one.blind:.3f}", f"{one.true:.3f}"] for one in played.annotators]
    columns = "annotator", "accuracy, estimated blind", "true"
    screen.show(table(columns, accuracies, right=columns[1:]), "")
    errors = [[name, f"{100 * error:.2f} %"] for name, error in played.errors.items()]
    screen.show(table(("labels of", "wrong"), errors, right=["wrong"]))
    if report is not None:
        screen.note(f"{report} is written")
