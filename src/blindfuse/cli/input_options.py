"""``InputOptions``: the files of responses that a command reads, and how it reads them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import blindfuse
from blindfuse.cli.system import free_memory
from blindfuse.errors import BadFile, list_names

if TYPE_CHECKING:
    from blindfuse.cli.screen import Screen, Step
    from blindfuse.readers.reading import Kind
    from blindfuse.responses.repeats import Repeats

MEMORY_PER_FILE_BYTE = 4
"""Bytes of memory needed per byte of a file while it is read and fused."""


@dataclass(frozen=True)
class InputOptions:
    """Files of responses, with the options of ``blindfuse.read``."""

    files: Sequence[str]
    format: str | None
    item: str | None
    annotator: Sequence[str]
    label: str | None
    question: str | None
    classes: Sequence[str] | None
    missing: Sequence[str]
    keep_na: bool
    fold_case: bool
    repeats: "Repeats"

    def read(
        self,
        screen: "Screen",
        step: "Step",
        classes: Sequence[Any] | None = None,
        *,
        kind: "Kind" = "labels",
        are_known: bool = False,
        **options: Any,
    ) -> "blindfuse.Read[Any]":
        """Read the responses and print the notes; ``classes`` apply unless the user named some.

        Where ``are_known``, as those of a model and as numbers of clusters, it need not be asked
        whether they are classes. Other options are those of ``blindfuse.read``.
        """
        step(f"reading {self.title}")
        data = blindfuse.read(self.files, kind=kind, **options, **self.reading_options(classes))
        left_out = data.questions if are_known else ()
        screen.note(*(note for note in data.notes if note not in left_out))
        return data

    def reading_options(self, classes: Sequence[Any] | None = None) -> dict[str, Any]:
        """Return the keyword arguments of ``blindfuse.read`` and ``read_partitions``."""
        return {
            "format": self.format,
            "item": self.item,
            "annotator": self._annotator,
            "label": self.label,
            "question": self.question,
            "classes": self.classes or classes,
            "missing": list(self.missing),
            "keep_na": self.keep_na,
            "fold_case": self.fold_case,
            "repeats": self.repeats,
        }

    @property
    def _annotator(self) -> Sequence[str] | str | None:
        return self.annotator if len(self.annotator) > 1 else next(iter(self.annotator), None)

    def reason_to_partition(self) -> str | None:
        """Return why the files are read in partitions; None if they fit into memory."""
        files = [Path(file) for file in self.files]
        size = sum(file.stat().st_size for file in files if file.is_file())
        free = free_memory()
        if size * MEMORY_PER_FILE_BYTE <= free:
            return None
        return (
            f"{size / 1e9:,.1f} GB are read in partitions, because only {free / 1e9:,.1f} GB of "
            "memory are free. Pass --whole to read them at once."
        )

    @property
    def title(self) -> str:
        """A short name for the files."""
        first, *others = (
            "standard input" if file == "-" else _as_text(Path(file).name) for file in self.files
        )
        return f"{first} and {len(others):,} more" if others else first


def _as_text(name: str) -> str:
    """Return a file name without the bytes that are not UTF-8, so that it can be written."""
    return os.fsencode(name).decode("utf-8", "replace")


def read_gold_for(
    data: "blindfuse.Read[Any]",
    path: str,
    screen: "Screen",
    kind: "Kind" = "labels",
    separator: str | None = None,
) -> dict[str, Any]:
    """Read gold labels from a file; items without responses are left out, with a note."""
    gold: dict[str, Any]
    if kind == "numbers":
        from blindfuse.readers.gold import read_gold_numbers

        gold = read_gold_numbers(path)
    elif kind == "sets":
        from blindfuse.readers.gold import read_gold_sets

        gold = read_gold_sets(path, data.responses.classes, separator)
    else:
        gold = blindfuse.read_gold(path, classes=data.responses.classes)
    return gold_with_responses(gold, set(data.responses.items.tolist()), path, screen)


def gold_with_responses(
    gold: dict[str, Any], items: set[str], path: str, screen: "Screen"
) -> dict[str, Any]:
    """Return the gold labels of the items that have responses; a note names the others."""
    unknown = [item for item in gold if item not in items]
    if len(unknown) == len(gold):
        raise BadFile(
            f"No item in {path} has responses: {path} names {list_names(unknown, 3)}. Use the same "
            "names as in the responses."
        )
    if unknown:
        screen.note(
            f"{len(unknown):,} gold items without responses were skipped: {list_names(unknown)}"
        )
    return {item: label for item, label in gold.items() if item in items}
