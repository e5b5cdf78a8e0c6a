"""All diagnostics of a fusion, in the order in which they are reported."""

from dataclasses import dataclass, replace

from blindfuse.diagnostics.annotators import Annotators, rate_annotators, rate_by_labels
from blindfuse.diagnostics.class_shares import ClassShares, estimate_class_shares
from blindfuse.diagnostics.coverage import Coverage, measure_coverage
from blindfuse.diagnostics.dependence import Dependence, find_dependence
from blindfuse.diagnostics.expected_error import ExpectedError
from blindfuse.diagnostics.fit import Fit, measure_fit
from blindfuse.diagnostics.information import Information, measure_information
from blindfuse.diagnostics.items import Items, rate_items
from blindfuse.diagnostics.pairs import Pairs, count_pairs
from blindfuse.errors import counted
from blindfuse.model.arrays import check_numbers
from blindfuse.model.fused_model import FusedModel
from blindfuse.model.model import Model, decide
from blindfuse.responses.alphabet import without_abstentions
from blindfuse.responses.responses import Responses
from blindfuse.result import Paragraph
from blindfuse.typing import Flags, Floats


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """How many labels are wrong, which items and annotators to check, and whether the model fits.

    ``paragraphs()`` is the ordered list that ``summary()``, the command line and the report read;
    the command line omits details that are not warnings.
    ``expected_error`` and ``information`` are None if the responses do not tell. ``all_gold`` says
    whether every label is a gold label, and ``n_checked`` on how many checked items the expected
    error was measured.
    """

    expected_error: ExpectedError | None
    information: Information | None
    class_shares: ClassShares
    items: Items
    annotators: Annotators
    coverage: Coverage
    dependence: Dependence
    fit: Fit
    all_gold: bool = False
    n_checked: int = 0

    def paragraphs(self) -> tuple[Paragraph, ...]:
        """Every diagnostic that the responses allow, as text under its heading."""
        agreement, annotators, fit = self.information, self.annotators, self.fit
        agree = agreement is not None and agreement.is_beyond_chance
        rows = [Paragraph("Expected error", *self._error_text())]
        if agreement is not None:
            rows.append(Paragraph("Agreement", agreement.summary(), warning=not agree))
        rows.append(Paragraph("Classes", self.class_shares.summary()))
        separate = self.coverage.n_groups > 1
        coverage = Paragraph("Coverage", self.coverage.summary(), warning=separate, detail=True)
        if self.expected_error is None and not self.all_gold and not agree:
            return (*rows, coverage)  # nobody can be rated
        dependence = self.dependence
        rows += [
            Paragraph("Items", self.items.summary()),
            Paragraph("Annotators", annotators.summary(), warning=bool(annotators.adversary.any())),
            coverage,
            Paragraph("Dependence", dependence.summary(), warning=bool(dependence.groups)),
            Paragraph("Fit", fit.summary(), warning=not fit.holds, detail=True),
        ]
        return tuple(rows)

    def _error_text(self) -> tuple[str, bool]:
        """The expected error as text, and whether it is a warning."""
        expected = self.expected_error
        if self.all_gold:
            return (
                "Every label is a gold label, so there is no fused label that could be wrong. Fuse "
                "without gold labels to measure the error of the fused labels on them."
            ), False
        if expected is None:
            items = counted(min(50, len(self.items.confidence)), "item")
            return (
                f"Not stated: the responses do not tell. Check {items} with `blindfuse audit` to "
                "measure it."
            ), True
        text = f"{expected}."
        if self.n_checked:
            text = f"{expected.interval()}, measured on {counted(self.n_checked, 'checked item')}."
        return text, expected.value >= 0.2

    def summary(self) -> str:
        """All paragraphs, one per line."""
        return "\n".join(f"{each.heading}: {each.text}" for each in self.paragraphs())


def diagnose(
    responses: Responses,
    model: Model,
    posteriors: Floats,
    *,
    expected: ExpectedError | None = None,
    is_gold: Flags | None = None,
    n_checked: int = 0,
    items: Items | None = None,
    information: Information | None = None,
    pairs: Pairs | None = None,
) -> Diagnostics:
    """Compute all diagnostics of these responses under a model and its posteriors.

    ``expected`` is the expected error, None if it is not stated, and ``n_checked`` the number of
    checked items that it was measured on. ``is_gold[item]`` says whether the label is a gold label.
    ``items``, ``information`` and ``pairs`` are what was measured before: ratings of the items, the
    agreement, and pairs of annotators compared with a model of conditionally independent ones.
    """
    shape = responses.n_items, responses.n_classes
    posteriors = check_numbers(posteriors, "posteriors", shape, minimum=0).astype(float)
    fused = model if isinstance(model, FusedModel) else FusedModel.of(model)
    fused = fused.for_annotators(responses.annotators, responses.classes, responses.symbols)
    known = fused.independent
    decided = (responses, known) if responses.is_plain else decide(responses, known)
    if pairs is None:
        # Annotators with symbols of their own agree if decisions are equal, not if symbols are.
        table, reference = decided if responses.anchor.kind == "none" else (responses, known)
        pairs = count_pairs(table).compare_with(reference)
    if known.is_shared:
        rated = rate_by_labels(responses, known, posteriors)
    else:
        rated = rate_annotators(*decided, by_labels=fused.dependence == 1)
    has_areas = responses.n_classes == 2 and not responses.is_plain
    roc_areas = known.roc_areas if has_areas else None
    return Diagnostics(
        expected_error=expected,
        information=information or measure_information(responses),
        class_shares=estimate_class_shares(responses, posteriors, expected, fused.recalibration),
        items=items or rate_items(responses, fused, posteriors, is_gold),
        annotators=replace(rated, roc_area=roc_areas),
        coverage=measure_coverage(without_abstentions(responses, decided[0])),
        dependence=find_dependence(pairs, responses),
        fit=measure_fit(pairs, responses.n_annotators),
        all_gold=is_gold is not None and bool(is_gold.all()),
        n_checked=n_checked,
    )
