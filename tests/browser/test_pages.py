"""The pages of other kinds than labels in a browser: charts are drawn, and nothing overflows."""

import numpy as np
import pytest

from blindfuse import (
    fuse_clusters,
    fuse_numbers,
    fuse_pairs,
    fuse_sets,
    report_html,
    simulate_numbers,
)
from tests.browser.conftest import Open, Scheme
from tests.support.multi_label import simulate_sets
from tests.support.pair_cases import simulate_pairs


def number_page() -> str:
    return report_html(fuse_numbers(simulate_numbers(60, 6, seed=0).numbers))


def set_page() -> str:
    drawn = simulate_sets(n_items=60, n_annotators=8, n_classes=6, seed=0)
    return report_html(fuse_sets(drawn.items, drawn.annotators, drawn.sets))


def cluster_page() -> str:
    return report_html(fuse_clusters(np.tile(np.arange(60)[:, None] % 3, 4), 3))


def ranking_page() -> str:
    return report_html(fuse_pairs(*simulate_pairs(0, 130, (1, 1, 0), per_judge=3_000).columns))


@pytest.mark.parametrize(
    ("make", "n_charts"),
    [(number_page, 2), (set_page, 2), (cluster_page, 1), (ranking_page, 4)],
)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_charts_are_drawn_and_the_page_fits(
    show: Open, make: object, n_charts: int, width: int, scheme: Scheme
) -> None:
    page = show(make(), width=width, scheme=scheme)  # type: ignore[operator]
    assert page.locator(".chart svg").count() == n_charts
    assert page.locator("h2").all_inner_texts()[-1] == "How to read this report"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    tables = "[...document.querySelectorAll('.scroll')]"
    assert page.evaluate(f"{tables}.every((box) => box.scrollWidth <= box.clientWidth)")
