"""``blindfuse fuse --numbers``: fuse ratings on a numeric scale into one estimate per item."""

from blindfuse.cli.fuse_options import FUSE, FuseOptions
from blindfuse.cli.fused_files import FusedFiles, refuse_options
from blindfuse.cli.input_options import InputOptions
from blindfuse.cli.read_numbers import ReadNumbers, read_gold_numbers, read_numbers
from blindfuse.cli.screen import Screen
from blindfuse.errors import BadFile, list_names
from blindfuse.numbers.fuse_numbers import fuse_numbers
from blindfuse.report.numbers_page import number_report_html


def fuse_number_files(inputs: InputOptions, options: FuseOptions, files: FusedFiles) -> None:
    """Read ratings, fuse them, write the tables and the report, and print a summary."""
    refuse_options(
        {
            "--method": options.method != FUSE,
            "--ordered": options.ordered,
            "--classes": inputs.classes is not None,
            "--prior-model": options.prior_model is not None,
        },
        "is for classes. Leave it out, or leave out --numbers.",
    )
    screen = files.output.screen
    with screen.progress() as step:
        step(f"reading {inputs.title}")
        data = read_numbers(inputs)
        screen.note(*data.notes)
        gold = _gold(data, options, screen)
        step(f"fusing {data.numbers.n_ratings:,} ratings")
        fusion = fuse_numbers(data.numbers, gold=gold)
    files.write(
        fusion,
        data.notes,
        page=lambda: number_report_html(fusion, title=inputs.title, notes=data.notes),
        nothing_written="No estimates were written; add `-o fused.csv`.",
    )


def _gold(data: ReadNumbers, options: FuseOptions, screen: Screen) -> dict[str, float]:
    """Return the gold values of --gold, or else those in the file; unknown items are skipped."""
    if options.no_gold:
        return {}
    gold = dict(data.gold) if options.gold is None else read_gold_numbers(options.gold)
    items = set(data.numbers.items.tolist())
    unknown = [item for item in gold if item not in items]
    if gold and len(unknown) == len(gold):
        raise BadFile(
            f"No gold item has ratings: gold values name {list_names(unknown, 3)}, the ratings "
            f"name {list_names(data.numbers.items, 3)}. Use the same names in both."
        )
    if unknown:
        screen.note(f"{len(unknown):,} gold items without ratings skipped: {list_names(unknown)}")
    return {item: value for item, value in gold.items() if item in items}
