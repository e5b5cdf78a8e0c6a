"""Checked labels of an audit: the file of a plan with labels filled in, or any list of labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from blindfuse.errors import BadFile, list_names
from blindfuse.readers import label_studio
from blindfuse.readers.gold import gold_options, one_label_per_item, read_gold
from blindfuse.readers.opening import open_table
from blindfuse.readers.sources import FileInput, find_sources
from blindfuse.readers.tables import Table, load_columns, load_records
from blindfuse.responses.detection import ColumnOptions
from blindfuse.responses.inputs import Names
from blindfuse.responses.values import LabelOptions

DESIGN = ("stratum", "stratum_size", "probability")
"""Columns that say how the items were drawn."""
N_STRATA = "n_strata"
"""Column with the number of strata that a plan asked for."""


@dataclass(frozen=True)
class CheckedFile:
    """What a file of checked labels contains.

    Attributes
    ----------
    labels
        the labels that are filled in, ``{item: label}``.
    items, strata, sizes
        all drawn items, their strata and how many items each stratum has; None if the file does
        not say how the items were drawn.
    n_strata
        how many strata the plan asked for; None if the file does not say.
    """

    labels: dict[str, str]
    items: list[str] | None = None
    strata: list[int] | None = None
    sizes: list[float] | None = None
    n_strata: int | None = None


def read_checked(path: FileInput, classes: Names | None = None) -> CheckedFile:
    """Read checked labels: a table with the columns item and label, or a Label Studio export.

    With ``classes``, labels are written as the classes are.

    The columns stratum, stratum_size and probability of a plan say how the items were drawn. With
    a probability alone, items of the same probability are one stratum.
    """
    tables = [open_table(source) for source in find_sources(path)]
    if tables[0].records is not None and "data" in tables[0].columns:
        frame = _label_studio_frame(tables)
    elif {"stratum", "probability"} & set(tables[0].columns) and "item" in tables[0].columns:
        known = [name for name in ("item", "label", *DESIGN, N_STRATA) if name in tables[0].columns]
        frame = load_columns(tables, known)
    else:
        return CheckedFile(read_gold(path, classes=classes))
    return _parse(tables[0].name, frame, gold_options(classes))


def _label_studio_frame(tables: Sequence[Table]) -> pl.DataFrame:
    """One row per task, with the fields of its data and the label of its annotations."""
    rows = [
        {"item": str(data["item"]), **{name: data.get(name) for name in (*DESIGN, N_STRATA)}}
        for data in (task.get("data") or {} for task in load_records(tables))
        if data.get("item") is not None
    ]
    if not rows:
        raise BadFile(
            f"{tables[0].name} has no task with the field 'item'. Import the tasks that "
            "`blindfuse audit --label-studio` writes, and export them as JSON."
        )
    text = [{name: None if x is None else str(x) for name, x in row.items()} for row in rows]
    frame = pl.DataFrame(text, schema=dict.fromkeys(("item", *DESIGN, N_STRATA), pl.String))
    labels = pl.DataFrame(_annotations(tables), schema=["item", "label"], orient="row")
    labels = labels.cast(pl.String).unique(maintain_order=True)
    return frame.join(labels, on="item", how="left", maintain_order="left")


def _annotations(tables: Sequence[Table]) -> Iterator[tuple[str, str]]:
    """Items and labels of the annotations; tasks without annotations have none."""
    if not {"annotations", "completions"} & set(tables[0].columns):
        return
    parsed = label_studio.read(tables, ColumnOptions(item="item"))
    yield from parsed.frame.drop_nulls().select("item", "label").iter_rows()
    if parsed.gold is not None:
        yield from parsed.gold.frame.iter_rows()


def _parse(name: str, frame: pl.DataFrame, options: LabelOptions) -> CheckedFile:
    """The labels and the design in a table with a column of strata or probabilities."""
    if "label" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, pl.String).alias("label"))
    labels, conflicting = one_label_per_item(frame.select("item", "label"), options)
    if conflicting:
        raise BadFile(
            f"{name} has several labels for the items {list_names(conflicting)}. "
            "Keep one label per item."
        )
    drawn = frame.unique("item", keep="first", maintain_order=True)
    numbers = {
        column: drawn[column].cast(pl.Float64, strict=False) if column in drawn.columns else None
        for column in DESIGN
    }
    if all(column is None or column.null_count() == len(drawn) for column in numbers.values()):
        return CheckedFile(labels)
    stratum, size, probability = numbers.values()
    if stratum is None:
        stratum = probability
    assert stratum is not None
    if size is None and probability is not None:
        counts = drawn.select(pl.len().over(stratum.alias("stratum"))).to_series()
        size = counts / probability
    valid = stratum.is_not_null()
    if size is not None:
        valid = valid & (size >= 1).fill_null(False) & size.is_finite().fill_null(False)
    if probability is not None:
        valid = valid & ((probability > 0) & (probability <= 1)).fill_null(False)
    if size is None or not valid.all():
        raise BadFile(
            f"{name} has no valid inclusion probability for the items "
            f"{list_names(drawn['item'].filter(~valid))}. Restore the columns "
            f"{list_names(DESIGN)} of the plan, or remove them to use the labels as a list of "
            "your own."
        )
    codes = stratum.rank("dense").cast(pl.Int64) - 1
    asked = drawn[N_STRATA].drop_nulls().to_list() if N_STRATA in drawn.columns else []
    n_strata = int(asked[0]) if asked else None
    return CheckedFile(labels, drawn["item"].to_list(), codes.to_list(), size.to_list(), n_strata)
