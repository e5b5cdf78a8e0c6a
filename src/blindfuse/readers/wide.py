"""Wide tables: one row per item, one column per annotator."""

from collections.abc import Sequence
from contextlib import suppress

import polars as pl

from blindfuse.errors import BadFile, BadParameter
from blindfuse.readers.json_tables import refuse_late_fields
from blindfuse.readers.reader import ParsedResponses, plain_labels
from blindfuse.readers.tables import Table, load_responses
from blindfuse.responses.detection import ColumnOptions, gold_column
from blindfuse.responses.frames import FrameSample
from blindfuse.responses.notes import sum_notes
from blindfuse.responses.wide_detection import transposed_note, wide_candidates, wide_columns

TITLE = "a wide table"


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return True: any table can be read as a wide table."""
    return True


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per cell; empty cells and abstentions are missing."""
    if options.label is not None or options.question is not None:
        raise BadParameter(
            "The labels of a wide table are in its cells: leave out label= and question=."
        )
    for table in tables:
        refuse_late_fields(table)
    table, gold = tables[0], gold_column(tables, options.annotators)
    item, candidates = wide_candidates(table, options)
    wanted = [table.columns[0], *filter(None, (item, gold)), *candidates]
    frame, header_notes = load_responses(tables, wanted)
    label_notes: dict[str, list[str]] = {}
    if len(candidates) > 1 and not options.all_choices:
        for name in candidates:
            with suppress(BadFile):  # objects without a clear label: not an annotator
                labels, label_notes[name] = plain_labels(table.name, frame[name])
                frame = frame.with_columns(labels)
    sample = FrameSample(frame, table.name, table.call, table.error)
    found = wide_columns(sample, item, candidates, gold, options)
    items = (
        pl.int_range(len(frame), eager=True).cast(pl.String)
        if found.item is None
        else frame[found.item]
    )
    notes = sum_notes(note for name in found.annotators for note in label_notes.get(name, ()))
    columns = {"item": "row number" if found.item is None else found.item}
    return ParsedResponses(
        pl.concat(
            frame.select(item=items, annotator=pl.lit(name), label=pl.col(name))
            for name in found.annotators
        ),
        {**columns, "annotator": "column name", "label": "cell value"},
        [
            *header_notes,
            *transposed_note(len(found.annotators), len(frame)),
            *found.notes([] if options.annotators else table.columns),
            *notes,
        ],
        abstain=True,
        gold=None if found.gold is None else pl.DataFrame([items.alias("item"), frame[found.gold]]),
    )
