"""The page is self-contained, valid, small and safe, and is written atomically."""

import json
import os
import re
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import altair as alt
import numpy as np
import pytest

from blindfuse import (
    BadFile,
    Comparison,
    check_on_gold,
    fuse,
    report_html,
    write_report,
)
from blindfuse.report import rendering
from blindfuse.report.blocks import Chart, distinct_names, visible
from tests.support.report_cases import (
    HOSTILE,
    crowd,
    embedded_data,
    hostile,
    large_fusion,
    page_of,
)
from vega_bundle import BUNDLE, bundle

MAX_PAGE_BYTES = 3_000_000


class Elements(HTMLParser):
    """Counts of the elements, attributes, ids and references of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.references: list[str] = []
        self.headings: list[int] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes.update(name for name, _ in attrs)
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        for name, value in attrs:
            if name == "id":
                self.ids[str(value)] += 1
            if name in ("aria-labelledby", "for"):
                self.references.append(str(value))
            if name == "href" and str(value).startswith("#"):
                self.references.append(str(value)[1:])


def test_hostile_names_stay_text() -> None:
    page = report_html(hostile(), title=HOSTILE[0], notes=HOSTILE)
    elements, plain = Elements(page), Elements(report_html(crowd()))
    assert elements.tags["script"] == plain.tags["script"] == 4
    assert elements.tags["img"] == elements.tags["svg"] == 0
    assert not {"onerror", "onload"} & set(elements.attributes)
    assert "49{% raw %}" not in page
    assert visible(HOSTILE[0]) in unescape(page)
    names = {row["name"] for row in embedded_data(page)["annotators"]}
    assert names == {visible(name) for name in HOSTILE}


def test_the_page_loads_nothing() -> None:
    page = report_html(crowd())
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    addresses = set(re.findall(r"https?://[^\s\"'<]+", outside.replace(r"\u003c", "<")))
    assert all(address.startswith("https://example.org/pictures") for address in addresses)
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", outside)
    assert "default-src &#39;none&#39;" in page
    assert "unsafe-eval" not in page


def test_references_have_one_target_and_headings_are_in_order() -> None:
    fusion = crowd()
    gold = check_on_gold(fusion, {fusion.responses.items[0]: "cat"})
    compared = [
        Comparison("fuse", None, 0.0, 1.0, None),
        Comparison("KOS", None, None, 0.1, "it <failed>."),
    ]
    page = report_html(fusion, gold=gold, compared=compared)
    elements = Elements(page)
    assert set(elements.references) <= set(elements.ids)
    assert max(elements.ids.values()) == 1
    assert elements.headings[0] == 1
    assert all(b <= a + 1 for a, b in zip(elements.headings, elements.headings[1:], strict=False))
    assert "it &lt;failed&gt;." in page
    assert elements.tags["caption"] == elements.tags["table"]


def test_the_same_fusion_gives_the_same_bytes() -> None:
    assert report_html(crowd()) == report_html(crowd())


@pytest.mark.parametrize(
    "table",
    [
        [[0, 1], [1, 1], [0, 0]],
        [[0, -1, -1], [-1, 1, -1], [-1, -1, 1]],
        [[0, 1, -1], [1, 1, -1], [0, 0, -1], [-1, -1, -1]],
    ],
    ids=["two annotators", "no overlap", "no responses"],
)
def test_unusual_tables_have_a_page(table: list[list[int]]) -> None:
    page = report_html(fuse(table))
    assert embedded_data(page)["annotators"]
    assert "nan" not in re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL).lower()


def test_a_page_of_many_items_and_annotators_is_small() -> None:
    fusion = large_fusion(100_000, 1000, 3, 8, lambda at: f"https://example.org/images/{at:08}.jpg")
    page = report_html(fusion)
    assert len(page.encode()) < MAX_PAGE_BYTES
    found = embedded_data(page)
    assert len(found["annotators"]) == 1000
    assert len(found["items"]) == 1000
    assert "1,000 of 100,000 items" in page
    gains = -np.sort(-fusion.item_ratings.gain)[:1000]
    np.testing.assert_allclose([row["gain"] for row in found["items"]], gains, atol=5e-5)


def test_a_page_with_long_names_and_many_responses_is_small() -> None:
    fusion = large_fusion(2_000, 1200, 3, 300, lambda at: f"{at:04}{'x' * 300}")
    page = report_html(fusion)
    assert len(page.encode()) < MAX_PAGE_BYTES
    assert "Shown are 1,000 of 2,000 items" in page
    assert "Shown are 1,000 of 1,200 annotators" in page


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")
    write_report(crowd(), target, title="My crowd")
    assert target.read_text(encoding="utf-8") == report_html(crowd(), title="My crowd")
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"no/report\.html cannot be written: No such file"):
        write_report(crowd(), tmp_path / "no" / "report.html")


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")

    def full(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(BadFile, match="No space left"):
        write_report(crowd(), target)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_control_characters_are_made_visible_and_names_that_look_alike_are_numbered() -> None:
    assert visible("a\nb\x00\x7f\x9f\ud800\u2028c") == "a␊b␀␡��␤c"
    assert visible("") == visible(" \t") == "(empty)"
    assert visible("x" * 200) == "x" * 119 + "…"
    assert visible(np.int64(7)) == "7"
    assert distinct_names(["a", "b", "a", "\x00", "␀"]) == ["a", "b", "a (2)", "␀", "␀ (2)"]


def test_names_are_data_of_charts_and_nothing_else() -> None:
    """No expression, scale or field of a chart contains a part of a name."""
    for chart in page_of(hostile()).blocks(Chart):
        drawn = json.loads(json.dumps(chart.spec))
        for layer in [drawn, *drawn.get("layer", [])]:
            layer.get("data", {}).pop("values", None)
        assert drawn.pop("datasets")["rows"]
        assert "pwned" not in json.dumps(drawn)


def test_the_theme_of_the_caller_does_not_change_the_page() -> None:
    page = report_html(crowd())
    with alt.theme.enable("dark"):
        assert report_html(crowd()) == page


def test_the_script_of_the_charts_is_what_vl_convert_bundles() -> None:
    script = BUNDLE.read_text(encoding="utf-8")
    assert script == bundle()
    assert "</script" not in script


@pytest.mark.parametrize("name", HOSTILE)
def test_json_cannot_end_its_script_element(name: str) -> None:
    text = rendering.script_json({name: [name]})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {name: [name]}
