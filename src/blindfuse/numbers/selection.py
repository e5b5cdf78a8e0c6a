"""The rule that chooses a method: the simplest that predicts held-out ratings as well as any."""

from typing import NamedTuple

from blindfuse.numbers.canonical import CanonicalNumbers
from blindfuse.numbers.held_out import MAX_RATINGS, HeldOutErrors, held_out_errors
from blindfuse.numbers.registry import METHODS

CANDIDATES = (
    *("mean", "trimmed mean", "median", "adjusted mean", "standardized mean"),
    *("bounded factor", "one factor", "robust factor"),
)
"""The methods that are compared, from the simplest to the one with most parameters."""
BASELINES = "mean", "median"
SIGNIFICANT_Z = 2.0
"""Standard errors at or above which a difference counts, as in ``fusion.selection``."""
MIN_ANNOTATORS = 3
"""Annotators that are needed to distinguish bias, scale and noise."""


class MethodChoice(NamedTuple):
    """The chosen method and the reason; ``errors`` is None if there was nothing to compare."""

    method: str
    why: str
    errors: HeldOutErrors | None = None


def choose_method(canonical: CanonicalNumbers) -> MethodChoice:
    """Choose the first candidate that is not significantly worse than the best one.

    The methods are compared on a sample of a large table, and on a larger sample if several are
    close to the best, so that a simpler one is not chosen for want of ratings. Nothing is chosen by
    its error against a truth, and the constants are conventional.
    """
    table = canonical.numbers
    n_active = int((table.ratings_per_annotator > 0).sum())
    if n_active < MIN_ANNOTATORS:
        return MethodChoice(
            "mean",
            f"The mean is used: bias and noise of {n_active} annotator"
            f"{'' if n_active == 1 else 's'} cannot be distinguished. At least {MIN_ANNOTATORS} "
            "are needed.",
        )
    if table.n_items < 2 or table.ratings_per_item.max() < 2:
        reason = "there is one item" if table.n_items < 2 else "no item has two ratings"
        return MethodChoice("mean", f"The mean is used, because {reason}.")
    methods = {name: METHODS[name] for name in CANDIDATES}
    errors = held_out_errors(canonical, methods)
    if not errors.n_predicted:
        return MethodChoice(
            "mean", "The mean is used: there are too few ratings to compare methods."
        )
    close = _close_to_best(errors)
    if len(close) > 1 and table.n_ratings > MAX_RATINGS:
        errors = held_out_errors(canonical, methods, MAX_RATINGS)
        close = _close_to_best(errors)
    return MethodChoice(close[0], _reason(errors, close[0], errors.best), errors)


def _close_to_best(errors: HeldOutErrors) -> list[str]:
    """The candidates that are not significantly worse than the best one, the simplest first."""
    best = errors.best
    return [name for name in CANDIDATES if errors.z_score(name, best) <= SIGNIFICANT_Z]


def _reason(errors: HeldOutErrors, chosen: str, best: str) -> str:
    """Why a method is used, with its held-out error beside those of the mean and the median."""
    loss = errors.mean(chosen)
    baselines = " and ".join(
        f"{errors.mean(name):.3f} with the {name}" for name in BASELINES if name != chosen
    )
    measured = (
        f"Error of {errors.n_predicted:,} held-out ratings, relative to their variance: {loss:.3f} "
        f"with the {chosen}, {baselines}."
    )
    if chosen == best:
        verdict = "No method predicts them better."
    else:
        verdict = (
            f"The {best} predicts them best ({errors.mean(best):.3f}), but by less than "
            f"{SIGNIFICANT_Z:g} standard errors, so the simpler method is used."
        )
    worse = [name for name in BASELINES if errors.mean(name) < loss]
    warning = f" The {' and the '.join(worse)} predicts them better." if worse else ""
    return f"{measured} {verdict}{warning if best not in worse else ''}"
