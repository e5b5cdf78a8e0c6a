"""python -m experiments: the tables and figures of the paper, measured beside printed."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

    from experiments.outcome import Section
    from experiments.running import Results
    from experiments.tasks import Task


@click.command(
    "reproduce",
    epilog="""\b
Examples:
  python -m experiments all --data ~/data --out docs
  python -m experiments table1 figure11 --quick
""",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--runs", type=click.IntRange(1), help="Monte Carlo runs.  [default: 10; 2 if quick]")
@click.option("--quick", is_flag=True, help="Small numbers of items: minutes instead of hours.")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False),
    help="Folder of datasets; without it they are downloaded.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reproduction"),
    show_default=True,
    help="Folder of results, pictures and the page; a run goes on where the last one stopped.",
)
@click.option("--estimate", "only_estimate", is_flag=True, help="Say how long it takes, and stop.")
def command(
    names: tuple[str, ...],
    runs: int | None,
    quick: bool,
    data: str | None,
    out: Path,
    only_estimate: bool,
) -> None:
    """The paper's tables and figures, measured beside printed: all, or those named.

    Names are table1 … table9, figure2 … figure11, theorem1, theorem2 and skill. A run that was
    stopped goes on where it was, and never counts a half-written result.
    """
    from dataclasses import replace

    from blindfuse import BadParameter

    try:
        from experiments.catalogue import FULL, QUICK, chosen, tasks_of
    except ModuleNotFoundError as reason:
        raise BadParameter(
            f"The experiments need {reason.name}: pip install 'blindfuse[experiments]'."
        ) from reason
    from blindfuse.cli.screen import Screen
    from experiments.page import write_page
    from experiments.running import Results, run_all

    scale = QUICK if quick else FULL
    scale = replace(scale, runs=runs or scale.runs)
    experiments = chosen(names)
    tasks = tasks_of(experiments, scale)
    results = Results(out / "results" / "results.jsonl")
    screen = Screen()
    screen.show(*_estimates(tasks, results))
    if only_estimate:
        return
    with screen.working(len(tasks)) as step:
        left_out = run_all(tasks, results, data, before=lambda task: step(_named(task)))
    used = results.restricted(tasks)
    sections = [experiment.section(used, scale) for experiment in experiments]
    write_page(out / "reproduction.md", sections, used, scale, left_out)
    screen.show(*_outcome(sections, left_out, out / "reproduction.md"))


def _named(task: "Task") -> str:
    size = "" if task.n_items is None else f", N = {task.n_items:,}"
    return f"{task.source}{size}, run {task.seed}: {task.method}"


def _estimates(tasks: "list[Task]", results: "Results") -> "list[RenderableType]":
    """How much is done, and how long the rest may take by what is known."""
    from blindfuse.cli.screen import table
    from experiments.running import estimate

    left = estimate(tasks, results)
    done = len(tasks) - sum(one.left for one in left)
    words: list[RenderableType] = [f"{done:,} of {len(tasks):,} tasks are done."]
    rows = []
    for source in dict.fromkeys(one.source for one in left):
        of_source = [one for one in left if one.source == source]
        known = [one.seconds for one in of_source if one.seconds is not None]
        said = f"{sum(known):,.0f}" if len(known) == len(of_source) else "not known yet"
        rows.append([source, f"{sum(one.left for one in of_source):,}", said])
    columns = "source", "tasks left", "seconds at most"
    return [*words, table(columns, rows, right=columns[1:])] if rows else words


def _outcome(
    sections: "list[Section]", left_out: dict[str, str], page: Path
) -> "list[RenderableType]":
    from blindfuse.cli.screen import text

    checks = [check for section in sections for check in section.checks]
    held = sum(check.holds for check in checks)
    missed = [check for check in checks if not check.holds]
    return [
        *(text(f"Left out: {source}. {reason}") for source, reason in left_out.items()),
        *(text(f"Missed: {one.what}: {one.measured} (asked {one.asked})") for one in missed),
        text(f"{held} of {len(checks)} figures hold. See {page}."),
    ]


if __name__ == "__main__":
    command()
