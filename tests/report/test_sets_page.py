"""The page of fused sets: its contents are those of the fusion, and everything is escaped."""

import json
import re

import numpy as np
import pytest

from blindfuse import ResponseSets, fuse_sets, set_report_html
from blindfuse.metrics import krippendorff_alpha, masi_alpha
from blindfuse.report.sets_page import build_set_charts, gather_set_contents
from tests.support.multi_label import simulate_sets

NASTY = "</script><b>&\"'"


@pytest.fixture(scope="module")
def fusion():  # type: ignore[no-untyped-def]
    drawn = simulate_sets(n_items=250, n_annotators=8, n_classes=6, seed=0)
    return fuse_sets(drawn.items, drawn.annotators, drawn.sets)


def test_contents_are_those_of_the_fusion(fusion) -> None:  # type: ignore[no-untyped-def]
    contents = gather_set_contents(fusion, "Title", ["a note"])
    by_class = {row.name: row for row in contents.classes}
    for k in range(6):
        row = by_class[str(k)]
        assert row.items == sum(k in members for members in fusion.sets)
        assert row.alpha == krippendorff_alpha(fusion.responses.question(k), resamples=1).value
    by_name = {row.name: row for row in contents.annotators}
    for m, name in enumerate(fusion.annotators.names.tolist()):
        assert by_name[str(name)].recall == fusion.annotators.recall[m]
        assert by_name[str(name)].precision == fusion.annotators.precision[m]
    probabilities = [row.confidence for row in contents.items]
    assert probabilities == sorted(probabilities)
    n = int(contents.items[0].name)
    named = [str(one) for one in fusion.sets[n]]
    assert contents.items[0].labels == (" | ".join(named) or "–")
    assert contents.items[0].posterior == min(fusion.posteriors[n], key=lambda p: abs(p - 0.5))
    assert dict(contents.agreement)["Krippendorff’s α (MASI)"] == masi_alpha(fusion.responses)
    assert contents.paragraphs == tuple(fusion.paragraphs())


def test_the_page_is_one_file_with_its_charts(fusion) -> None:  # type: ignore[no-untyped-def]
    page = set_report_html(fusion, title="Tags", notes=["a note"])
    data = json.loads(re.findall(r'id="data">(.*?)</script>', page)[0])
    assert set(data["charts"]) == {"classes", "annotators"}
    assert all(f'id="chart-{name}"' in page for name in data["charts"])
    assert "Related classes" in page
    assert "a note" in page
    assert not re.search(r'(?:src|href)="https?:', page)


def test_names_are_escaped_and_small_tables_have_a_page() -> None:
    table = ResponseSets.from_long([NASTY, "j"], [NASTY, "b"], [[NASTY], []])
    page = set_report_html(fuse_sets(table), title=NASTY, notes=[NASTY])
    assert NASTY not in page
    assert "Agreement cannot be measured" in page
    contents = gather_set_contents(fuse_sets(table), "t", [])
    assert set(build_set_charts(contents)) == {"classes", "annotators"}
    assert not np.isnan([row.recall for row in contents.annotators]).any()
