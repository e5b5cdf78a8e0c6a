"""Command line of the experiments: ``python -m experiments`` in a clone of the repository."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from blindfuse import BadParameter, BlindfuseError
from blindfuse.cli.main import describe_system_error

if TYPE_CHECKING:
    from rich.console import RenderableType

    from experiments.experiment import Section
    from experiments.results import Results
    from experiments.tasks import Task

PROGRAM = "python -m experiments"


class InvalidInput(click.ClickException):
    """An error of the user, which is shown in one line."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        click.secho(f"{PROGRAM}: ", err=True, nl=False, fg="red")
        click.echo(" ".join(self.format_message().split()), err=True)


@click.command(
    PROGRAM,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  python -m experiments table1 figure11 --quick
  python -m experiments all --data ~/data --out docs
""",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--runs", type=click.IntRange(1), help="Number of Monte Carlo runs.  [default: 10; --quick: 2]"
)
@click.option("--quick", is_flag=True, help="Use fewer items: minutes instead of hours.")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False),
    help="Folder with the datasets.  [default: download them]",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="Folder for results, figures and the page.",
)
@click.option("--estimate", "only_estimate", is_flag=True, help="Estimate the time and stop.")
def command(
    names: tuple[str, ...],
    runs: int | None,
    quick: bool,
    data: str | None,
    out: Path,
    only_estimate: bool,
) -> None:
    """Reproduce the paper's tables and figures, and compare them with the printed numbers.

    Names are table1 … table9, figure2 … figure11, theorem1, theorem2, skill, and all, which is the
    default. Results are stored one by one: a run that was stopped continues where it stopped.
    """
    try:
        _reproduce(names, runs, quick, data, out, only_estimate)
    except BlindfuseError as error:
        raise InvalidInput(str(error)) from error
    except (OSError, MemoryError) as error:
        message = describe_system_error(error)
        if message is None:
            raise
        raise InvalidInput(message) from error


def _reproduce(
    names: tuple[str, ...],
    runs: int | None,
    quick: bool,
    data: str | None,
    out: Path,
    only_estimate: bool,
) -> None:
    from dataclasses import replace

    _require_libraries()
    from blindfuse.cli.screen import Screen
    from experiments.catalogue import required_tasks, select_experiments
    from experiments.reproduction_page import write_page
    from experiments.results import Results
    from experiments.runner import run_tasks
    from experiments.scale import FULL, QUICK

    scale = QUICK if quick else FULL
    scale = replace(scale, runs=runs or scale.runs)
    experiments = select_experiments(names)
    tasks = required_tasks(experiments, scale)
    results = Results(out / "results" / "results.jsonl")
    screen = Screen()
    screen.show(*_time_estimate(tasks, results))
    if only_estimate:
        return
    with screen.progress(len(tasks)) as step:
        unavailable = run_tasks(tasks, results, data, before=lambda task: step(_describe(task)))
    used = results.restrict_to(tasks)
    sections = [experiment.section(used, scale) for experiment in experiments]
    write_page(out / "reproduction.md", sections, used, scale, unavailable)
    screen.show(*_summary(sections, unavailable, out / "reproduction.md"))


def _require_libraries() -> None:
    try:
        import sklearn  # noqa: F401
    except ModuleNotFoundError as error:
        raise BadParameter(
            "The experiments need scikit-learn, which is not installed. "
            "Run: pip install -e '.[experiments]'"
        ) from error


def _describe(task: "Task") -> str:
    size = "" if task.n_items is None else f", N = {task.n_items:,}"
    return f"{task.source}{size}, run {task.seed}: {task.method}"


def _time_estimate(tasks: "list[Task]", results: "Results") -> "list[RenderableType]":
    """Return the number of finished tasks, and the estimated time of the others by source."""
    from blindfuse.cli.screen import table
    from blindfuse.report.blocks import Field
    from experiments.runner import estimate_time

    estimates = estimate_time(tasks, results)
    done = len(tasks) - sum(estimate.tasks for estimate in estimates)
    blocks: list[RenderableType] = [f"{done:,} of {len(tasks):,} tasks are done."]
    rows = []
    for source in dict.fromkeys(estimate.source for estimate in estimates):
        of_source = [estimate for estimate in estimates if estimate.source == source]
        known = [estimate.seconds for estimate in of_source if estimate.seconds is not None]
        seconds = f"{sum(known):,.0f}" if len(known) == len(of_source) else "unknown"
        remaining = sum(estimate.tasks for estimate in of_source)
        rows.append({"source": source, "tasks": remaining, "seconds": seconds})
    fields = (
        *(Field("source", "source"), Field("tasks", "remaining tasks", ",")),
        Field("seconds", "estimated seconds", "#"),
    )
    return [*blocks, table(fields, rows)] if rows else blocks


def _summary(
    sections: "list[Section]", unavailable: dict[str, str], page: Path
) -> "list[RenderableType]":
    from blindfuse.cli.screen import text

    checks = [check for section in sections for check in section.checks]
    failed = [check for check in checks if not check.passed]
    return [
        *(text(f"Left out: {source}. {reason}") for source, reason in unavailable.items()),
        *(
            text(f"Failed: {check.name}: {check.measured} (required {check.required})")
            for check in failed
        ),
        text(f"{len(checks) - len(failed)} of {len(checks)} checks passed. See {page}."),
    ]


if __name__ == "__main__":
    command(prog_name=PROGRAM)
