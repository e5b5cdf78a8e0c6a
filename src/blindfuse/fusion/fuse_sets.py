"""`fuse_sets`: fuse responses that are sets of classes, as in multi-label annotation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadLabels, list_names
from blindfuse.fusion.fuse import Fusion, fuse
from blindfuse.responses.coding import as_column, check_classes, code_names
from blindfuse.responses.keys import name_key
from blindfuse.responses.responses import Names, Responses, Values

Floats = NDArray[np.float64]

YES = 0.5
"""Posterior above which a class belongs to the set."""


@dataclass(frozen=True, eq=False)
class SetFusion:
    """One set of classes per item, with the posterior of each class.

    Attributes
    ----------
    items, classes
        names, in the order of the rows and columns of ``posteriors``.
    posteriors ``[item, class]``
        probability that the class belongs to the item.
    sets
        the classes of each item with a posterior above one half, in the order of ``classes``.
    confidence ``[item]``
        probability of the whole set, if classes are independent given the responses.
    questions
        the :class:`Fusion` of each class, with the annotators' confusion matrices for "yes" and
        "no"; None where no response, or every one, contains the class. A single entry, for all
        classes together, if every response contains one class.
    """

    items: NDArray[Any]
    classes: NDArray[Any]
    posteriors: Floats
    sets: tuple[tuple[Any, ...], ...]
    confidence: Floats
    questions: tuple[Fusion | None, ...] = field(repr=False)

    def __repr__(self) -> str:
        return (
            f"SetFusion of {len(self.items):,} items, {len(self.classes):,} classes, "
            f"{sum(map(len, self.sets)) / max(len(self.sets), 1):.1f} per item"
        )


def fuse_sets(
    items: Values,
    annotators: Values,
    sets: Sequence[Iterable[Any] | None],
    *,
    classes: Names | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> SetFusion:
    """Fuse sets of classes into one set per item, by one yes/no question per class.

    The questions share their annotators. All questions together give each annotator's confusion
    matrix of "yes" and "no", which is the prior in the question about each class. If every response
    contains exactly one class, the labels are those of :func:`fuse`.

    Parameters
    ----------
    items, annotators, sets
        three columns with one row per response. An empty set is a response; None is missing.
    classes
        all classes, in your order; by default those that occur, sorted.
    seed, threads
        as in :func:`fuse`.

    Examples
    --------
    >>> from blindfuse import fuse_sets
    >>> fuse_sets([0, 0, 0, 1, 1, 1], [7, 8, 9, 7, 8, 9],
    ...           [{"a"}, {"a", "b"}, {"a"}, {"b"}, set(), {"b"}]).sets
    (('a',), ('b',))
    """
    item_codes, item_names, _ = code_names(as_column(items), "item")
    annotator_codes, annotator_names, _ = code_names(as_column(annotators), "annotator")
    given = [None if one is None else _check_set(one, row) for row, one in enumerate(sets)]
    if not len(item_codes) == len(annotator_codes) == len(given):
        raise BadLabels(
            f"items, annotators and sets must have the same length, but have {len(item_codes):,}, "
            f"{len(annotator_codes):,} and {len(given):,} entries. Pass one entry per response."
        )
    names = _classes(given, classes)
    present = np.array([one is not None for one in given], dtype=bool)
    members = _membership(given, names)[present]
    rows: dict[str, Any] = {"items": item_names, "annotators": annotator_names}
    codes = item_codes[present], annotator_codes[present]
    options: dict[str, Any] = {"seed": seed, "threads": threads}
    if (members.sum(axis=1) == 1).all():
        table = Responses.from_codes(*codes, members.argmax(axis=1), classes=names, **rows)
        fusion = fuse(table, **options)
        labels = _positions(fusion, names)
        return _result(item_names, names, fusion.posteriors, (fusion,), labels)
    pooled = _pooled(codes, members, rows, len(item_names), options)
    posteriors = np.zeros((len(item_names), len(names)))
    questions: list[Fusion | None] = []
    for k in range(len(names)):
        if members[:, k].all() or not members[:, k].any():
            posteriors[:, k] = float(members[:, k].any())
            questions.append(None)
            continue
        table = Responses.from_codes(
            *codes, members[:, k].astype(np.intp), classes=["no", "yes"], **rows
        )
        question = fuse(table, prior_model=pooled.model, **options)
        posteriors[:, k] = question.posteriors[:, 1]
        questions.append(question)
    return _result(item_names, names, posteriors, tuple(questions))


def _pooled(
    codes: tuple[NDArray[Any], NDArray[Any]],
    members: NDArray[np.bool_],
    rows: Mapping[str, NDArray[Any]],
    n_items: int,
    options: Mapping[str, Any],
) -> Fusion:
    """The fusion of the questions of all classes, as if each were an item of its own."""
    n_responses, n_classes = members.shape
    questions = np.repeat(codes[0], n_classes) + n_items * np.tile(
        np.arange(n_classes), n_responses
    )
    table = Responses.from_codes(
        questions,
        np.repeat(codes[1], n_classes),
        members.ravel().astype(np.intp),
        items=np.arange(n_items * n_classes),
        annotators=rows["annotators"],
        classes=["no", "yes"],
    )
    return fuse(table, **options)


def _result(
    items: NDArray[Any],
    classes: NDArray[Any],
    posteriors: Floats,
    questions: tuple[Fusion | None, ...],
    single: NDArray[np.intp] | None = None,
) -> SetFusion:
    if single is not None:
        confidence = posteriors[np.arange(len(items)), single]
        sets = tuple((name,) for name in classes[single].tolist())
        return SetFusion(items, classes, posteriors, sets, confidence, questions)
    chosen = posteriors > YES
    confidence = np.where(chosen, posteriors, 1 - posteriors).prod(axis=1)
    sets = tuple(tuple(classes[row].tolist()) for row in chosen)
    return SetFusion(items, classes, posteriors, sets, confidence, questions)


def _positions(fusion: Fusion, classes: NDArray[Any]) -> NDArray[np.intp]:
    code_of = {name_key(name): code for code, name in enumerate(classes.tolist())}
    return np.array([code_of[name_key(label)] for label in fusion.labels.tolist()], dtype=np.intp)


def _check_set(given: Iterable[Any], row: int) -> list[Any]:
    """The classes of one response; an error names what is not a set, and classes named twice."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise BadLabels(
            f"{given!r} (row {row}) is not a set. Pass a list, tuple or set of classes, empty if "
            "no class applies, or None if the response is missing."
        )
    members = list(given)
    keys = [name_key(member) for member in members]
    twice = [member for at, member in enumerate(members) if keys[at] in keys[:at]]
    if twice:
        raise BadLabels(f"Row {row} names {list_names(twice)} more than once. Name a class once.")
    return members


def _classes(given: Sequence[list[Any] | None], classes: Names | None) -> NDArray[Any]:
    found = {name_key(member): member for one in given if one for member in one}
    if classes is None:
        if not found:
            raise BadLabels("No response names a class, so there is nothing to fuse.")
        return check_classes(sorted(found.values()))
    names = check_classes(classes)
    known = {name_key(name) for name in names.tolist()}
    unknown = [member for key, member in found.items() if key not in known]
    if unknown:
        raise BadLabels(
            f"{list_names(unknown)} are not among the classes {list_names(names)}. Add them to "
            "classes=."
        )
    return names


def _membership(given: Sequence[list[Any] | None], classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each response contains each class ``[response, class]``."""
    code_of = {name_key(name): code for code, name in enumerate(classes.tolist())}
    members = np.zeros((len(given), len(classes)), dtype=bool)
    for row, one in enumerate(given):
        for member in one or ():
            members[row, code_of[name_key(member)]] = True
    return members
