"""The best single annotator on the page: its accuracy is that of the other sections."""

import re

import numpy as np
import pytest

from blindfuse import Fusion, Responses, fuse, report_html, simulate
from tests.conftest import Crowds
from tests.support.crowds import copiers
from tests.support.report_cases import embedded_data

STATED = re.compile(r"best single annotator is ('.+?'|\d+)\.")


def check_accuracies(fusion: Fusion) -> None:
    """The best annotator has the highest accuracy, and it is the same on the page and in files."""
    page, panel = report_html(fusion, title="A title"), fusion.diagnostics.panel
    rows = {row["name"]: row["accuracy"] for row in embedded_data(page)["annotators"]}
    stated = set(STATED.findall(page.replace("&#39;", "'")))
    if panel.best is None:
        assert not stated
        return
    names = fusion.responses.annotators.tolist()
    (shown,) = stated
    assert shown == repr(names[panel.best])
    frame = fusion.annotator_columns()
    in_file = dict(zip(frame["annotator"].tolist(), frame["accuracy"].tolist(), strict=True))
    assert rows[str(names[panel.best])] == pytest.approx(in_file[names[panel.best]], abs=1e-3)
    coverage, rated = fusion.diagnostics.coverage.coverage, fusion.diagnostics.annotators
    compared = (coverage >= 0.1) & ~rated.constant
    assert rows[str(names[panel.best])] == max(
        rows[str(name)] for name, is_compared in zip(names, compared, strict=True) if is_compared
    )


@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(6))
def test_simulated_crowds(seed: int, missing: float) -> None:
    rng = np.random.default_rng(seed)
    K, skill = 2 + seed % 3, rng.uniform(0, 0.6)
    check_accuracies(fuse(simulate(300, 4 + seed, K, rng, skill=skill, missing=missing).responses))


def test_copiers() -> None:
    check_accuracies(fuse(copiers(0).responses))


def test_a_crowd_that_is_misled_together() -> None:
    rng = np.random.default_rng(0)
    truth, lure = rng.integers(2, size=(2, 600))
    misled = np.where(rng.random((600, 8)) < 0.5, truth[:, None], lure[:, None])
    fusion = fuse(Responses.from_matrix(misled))
    assert fusion.model.dependence == 1
    check_accuracies(fusion)


@pytest.mark.parametrize(
    "name", ["bird", "dog", "judges_toxicity", "judges_triviaqa", "rte", "trec", "ws_youtube"]
)
def test_public_crowds(name: str, crowds: Crowds) -> None:
    check_accuracies(fuse(crowds[name].responses))
