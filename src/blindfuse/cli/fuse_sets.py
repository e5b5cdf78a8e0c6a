"""``blindfuse fuse --multi-label``: fuse sets of classes into one set per item."""

from collections.abc import Mapping, Sequence

from blindfuse.cli.fuse_options import FUSE, FuseOptions
from blindfuse.cli.fused_files import FusedFiles, refuse_options
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.screen import Screen
from blindfuse.errors import BadFile, list_names
from blindfuse.readers.gold import read_gold_texts
from blindfuse.readers.reading_sets import ReadSets, read_sets
from blindfuse.report.sets_page import set_report_html
from blindfuse.responses.set_values import choose_separator, parse_set
from blindfuse.sets.fuse_sets import fuse_sets


def fuse_set_files(
    inputs: InputOptions, options: FuseOptions, files: FusedFiles, separator: str | None
) -> None:
    """Read sets, fuse them, write the tables and the report, and print a summary."""
    refuse_options(
        {
            "--method": options.method != FUSE,
            "--ordered": options.ordered,
            "--prior-model": options.prior_model is not None,
        },
        "is for one label per item. Leave it out, or leave out --multi-label.",
    )
    screen = files.output.screen
    with screen.progress() as step:
        step(f"reading {inputs.title}")
        data = read_sets(inputs.files, separator=separator, **inputs.reading_options())
        screen.note(*data.notes)
        gold = _gold(data, options, separator, screen)
        step(f"fusing {data.responses.n_responses:,} responses")
        fusion = fuse_sets(data.responses, gold=gold, seed=options.seed, threads=options.threads)
    files.write(
        fusion,
        data.notes,
        page=lambda: set_report_html(fusion, title=inputs.title, notes=data.notes),
        nothing_written="No sets were written; add `-o fused.csv`.",
    )


def _gold(
    data: ReadSets, options: FuseOptions, separator: str | None, screen: Screen
) -> Mapping[str, Sequence[str]]:
    """Return the gold sets of --gold, or else those in the file; unknown items are skipped."""
    if options.no_gold:
        return {}
    if options.gold is None:
        return data.gold
    texts = read_gold_texts(options.gold)
    used = choose_separator(texts.values(), separator)
    classes = set(data.responses.classes.tolist())
    gold = {item: parse_set(text, used, classes) or [] for item, text in texts.items()}
    items = set(data.responses.items.tolist())
    unknown = [item for item in gold if item not in items]
    if gold and len(unknown) == len(gold):
        raise BadFile(
            f"No gold item has responses: {options.gold} names {list_names(unknown, 3)}, the "
            f"responses name {list_names(data.responses.items, 3)}. Use the same names in both."
        )
    if unknown:
        screen.note(
            f"{len(unknown):,} gold items without responses were skipped: {list_names(unknown)}"
        )
    return {item: members for item, members in gold.items() if item in items}
