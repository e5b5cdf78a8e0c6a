"""Table IX: crowds, with the paper's few annotators and with all of them."""

from experiments.methods import (
    EIGEN,
    EM,
    EM_PRIOR,
    FUSE,
    OURS,
    PUBLISHED_KOS,
    SML,
    SPECTRAL,
    TE,
    VOTE,
)
from experiments.outcome import (
    Check,
    Columns,
    Experiment,
    Section,
    at_most,
    cell,
    printed_cells,
    tabulate,
)
from experiments.running import Results, Scale
from experiments.tasks import FILTERS, Task

TWO_CLASSES = ("trec", "bird")
ONLY_TWO = (EIGEN, TE, SML)
METHODS = (VOTE, EIGEN, TE, SML, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR, OURS, FUSE)
ROWS = (
    *(VOTE, EIGEN, TE, SML, PUBLISHED_KOS, EM, SPECTRAL, EM_PRIOR),
    *("Alg. 2 MAP", "Alg. 2 ML", FUSE),
)
NEAR = 0.6
"""Points within which the majority vote counts as reached on all annotators."""

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
    """One column for each crowd; bird has no filter."""
    return {
        name: {"source": name, "filtered": filtered and name in FILTERS} for name in scale.crowds
    }


def _tasks(scale: Scale) -> list[Task]:
    return [
        Task(name, method, filtered=filtered)
        for name in scale.crowds
        for filtered in ((True, False) if name in FILTERS else (False,))
        for method in METHODS
        if method not in ONLY_TWO or name in TWO_CLASSES
    ]


def _show(results: Results, scale: Scale, section: Section) -> None:
    few, every = columns(scale, True), columns(scale, False)
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
            results, "All annotators, beside the paper's few", ROWS, every, PRINTED, kind="crowd"
        ),
    ]
    section.notes = [
        "The paper leaves out annotators with few labels, since its method forms every third "
        "moment; with them go the only labels of some gold items. Its errors on adult are whole "
        "numbers of 347 items, so these were counted. The first table does so too: an item without "
        "answers has the class that the method takes for the most common, or all of them if it "
        "has no opinion. Ties share the credit, the paper's do not. On trec, the paper's EM + MV "
        "errs on as many items as are of one class: it gave all items the other.",
        "Error of one run: nothing here is drawn at random.",
    ]
    section.checks = _checks(section.title, results, few, every)


def _checks(title: str, results: Results, few: Columns, every: Columns) -> list[Check]:
    found = []
    for name, where in every.items():
        ours, vote = (cell(results, row, "error", **where) for row in (FUSE, VOTE))
        if ours is None or vote is None:
            continue
        best = min(value for place, value in PRINTED.items() if place[1] == name)
        what = f"{title}, {name}, all annotators: {FUSE}, against the paper's best"
        found.append(at_most(what, round(ours.mean, 2), best, " %"))
        what = f"{title}, {name}, all annotators: {FUSE} minus {VOTE}"
        found.append(at_most(what, ours.mean - vote.mean, NEAR, " points"))
    for name, where in few.items():
        for row in (FUSE, "Alg. 2 MAP"):
            ours, vote = (cell(results, method, "error", **where) for method in (row, VOTE))
            if ours is not None and vote is not None:
                what = f"{title}, {name}, the paper's annotators: {row} minus {VOTE}"
                gain = ours.mean - vote.mean
                found.append(Check(what, "< 0 points", f"{gain:.2f} points", gain < 0))
    return found


EXPERIMENTS = [
    Experiment(
        "table9",
        "Table IX",
        "Classification error on crowds. adult: annotators who used all four classes and gave "
        "more than 371 labels (38 of 825); trec: both classes and more than 708 (23 of 762).",
        _tasks,
        _show,
    )
]
