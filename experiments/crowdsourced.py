"""Table IX: crowds, with the few annotators that the paper keeps and with all annotators."""

from experiments.experiment import (
    Check,
    Columns,
    Experiment,
    Section,
    at_most,
    printed_cells,
    row_summary,
    tabulate,
)
from experiments.methods import (
    ALG_2,
    EIGEN,
    EM,
    EM_PRIOR,
    FUSE,
    PUBLISHED_KOS,
    SML,
    SPECTRAL,
    TE,
    VOTE,
)
from experiments.results import Results
from experiments.scale import Scale
from experiments.tasks import FILTERS, Task

TWO_CLASSES = ("trec", "bird")
TWO_CLASS_METHODS = (EIGEN, TE, SML)
METHODS = (VOTE, EIGEN, TE, SML, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR, ALG_2, FUSE)
ROWS = (
    *(VOTE, EIGEN, TE, SML, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR),
    *("Alg. 2 MAP", "Alg. 2 ML", FUSE),
)
MAX_LOSS = 0.6
"""Points by which fuse may lose to the majority vote with all annotators."""

PRINTED = printed_cells(
    ("adult", "trec", "bird"),
    {
        VOTE: (36.023, 50.002, 24.07),
        EIGEN: (None, 43.34, 27.78),
        TE: (None, 48.97, 17.59),
        SML: (None, 48.44, 11.11),
        PUBLISHED_KOS: (80.98, 54.68, 11.11),
        EM: (40.63, 56.04, 11.11),
        SPECTRAL: (38.90, 40.62, 10.19),
        "Alg. 2 MAP": (33.429, 37.846, 10.19),
        "Alg. 2 ML": (34.87, 39.824, 10.19),
    },
)


def columns(scale: Scale, filtered: bool) -> Columns:
    """Return one column per crowd; bird has no filter."""
    return {
        name: {"source": name, "filtered": filtered and name in FILTERS} for name in scale.crowds
    }


def _tasks(scale: Scale) -> list[Task]:
    return [
        Task(name, method, filtered=filtered)
        for name in scale.crowds
        for filtered in ((True, False) if name in FILTERS else (False,))
        for method in METHODS
        if method not in TWO_CLASS_METHODS or name in TWO_CLASSES
    ]


def _show(results: Results, scale: Scale, section: Section) -> None:
    few, all_annotators = columns(scale, True), columns(scale, False)
    section.tables = [
        tabulate(
            results,
            "The paper's annotators, all gold items",
            ROWS,
            few,
            PRINTED,
            field="all_error",
            kind="crowd",
        ),
        tabulate(
            results,
            "The paper's annotators, gold items that still have a label",
            ROWS,
            few,
            {},
            kind="crowd",
        ),
        tabulate(
            results,
            "All annotators, next to the paper's few",
            ROWS,
            all_annotators,
            PRINTED,
            kind="crowd",
        ),
    ]
    section.notes = [
        "The paper drops annotators with few labels, because its method forms every third moment; "
        "some gold items lose all their labels with them. The paper's errors on adult are whole "
        "numbers of 347 items, so it counts these items. The first table does so too: an item "
        "without responses gets the class that the method estimates to be the most common, or a "
        "tie of all classes if it estimates none. A tie counts as correct in proportion here, but "
        "not in the paper. On trec, the number of errors of the paper's EM + MV equals the size of "
        "one class, so it gave all items the other class.",
        "Errors are of one run, because nothing here is random.",
    ]
    section.checks = _checks(section.title, results, few, all_annotators)


def _checks(title: str, results: Results, few: Columns, all_annotators: Columns) -> list[Check]:
    """Check the error against the paper's best method and against the majority vote."""
    checks = []
    for crowd, where in all_annotators.items():
        fused, vote = (row_summary(results, row, "error", **where) for row in (FUSE, VOTE))
        if fused is None or vote is None:
            continue
        best = min(value for (_, column), value in PRINTED.items() if column == crowd)
        name = f"{title}, {crowd}, all annotators: {FUSE}, against the paper's best"
        checks.append(at_most(name, round(fused.mean, 2), best, " %"))
        name = f"{title}, {crowd}, all annotators: {FUSE} minus {VOTE}"
        checks.append(at_most(name, fused.mean - vote.mean, MAX_LOSS, " points"))
    for crowd, where in few.items():
        vote = row_summary(results, VOTE, "error", **where)
        for row in (FUSE, "Alg. 2 MAP"):
            fused = row_summary(results, row, "error", **where)
            if fused is not None and vote is not None:
                gain = fused.mean - vote.mean
                name = f"{title}, {crowd}, the paper's annotators: {row} minus {VOTE}"
                checks.append(Check(name, "< 0 points", f"{gain:.2f} points", gain < 0))
    return checks


EXPERIMENTS = [
    Experiment(
        "table9",
        "Table IX",
        "Classification error on crowds. The paper keeps annotators who used all classes and gave "
        "more than 371 labels on adult (38 of 825) and more than 708 on trec (23 of 762).",
        _tasks,
        _show,
    )
]
