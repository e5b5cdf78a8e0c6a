"""The paragraphs of an audit, and why ``fuse`` keeps or replaces its method."""

from typing import TYPE_CHECKING

import numpy as np

from blindfuse.auditing.candidates import FUSION
from blindfuse.errors import list_names
from blindfuse.result import Paragraph

if TYPE_CHECKING:
    from blindfuse.auditing.audit import AuditResult

MAX_LISTED_CLASSES = 10
"""Classes that the summary lists."""


def describe_audit(result: "AuditResult") -> tuple[Paragraph, ...]:
    """The result as text under headings."""
    blind, error = result.blind_error, result.error
    contradicted = blind is not None and not error.low <= blind <= error.high
    return (
        Paragraph("Checked", _checked(result), warning=not result.is_probability_sample),
        Paragraph("Error", _error(result), warning=contradicted),
        Paragraph("Methods", _methods(result), warning=result.better_method is not None),
        Paragraph("Class proportions", _classes(result), warning=False),
        Paragraph("Annotators", _annotators(result), warning=False),
        Paragraph("More checks", _more(result), warning=False),
    )


def describe_choice(result: "AuditResult") -> str:
    """Why ``fuse`` keeps its method after the checks, or takes a better one."""
    method, better = result.fusion.method, result.better_method
    checks = f"{result.n_checked:,} checked items"
    if not result.is_probability_sample:
        checks += " of your own list"
    if better is None:
        return f"On {checks}, no other method is better beyond chance than {method}."
    gain = (-result.differences[better]).percent(unit="points")
    return (
        f"On {checks}, its error is {gain} below that of {method}, which was selected without them."
    )


def _checked(result: "AuditResult") -> str:
    n_items = result.fusion.responses.n_items
    if not result.is_probability_sample:
        return (
            f"{result.n_checked:,} items of your own choice. They are not a random sample of the "
            f"{n_items:,} items, so all figures are valid for items like those only. Use "
            "`plan_audit` for figures about all items."
        )
    if len(result.sample.items) == n_items:
        return f"All {n_items:,} items, so the figures are exact."
    text = f"{result.n_checked:,} of {n_items:,} items, a stratified random sample."
    skipped = 0 if result.plan is None else len(result.plan) - result.n_checked
    if not skipped:
        return text
    return (
        f"{text} {skipped:,} items of the plan have no label; if they were skipped because they "
        "are hard, the error is underestimated."
    )


def _error(result: "AuditResult") -> str:
    text, blind = f"{result.error.percent()} of the labels are wrong.", result.blind_error
    if blind is None:
        return f"{text} The responses alone did not say how many."
    verdict = "which the checks do not contradict"
    if not result.error.low <= blind <= result.error.high:
        direction = "low" if blind < result.error.low else "high"
        verdict = f"which is too {direction}: trust the measured error"
    return f"{text} The blind estimate was {100 * blind:.1f} %, {verdict}."


def _methods(result: "AuditResult") -> str:
    others = (pair for pair in result.errors.items() if pair[0] != FUSION)
    errors = ", ".join(f"{name} {error.percent()}" for name, error in others)
    verdict = "None of them is better than the fused labels beyond chance."
    if result.better_method is not None:
        gain = -result.differences[result.better_method]
        verdict = (
            f"{result.better_method} makes {100 * gain.value:.1f} points fewer errors than the "
            f"fused labels ({100 * gain.low:.1f} to {100 * gain.high:.1f}): fuse again with the "
            "checked labels to use it."
        )
    return f"Errors of other methods: {errors}. {verdict}"


def _classes(result: "AuditResult") -> str:
    shares = sorted(result.class_shares.items(), key=lambda pair: -pair[1].value)
    listed = ", ".join(f"{name} {share.percent()}" for name, share in shares[:MAX_LISTED_CLASSES])
    hidden = len(shares) - MAX_LISTED_CLASSES
    more = f" and {hidden:,} more classes" if hidden > 0 else ""
    text = f"{listed}{more} of all items, corrected by the checks."
    if result.rogan_gladen:
        name, share = max(result.rogan_gladen.items(), key=lambda pair: pair[1].value)
        text += f" Rogan–Gladen: {name} {share.percent()}."
    return text


def _annotators(result: "AuditResult") -> str:
    found = result.annotators
    checked = np.flatnonzero(found.n_checked)
    if not len(checked):
        return "No checked item has a response, so nothing is known about the annotators."
    worst = checked[np.argsort(found.high[checked], kind="stable")[:3]].tolist()
    listed = ", ".join(
        f"{list_names(found.names[[m]])} {found.interval(m).percent()}" for m in worst
    )
    return (
        f"{len(checked):,} of {len(found.names):,} have checked responses. Lowest accuracy: "
        f"{listed}."
    )


def _more(result: "AuditResult") -> str:
    text = f"The interval of the error is ± {100 * result.error.half_width:.1f} points."
    costs = (
        (precision, result.more_checks(precision)) for precision in (0.05, 0.03, 0.02, 0.01, 0.005)
    )
    precision, more = next((pair for pair in costs if pair[1]), (0.0, 0))
    return f"{text} About {more:,} more checks give ± {100 * precision:g} points." if more else text
