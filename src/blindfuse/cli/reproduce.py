"""blindfuse reproduce: the tables and figures of the paper, measured beside printed."""

from pathlib import Path
from typing import Any

import click


@click.command(
    "reproduce",
    epilog="""\b
Examples:
  blindfuse reproduce all --data ~/data --out docs
  blindfuse reproduce table1 figure11 --quick
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
        from blindfuse.experiments.catalogue import FULL, QUICK, chosen, tasks_of
    except ModuleNotFoundError as reason:
        raise BadParameter(
            f"The experiments need {reason.name}: pip install 'blindfuse[experiments]'."
        ) from reason
    from blindfuse.experiments.page import write_page
    from blindfuse.experiments.running import Results, run_all

    scale = QUICK if quick else FULL
    scale = replace(scale, runs=runs or scale.runs)
    experiments = chosen(names)
    tasks = tasks_of(experiments, scale)
    results = Results(out / "results" / "results.jsonl")
    _print_estimate(tasks, results)
    if only_estimate:
        return
    with _progress() as progress:
        bar = progress.add_task("", total=len(tasks))
        left_out = run_all(
            tasks,
            results,
            data,
            before=lambda task: progress.update(bar, description=_named(task)),
            after=lambda task: progress.advance(bar),
        )
    used = results.restricted(tasks)
    sections = [experiment.section(used, scale) for experiment in experiments]
    write_page(out / "reproduction.md", sections, used, scale, left_out)
    _print_outcome(sections, left_out, out / "reproduction.md")


def _progress() -> Any:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = "{task.description}", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*(TextColumn(one) if isinstance(one, str) else one for one in columns))


def _named(task: Any) -> str:
    size = "" if task.n_items is None else f", N = {task.n_items:,}"
    return f"{task.source}{size}, run {task.seed}: {task.method}"


def _print_estimate(tasks: list[Any], results: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    from blindfuse.experiments.running import estimate

    left = estimate(tasks, results)
    done = len(tasks) - sum(one.left for one in left)
    click.echo(f"{done:,} of {len(tasks):,} tasks are done.")
    if not left:
        return
    table = Table("source", "tasks left", "seconds at most, by what is known")
    for source in dict.fromkeys(one.source for one in left):
        of_source = [one for one in left if one.source == source]
        known = [one.seconds for one in of_source if one.seconds is not None]
        said = f"{sum(known):,.0f}" if len(known) == len(of_source) else "not known yet"
        table.add_row(source, f"{sum(one.left for one in of_source):,}", said)
    Console().print(table)


def _print_outcome(sections: list[Any], left_out: dict[str, str], page: Path) -> None:
    checks = [check for section in sections for check in section.checks]
    held = sum(check.holds for check in checks)
    for source, reason in left_out.items():
        click.echo(f"Left out: {source}. {reason}")
    for check in checks:
        if not check.holds:
            click.echo(f"Missed: {check.what}: {check.measured} (asked {check.asked})")
    click.echo(f"{held} of {len(checks)} figures hold. See {page}.")


if __name__ == "__main__":
    command()
