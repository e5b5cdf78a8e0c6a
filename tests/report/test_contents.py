"""What the page shows: figures, paragraphs, warnings, classes and history."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from blindfuse import Fusion, fuse, report_html, simulate
from blindfuse.fusion.merged_groups import MERGED_GROUPS
from blindfuse.metrics import fleiss_kappa, krippendorff_alpha
from blindfuse.report import annotators
from tests.support.report_cases import contents_of, crowd, with_method


def test_classes_agreement_history_and_paragraphs() -> None:
    fusion = crowd()
    found = contents_of(fusion, notes=["read as long"])
    labels = Counter(fusion.labels)
    reported = Counter(fusion.responses.by_item.symbols.tolist())
    for k, one in enumerate(found.class_summaries):
        assert one.n_labels == labels[one.name]
        share = reported[k] / fusion.responses.n_responses
        assert one.response_share == pytest.approx(share, abs=5e-5)
        assert one.prior == pytest.approx(fusion.model.prior[k], abs=5e-5)
    assert found.agreement is not None
    assert found.agreement.krippendorff == krippendorff_alpha(fusion.responses)
    assert found.agreement.fleiss == fleiss_kappa(fusion.responses)
    assert [value for _, value in found.history] == fusion.history.tolist()
    assert found.notes[0] == "read as long"
    assert found.paragraphs == fusion.diagnostics.paragraphs()
    error = 1 - fusion.posteriors.max(axis=1).mean()
    assert float(found.key_figures[0].value.removesuffix("\u00a0%")) == pytest.approx(
        100 * error, rel=0.05
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_expected_error_is_stated_alike_in_figures_and_paragraphs(seed: int) -> None:
    drawn = simulate(300, 8, 3, np.random.default_rng(seed), skill=seed / 5, missing=0.3)
    found = contents_of(fuse(drawn.responses))
    figure = next(one for one in found.key_figures if one.description.startswith("expected error"))
    stated = f"{figure.value} {figure.description.removeprefix('expected error ')}."
    paragraph = next(one for one in found.paragraphs if one.heading == "Expected error")
    assert paragraph.text.startswith(stated.replace("\u00a0", " "))


def warnings_of(fusion: Fusion) -> dict[str, str]:
    return {one.heading: one.text for one in contents_of(fusion).warnings}


def test_warnings_are_paragraphs_and_the_majority_vote() -> None:
    fusion = with_method(crowd(), "LatentSubtypes")
    bad = replace(fusion.diagnostics.fit, misfit=7.0)
    misfitting = replace(fusion)
    vars(misfitting)["diagnostics"] = replace(fusion.diagnostics, fit=bad)
    assert "does not fit" in warnings_of(misfitting)["Fit"]
    assert "majority vote" in warnings_of(with_method(fusion, "MajorityVote"))["Method"]
    assert "Method" not in warnings_of(fusion)


def test_dependent_groups_are_a_warning_unless_they_were_merged() -> None:
    fusion = crowd()
    separate = replace(fusion, choice=replace(fusion.choice, method="LatentSubtypes", groups=()))
    assert "'worker 00', 'worker 01', 'worker 02'" in warnings_of(separate)["Dependence"]
    groups = separate.diagnostics.dependence.groups
    merged = replace(fusion, choice=replace(fusion.choice, method=MERGED_GROUPS, groups=groups))
    assert "Dependence" not in warnings_of(merged)


def test_a_good_fusion_has_no_warnings() -> None:
    good = fuse(simulate(2000, 8, 3, np.random.default_rng(0), skill=0.4).responses)
    assert contents_of(good).warnings == ()
    assert "No diagnostic gives a reason to distrust these figures" in report_html(good)


def test_long_histories_keep_their_first_and_last_iteration() -> None:
    fusion = crowd()
    choice = replace(fusion.choice, history=np.linspace(-5000.0, -1.0, 5000))
    fusion = replace(fusion, choice=choice)
    history = contents_of(fusion).history
    assert len(history) <= 400
    assert (history[0], history[-1]) == ((1, -5000.0), (5000, -1.0))


def test_only_the_most_common_of_many_classes_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotators, "MAX_MATRIX_CLASSES", 2)
    monkeypatch.setattr("blindfuse.report.contents.MAX_CLASSES", 2)
    found, prior = contents_of(crowd()), crowd().model.prior
    assert set(found.annotators.matrix_classes) == set(np.argsort(prior)[1:].tolist())
    rarest = crowd().responses.classes[prior.argmin()]
    assert rarest not in [one.name for one in found.class_summaries]
    assert "The 2 most common of 3 classes" in report_html(crowd())
