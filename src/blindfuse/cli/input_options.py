"""``InputOptions``: which files of responses a command reads, and how."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import blindfuse
from blindfuse.cli.system import free_memory
from blindfuse.errors import BadFile, naming

if TYPE_CHECKING:
    from blindfuse.cli.screen import Screen, Step

ROOM = 4
"""Bytes of memory that a byte of a file may take while it is read and fused."""


@dataclass(frozen=True)
class InputOptions:
    """Files of answers, and how to read them."""

    files: Sequence[str]
    format: str | None
    item: str | None
    annotator: Sequence[str]
    label: str | None
    question: str | None
    classes: Sequence[str] | None

    def read(
        self, screen: "Screen", step: "Step", classes: Sequence[Any] | None = None
    ) -> "blindfuse.Read":
        """The answers, with notes on the screen; ``classes`` unless the user named them."""
        step(f"reading {self.title}")
        found = self._read(classes)
        screen.note(*found.notes)
        return found

    def _read(self, classes: Sequence[Any] | None) -> "blindfuse.Read":
        several = len(self.annotator) > 1
        return blindfuse.read(
            self.files,
            format=self.format,
            item=self.item,
            annotator=self.annotator if several else next(iter(self.annotator), None),
            label=self.label,
            question=self.question,
            classes=self.classes or classes,
        )

    def too_large(self) -> str | None:
        """Why the files are not read whole, if that would take more memory than there is."""
        files = [Path(file) for file in self.files]
        size = sum(file.stat().st_size for file in files if file.is_file())
        free = free_memory()
        if size * ROOM <= free:
            return None
        return (
            f"{size / 1e9:,.1f} GB are read in parts, because {free / 1e9:,.1f} GB of memory are "
            "free. --whole reads them at once all the same."
        )

    @property
    def title(self) -> str:
        """What was read, in short."""
        first, *others = (
            "standard input" if file == "-" else Path(file).name for file in self.files
        )
        return f"{first} and {len(others):,} more" if others else first


def gold_in(path: str, found: "blindfuse.Read", screen: "Screen") -> dict[str, str]:
    """The known labels in a file; items without answers are noted and left out."""
    gold = blindfuse.read_gold(path)
    there = set(found.responses.items.tolist())
    lacking = [item for item in gold if item not in there]
    if len(lacking) == len(gold):
        raise BadFile(
            f"No item in {path} has answers: it names {naming(lacking, 3)}, the answers are about "
            f"{naming(found.responses.items, 3)}. Names of items must be the same."
        )
    if lacking:
        screen.note(f"{len(lacking):,} gold items have no answers: {naming(lacking)}")
    return {item: label for item, label in gold.items() if item in there}
