"""Errors and warnings. A message names the offender, the rule and the next step."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from typing import Any

_MAX_NAME = 80
"""Characters of a name that a message shows."""


class BlindfuseError(ValueError):
    """Base class of every error that blindfuse raises on purpose."""


class BadLabels(BlindfuseError):
    """The given labels, names or tables cannot be read as responses of annotators."""


class BadFile(BlindfuseError):
    """A file cannot be found or read, or does not have the expected format."""


class BadModel(BlindfuseError):
    """A model or model file is damaged, of another format, or does not match the data."""


class BadParameter(BlindfuseError):
    """A parameter has a value that is not allowed."""


class DownloadFailed(BlindfuseError):
    """A dataset could not be downloaded, verified or saved. No partial files are left."""


class NotIdentifiable(BlindfuseError):
    """The responses do not determine the model: too few annotators, or too little overlap.

    ``reason`` says what is missing and ``remedy`` what to do; the message contains both.
    """

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason, remedy)
        self.reason = reason
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.reason} {self.remedy}".rstrip()


class RankTooLow(UserWarning):
    """The moments do not separate all classes, so a simpler method was used."""


class NotConverged(UserWarning):
    """The solver stopped before it converged. Its result is returned anyway."""


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Name the extra of ``pip install`` to which a package belongs that cannot be imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"{error.name} is not installed. Run: pip install 'blindfuse[{extra}]'."
        raise ModuleNotFoundError(message, name=error.name) from error


def capitalize(clause: str) -> str:
    """The clause with a capital letter at its beginning, and all others as they are."""
    return f"{clause[:1].upper()}{clause[1:]}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: ``1 item``, ``2,000 classes``."""
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"


def list_names(names: Iterable[object], limit: int = 5) -> str:
    """List the first names, quoted, and the number of the others: ``'a', 'b' and 7 more``."""
    rest = iter(names)
    shown = ", ".join(repr(shorten(_plain(name))) for name in islice(rest, limit))
    n_hidden = sum(1 for _ in rest)
    return f"{shown} and {n_hidden:,} more" if n_hidden else shown


def shorten(name: Any) -> Any:
    """Return a long text cut to what a message shows, and any other name as it is."""
    is_long = isinstance(name, str) and len(name) > _MAX_NAME
    return f"{name[: _MAX_NAME - 1]}…" if is_long else name


def suggest(name: object, candidates: Iterable[object]) -> str:
    """Suggest a similar name, ``did you mean 'label'?``, or list the names that exist."""
    known = list(candidates)
    folded = {str(candidate).casefold(): str(candidate) for candidate in known}
    close = get_close_matches(str(name).casefold(), folded, 1)
    if not known:
        return "there is no other."
    there = "there is only" if len(known) == 1 else "there are"
    return f"did you mean {folded[close[0]]!r}?" if close else f"{there} {list_names(known)}."


def _plain(value: object) -> object:
    """Convert a NumPy scalar to a Python value, so that it prints as users wrote it."""
    item = getattr(value, "item", None)
    return item() if callable(item) else value
