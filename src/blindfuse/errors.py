"""What can go wrong, in words: the offender, the rule, the next step."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice


class BlindfuseError(ValueError):
    """Base of every error that blindfuse raises on purpose."""


class BadLabels(BlindfuseError):
    """The labels, names or tables given cannot be read as answers of annotators."""


class BadFile(BlindfuseError):
    """A file cannot be found or read, or is not what its name or its reader says."""


class BadModel(BlindfuseError):
    """A model, or a file said to hold one, is damaged, foreign or does not fit the data."""


class BadParameter(BlindfuseError):
    """A parameter has a value outside its rule."""


class DownloadFailed(BlindfuseError):
    """A dataset could not be downloaded, verified or kept; nothing of it is left behind."""


class NotIdentifiable(BlindfuseError):
    """The responses do not determine the model: too few annotators, or too little overlap.

    ``reason`` says what is lacking and ``remedy`` what to do; the message has both.
    """

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason, remedy)
        self.reason = reason
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.reason} {self.remedy}".rstrip()


class RankTooLow(UserWarning):
    """Moments do not tell all classes apart; a simpler method was used instead."""


class NotConverged(UserWarning):
    """The solver stopped before it converged; its result is returned all the same."""


def naming(offenders: Iterable[object], limit: int = 5) -> str:
    """The first offenders, quoted, and how many more there are: ``'a', 'b' and 7 more``."""
    rest = iter(offenders)
    shown = ", ".join(repr(_plain(offender)) for offender in islice(rest, limit))
    left = sum(1 for _ in rest)
    return f"{shown} and {left:,} more" if left else shown


def meant(name: object, among: Iterable[object]) -> str:
    """What a wrong name may stand for: ``did you mean 'label'?``, or else what there is."""
    there = list(among)
    folded = {str(one).casefold(): str(one) for one in there}
    close = get_close_matches(str(name).casefold(), folded, 1)
    return f"did you mean {folded[close[0]]!r}?" if close else f"there are {naming(there)}."


def _plain(value: object) -> object:
    """A NumPy scalar as the Python value it stands for, so that it prints as users wrote it."""
    item = getattr(value, "item", None)
    return item() if callable(item) else value
