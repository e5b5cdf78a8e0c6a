"""``blindfuse fuse`` and ``cluster``: one label, set, number or class per item."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from blindfuse.cli.fusing import (
    KINDS,
    FusedFiles,
    FuseOptions,
    FusionResult,
    fuse_files,
)
from blindfuse.cli.options import (
    InputOptions,
    OutputOptions,
    file_option,
    refuse_combinations,
    seed_option,
    takes,
    threads_option,
)
from blindfuse.cli.outputs import BelowLimit
from blindfuse.errors import BadParameter, list_names, suggest

PASSES = frozenset({"pass", "passed", "good", "correct", "positive", "ok", "success", "accept"})
"""Names of a class that is a pass, beside those that mean true."""
_ONE_LABEL = (
    *("method", "ordered", "prior_model", "model", "checked", "partitioned"),
    *("fail_below", "pass_class"),
)
EXCLUDED = {
    "numbers": ("multi_label", "scores", "abstentions", "classes", "separator", *_ONE_LABEL),
    "multi_label": ("scores", "abstentions", *_ONE_LABEL),
    "scores": ("abstentions", "separator", "partitioned"),
    "abstentions": ("separator", "partitioned"),
    "partitioned": ("checked",),
}
"""The options that an option cannot be used with."""


@click.command(
    epilog="""\b
Examples:
  blindfuse fuse votes.csv
  blindfuse fuse votes.csv -o fused.csv --report report.html
  blindfuse fuse "batches/*.csv.gz" --gold checked.csv -o fused.parquet
  blindfuse fuse votes.csv --checked to_check.csv -o fused.csv
  blindfuse fuse votes.csv --item image --annotator worker --label verdict
  blindfuse fuse grades.csv --ordered --classes poor,fair,good
  blindfuse fuse ratings.csv --numbers -o fused.csv
  blindfuse fuse judged.jsonl --scores --classes fail,pass -o fused.csv
  blindfuse fuse sources.csv --abstentions -o fused.csv
  blindfuse fuse tags.csv --multi-label -o fused.csv --report report.html
  blindfuse fuse results.jsonl --fail-below 0.8
  zcat votes.csv.gz | blindfuse fuse - -o - > fused.csv
"""
)
@takes(output=OutputOptions, other_files=FusedFiles)
@file_option(
    "--checked",
    help="Checked labels, see `blindfuse audit`: held fixed, and used to select the method.",
)
@click.option(
    "--partitioned/--whole",
    default=None,
    help="Read the files in partitions, or at once (see above).  [default: in partitions if they "
    "do not fit into memory]",
)
@click.option(
    "--numbers", is_flag=True, help="The labels are numbers, such as ratings; estimate the truth."
)
@click.option(
    "--scores",
    is_flag=True,
    help="The labels are scores, such as 0 to 10; fuse them into the classes of --classes, from "
    "low to high.  [default classes: fail,pass]",
)
@click.option(
    "--abstentions",
    is_flag=True,
    help="A missing response says something, because all annotators saw all items.",
)
@click.option(
    "--multi-label",
    is_flag=True,
    help="A label is a set of classes, such as a|b; fuse each class, and all classes together.",
)
@click.option(
    "--separator",
    metavar="TEXT",
    help="What separates classes in a cell, with --multi-label.  [default: the first of | ; , that "
    "occurs]",
)
@click.option(
    "--fail-below",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="Exit with code 1 if the lower limit of the pass rate, the share of the class of "
    "--pass-class among the items, is below this.",
)
@click.option(
    "--pass-class",
    metavar="NAME",
    help="The class that is a pass.  [default: the positive one of two, such as pass, yes or 1]",
)
@takes(inputs=InputOptions, options=FuseOptions)
def fuse_command(
    inputs: InputOptions,
    options: FuseOptions,
    output: OutputOptions,
    other_files: FusedFiles,
    checked: str | None,
    partitioned: bool | None,
    fail_below: float | None,
    pass_class: str | None,
    **kinds: bool,
) -> None:
    """Fuse the responses in FILE… into one label per item and rate the annotators.

    A FILE is a long or wide table (CSV, TSV, JSON lines, Parquet, Arrow), an export of Label
    Studio, Toloka, MTurk, Prodigy, Argilla or doccano, or a file of LLM judgements. It may also be
    a glob pattern, a folder, a .gz, .bz2, .xz or .zip file, or - for standard input. The columns
    are detected by name and content, and notes report which ones were used.

    The output has the columns item, label, confidence (the posterior probability of the label),
    margin (its lead over the second most probable class), needs_another_label (whether one more
    response could change the label), gain (by how much that response is expected to raise the
    probability of a correct label), and p_CLASS for each class if there are at most 20. Without
    -o, only a summary is printed.

    With --scores, what a score of one annotator means is learned from the scores of the others.

    With --numbers, the output has the columns item, estimate, low and high (a 95 % interval),
    ratings and spread.

    With --multi-label, the output has the columns item, labels (as a|b), probability (that the
    whole set is correct), needs_another_label and p_CLASS. An empty list, or an empty cell of a
    long CSV file, is the response that no class applies.

    Gold labels (--gold, or a column of true labels in FILE) are held fixed. The error on them is
    measured by a second fusion that does not use them.

    Checked labels (--checked) are held fixed too. If they show that another method makes fewer
    errors than the selected one, that method is used, and the summary says so.

    A long table that is larger than memory is read in partitions. The items are distributed over
    temporary files, the model is estimated from a sample of the items, and the labels are written
    one partition after another, so the order of the items changes.
    """
    needed = {"separator": "multi_label", "pass_class": "fail_below"}
    refuse_combinations(EXCLUDED, needed)
    option = next((name for name, is_given in kinds.items() if is_given), None)
    kind, function = KINDS[option]
    may_be_large = not (option or options.abstentions or checked) and partitioned is None
    reason = inputs.reason_to_partition() if may_be_large else None
    shares: dict[Any, Any] = {}

    def fuse(data: Any, step: Any) -> FusionResult:
        fused = options.fuse(data, output.screen, step, kind, function)
        if fail_below is not None:
            find_pass_class(fused.fusion.responses.classes.tolist(), pass_class)
        if checked is None:
            return fused
        from blindfuse.auditing.apply_checks import apply_checks
        from blindfuse.cli.audit import audit_file

        audit = audit_file(fused.fusion, checked, output.screen)
        shares.update(audit.class_shares)
        return replace(fused, fusion=apply_checks(fused.fusion, audit))

    if partitioned or reason:
        from blindfuse.cli.partitions import fuse_partitions

        output.screen.note(*filter(None, [reason]))
        fused = fuse_partitions(inputs, options, output, other_files)
    else:
        reading = {"kind": kind, "separator": options.separator}
        fused = fuse_files(inputs, output, other_files, fuse, **reading)
    if fail_below is not None:
        check_pass_rate(fused, shares, pass_class, fail_below, output.screen)


def find_pass_class(classes: list[Any], name: str | None) -> int:
    """Return the code of the class that is a pass: the named one, or the positive one of two."""
    from blindfuse.responses.markers import truth_value

    names = [str(each) for each in classes]
    if name is not None:
        if name in names:
            return names.index(name)
        raise BadParameter(f"pass_class={name} is not a class: {suggest(name, names)}")
    words = [each.strip().casefold() for each in names]
    passes = [k for k, word in enumerate(words) if word in PASSES or truth_value(word) is True]
    if len(names) == 2 and len(passes) == 1:
        return passes[0]
    raise BadParameter(
        f"Which class is a pass is not clear: there are {list_names(names)}. Name it with "
        f"pass_class=, as in pass_class={names[-1]!r}."
    )


def check_pass_rate(
    fused: FusionResult, measured: Mapping[Any, Any], name: str | None, limit: float, screen: Any
) -> None:
    """Raise an error if the lower limit of the pass rate is below the limit, else print a note.

    The rate is that ``measured`` on checked labels, ``{class: Interval}``, or else the estimate.
    """
    from blindfuse.metrics import Interval

    classes = fused.fusion.responses.classes.tolist()
    k = find_pass_class(classes, name)
    shares = fused.fusion.diagnostics.class_shares
    estimate = Interval(shares.share[k], shares.low[k], shares.high[k])
    rate = measured.get(classes[k], estimate)
    if rate.low != rate.low:
        raise BelowLimit(
            "The pass rate is not known: the responses do not tell how many labels are wrong. "
            "Check some with `blindfuse audit` and pass them to --checked."
        )
    text = f"pass rate ({classes[k]}, {95 if measured else 80} % interval): {rate.percent()}"
    if rate.low < limit:
        raise BelowLimit(f"{text}. Its lower limit is below {limit:g}, the value of --fail-below.")
    screen.note(f"{text}; its lower limit is not below {limit:g}")


@click.command(
    epilog="""\b
Examples:
  blindfuse cluster runs.csv --classes 10 -o clusters.csv
  blindfuse cluster runs.csv --runs runs_rated.csv
"""
)
@takes(other_files=FusedFiles, output=OutputOptions, inputs=InputOptions)
@seed_option()
@threads_option()
def cluster_command(
    inputs: InputOptions, output: OutputOptions, other_files: FusedFiles, **options: Any
) -> None:
    """Fuse the clusterings in FILE… into one class per item.

    FILE has one row per item and one column per run, or one row per item and run. Every run has
    clusters of its own: cluster 3 of one run has nothing to do with cluster 3 of another. --classes
    is the number of classes, or their names; without it, the number is chosen by how well the
    clusters of one run are predicted from those of the others.
    """
    from blindfuse import fuse_clusters

    names: Any = inputs.classes or None
    if names is not None and len(names) == 1 and names[0].isdecimal():
        names = int(names[0])
    fuse_files(
        replace(inputs, classes=()),
        output,
        other_files,
        lambda data, step: fuse_clusters(data.responses, names, **options),
        kind="clusters",
        are_known=True,
    )
