"""The report in a browser: sorting, searching, dialogs, phones, dark mode and print."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from blindfuse import fuse, report_html, simulate
from blindfuse.report.blocks import visible
from tests.support.report_cases import HOSTILE, crowd, digits, hostile

SCREENSHOTS = Path(__file__).parent / "screenshots"
WIDTHS = {"desktop": 1280, "phone": 390}


@pytest.fixture(scope="module")
def crowd_page() -> str:
    return report_html(crowd(), title="A crowd", notes=["read as a long table"])


@pytest.fixture(scope="module")
def hostile_page() -> str:
    return report_html(hostile(), title=HOSTILE[0], notes=HOSTILE)


def column_texts(page: Page, table: str, column: int) -> list[str]:
    rows = page.locator(f"#{table} tbody tr td:nth-child({column})")
    return [text.replace("\u00a0", " ").strip() for text in rows.all_text_contents()]


def numbers(texts: list[str]) -> list[float]:
    return [float(text.replace(",", "").removesuffix(" %")) for text in texts]


class TestReading:
    def test_every_chart_is_drawn_and_described(self, show: Any, crowd_page: str) -> None:
        page = show(crowd_page)
        charts = page.locator(".chart")
        assert charts.count() == 4
        for at in range(charts.count()):
            assert charts.nth(at).get_attribute("role") == "img"
            assert len(charts.nth(at).get_attribute("aria-label")) > 20
            box = charts.nth(at).locator("svg").bounding_box()
            assert box is not None
            assert box["width"] > 600
            assert box["height"] > 60
            assert charts.nth(at).locator("[class*='mark-']:not(.role-axis-grid) path").count()
        points = page.locator("#chart-annotators .mark-symbol path")
        assert points.count() == crowd().responses.n_annotators
        bars = page.locator("#chart-classes .mark-rect path")
        assert bars.count() == 2 * crowd().responses.n_classes

    def test_numbers_are_those_of_the_fusion(self, show: Any, crowd_page: str) -> None:
        fusion, page = crowd(), show(crowd_page)
        found = fusion.diagnostics
        figures = page.locator(".figures dd").all_text_contents()
        assert found.expected_error is not None
        assert found.information is not None
        assert figures[0] == found.expected_error.interval().split(" (")[0].replace(" ", "\u00a0")
        assert figures[1] == f"{found.information.alpha.value:.2f}"
        assert figures[2] == f"{found.items.needs_another_label.sum():,}"
        page.click("#annotator-all")
        names = fusion.responses.annotators.tolist()
        drawn = zip(
            column_texts(page, "annotator-table", 1),
            column_texts(page, "annotator-table", 2),
            column_texts(page, "annotator-table", 3),
            strict=True,
        )
        count = 0
        for name, responses, accuracy in drawn:
            m = names.index(name)
            assert int(responses) == fusion.responses.responses_per_annotator[m]
            assert float(accuracy[:-2]) == pytest.approx(
                100 * found.annotators.accuracy[m], abs=0.06
            )
            count += 1
        assert count == len(names)

    def test_a_chart_shows_a_tooltip_under_the_pointer(self, show: Any, crowd_page: str) -> None:
        page = show(crowd_page)
        page.locator("#chart-classes .mark-rect path").first.hover()
        tip = page.locator("#vg-tooltip-element.visible")
        tip.wait_for()
        share = 100 * crowd().diagnostics.class_shares.share[0]
        assert "cat" in tip.inner_text()
        assert f"{share:.1f}\u00a0%" in tip.inner_text()

    def test_the_policy_allows_no_other_script(self, show: Any, crowd_page: str) -> None:
        """Not even a script in an attribute, should a name ever get there."""
        page = show(crowd_page, allow="Content Security Policy")
        page.evaluate("window.refused = []")
        page.evaluate(
            "document.addEventListener('securitypolicyviolation',"
            " (event) => window.refused.push(event.effectiveDirective))"
        )
        page.evaluate("document.querySelector('h1').setAttribute('onclick', 'window.pwned = 1')")
        page.click("h1")
        # The event comes a little later. A function is compiled once, before polling starts;
        # the policy would refuse an expression, which is compiled at every poll.
        page.wait_for_function("() => window.refused.length > 0")
        assert page.evaluate("window.pwned") is None
        assert page.evaluate("window.refused") == ["script-src-attr"]


class TestAnnotators:
    @pytest.mark.parametrize(("heading", "column"), [("Responses", 2), ("Accuracy", 3)])
    def test_sorting_by_numbers(
        self, show: Any, crowd_page: str, heading: str, column: int
    ) -> None:
        page = show(crowd_page)
        page.click("#annotator-all")
        cell = page.locator(f"#annotator-table th:has-text('{heading}')").first
        for _ in range(3):
            cell.locator("button").click()
            direction = cell.get_attribute("aria-sort")
            found = numbers(column_texts(page, "annotator-table", column))
            assert found == sorted(found, reverse=direction == "descending")
            assert page.locator("#annotator-table th[aria-sort]").count() == 1

    def test_sorting_by_name_with_the_keyboard(self, show: Any, crowd_page: str) -> None:
        page = show(crowd_page)
        page.click("#annotator-all")
        button = page.locator("#annotator-table th[data-key=name] button")
        button.focus()
        page.keyboard.press("Enter")
        found = column_texts(page, "annotator-table", 1)
        assert found == sorted(found)
        page.keyboard.press("Enter")
        assert column_texts(page, "annotator-table", 1) == found[::-1]

    def test_searching(self, show: Any, crowd_page: str) -> None:
        page = show(crowd_page)
        page.get_by_role("search", name="Annotators").get_by_label("Search").fill("WORKER 1")
        found = column_texts(page, "annotator-table", 1)
        assert sorted(found) == [f"worker {number}" for number in range(10, 20)]
        assert page.locator("#annotator-status").inner_text() == "10 of 10 annotators shown"
        page.get_by_role("search", name="Annotators").get_by_label("Search").fill("nobody")
        assert column_texts(page, "annotator-table", 1) == []
        assert page.locator("#annotator-status").inner_text() == "No annotators match."

    def test_annotators_with_remarks_only(self, show: Any, crowd_page: str) -> None:
        page = show(crowd_page)
        page.get_by_label("with remarks only").check()
        assert all(column_texts(page, "annotator-table", 6))
        found = crowd().diagnostics.annotators
        flagged = found.spammer | found.adversary | found.constant
        flagged[np.unique(crowd().diagnostics.dependence.pairs)] = True
        assert len(column_texts(page, "annotator-table", 1)) == flagged.sum()

    def test_showing_all_rows(self, show: Any, crowd_page: str) -> None:
        page = show(crowd_page)
        assert len(column_texts(page, "annotator-table", 1)) == 25
        page.click("#annotator-all")
        assert len(column_texts(page, "annotator-table", 1)) == 40
        assert page.locator("#annotator-all").is_hidden()

    def test_opening_by_mouse_and_closing_by_escape(self, show: Any, crowd_page: str) -> None:
        page = show(crowd_page)
        page.click("#annotator-all")
        page.get_by_role("button", name="worker 00", exact=True).click()
        dialog = page.get_by_role("dialog")
        assert dialog.get_by_role("heading").inner_text() == "worker 00"
        cells = numbers(dialog.locator(".matrix td").all_text_contents())
        expected = 100 * crowd().model.confusions[0].T.ravel()
        np.testing.assert_allclose(cells, expected, atol=0.1)
        page.keyboard.press("Escape")
        assert not page.locator("dialog").is_visible()

    def test_opening_by_keyboard_returns_the_focus(self, show: Any, crowd_page: str) -> None:
        page = show(crowd_page)
        name = page.locator("#annotator-table .name").nth(2)
        name.focus()
        page.keyboard.press("Enter")
        assert page.get_by_role("dialog").get_by_role("heading").inner_text() == name.inner_text()
        page.keyboard.press("Tab")
        inside = page.evaluate("document.activeElement.closest('dialog') !== null")
        assert inside
        page.get_by_role("button", name="Close").click()
        assert not page.locator("dialog").is_visible()
        assert name.evaluate("(node) => node === document.activeElement")


class TestItems:
    def test_the_largest_gains_come_first_and_can_be_sorted(
        self, show: Any, crowd_page: str
    ) -> None:
        page = show(crowd_page)
        found = numbers(column_texts(page, "item-table", 4))
        gains = -np.sort(-crowd().item_ratings.gain)[:25]
        np.testing.assert_allclose(found, 100 * gains, atol=0.06)
        page.click("#item-table th[data-key=confidence] button")
        found = numbers(column_texts(page, "item-table", 3))
        least = np.sort(crowd().posteriors.max(axis=1))[:25]
        np.testing.assert_allclose(found, 100 * least, atol=0.06)

    def test_filters_combine(self, show: Any, crowd_page: str) -> None:
        page, fusion = show(crowd_page), crowd()
        page.locator("#item-controls select").select_option("dog")
        page.get_by_label("one more response could change it").check()
        page.click("#item-all")
        found = fusion.diagnostics.items
        kept = (fusion.labels == "dog") & found.needs_another_label
        assert sorted(column_texts(page, "item-table", 1)) == sorted(fusion.responses.items[kept])
        page.get_by_label("against the majority vote").check()
        kept &= found.outvoted
        assert sorted(column_texts(page, "item-table", 1)) == sorted(fusion.responses.items[kept])
        assert 0 < kept.sum() < 25

    def test_searching(self, show: Any, crowd_page: str) -> None:
        page = show(crowd_page)
        page.get_by_role("search", name="Items").get_by_label("Search").fill("00123")
        assert column_texts(page, "item-table", 1) == ["https://example.org/pictures/00123.jpg"]
        link = page.locator("#item-table tbody a")
        assert link.get_attribute("href") == "https://example.org/pictures/00123.jpg"
        assert "noopener" in link.get_attribute("rel")

    def test_votes_open_by_keyboard(self, show: Any, crowd_page: str) -> None:
        page, fusion = show(crowd_page), crowd()
        n = 123
        page.get_by_role("search", name="Items").get_by_label("Search").fill(f"{n:05}")
        summary = page.locator("#item-table summary")
        summary.focus()
        page.keyboard.press("Enter")
        row = fusion.responses.matrix()[n]
        for code in set(row[row >= 0].tolist()):
            term = page.locator(".votes dt", has_text=fusion.responses.classes[code])
            voters = term.locator("xpath=following-sibling::dd[1]").inner_text()
            assert voters == ", ".join(fusion.responses.annotators[row == code])


class TestHostileNames:
    def test_hostile_names_are_shown_and_do_not_run(self, show: Any, hostile_page: str) -> None:
        page = show(hostile_page)
        assert page.locator("h1").inner_text() == visible(HOSTILE[0])
        page.click("#item-all")
        names = [visible(name) for name in HOSTILE]
        assert sorted(column_texts(page, "annotator-table", 1)) == sorted(names)
        for name in names:
            button = page.locator("#annotator-table .name").filter(has_text=name.strip())
            button.first.click()
            assert page.locator("#dialog-title").inner_text() == name.strip()
            page.keyboard.press("Escape")
        for row in range(10):
            page.locator("#item-table summary").nth(row).click()
        for mark in page.locator("#chart-annotators .mark-symbol path").all()[:4]:
            mark.hover()
            page.locator("#vg-tooltip-element.visible").wait_for()
        assert page.evaluate("window.pwned") is None
        assert page.locator("img, iframe, object").count() == 0
        assert page.locator("script").count() == 4
        assert page.locator("a[href^='javascript']").count() == 0

    def test_text_direction_is_isolated(self, show: Any, hostile_page: str) -> None:
        """Every name is in an element that isolates its direction."""
        page = show(hostile_page)
        loose = page.evaluate(
            """() => {
                const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                const found = [];
                while (walk.nextNode()) {
                    const node = walk.currentNode;
                    const parent = node.parentElement;
                    if (!node.textContent.includes("\\u202e")) continue;
                    if (!parent.closest("bdi, script, option, text")) found.push(parent.outerHTML);
                }
                return found;
            }"""
        )
        assert loose == []


def overflow(page: Page) -> int:
    return int(page.evaluate("document.scrollingElement.scrollWidth - innerWidth"))


RATIOS = """() => {
    const parse = (text) => text.match(/[\\d.]+/g).map(Number);
    const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const behind = (node) => {
        for (; node; node = node.parentElement) {
            const color = parse(getComputedStyle(node).backgroundColor);
            if (color.length === 3 || color[3] === 1) return color;
        }
    };
    const poor = [];
    for (const node of document.querySelectorAll("main *, header *, footer *")) {
        const texts = [...node.childNodes].filter((one) => one.nodeType === Node.TEXT_NODE);
        if (!texts.some((one) => one.textContent.trim()) || !node.checkVisibility()) continue;
        const inside = node.namespaceURI.includes("svg");
        const style = getComputedStyle(node);
        const front = light(parse(inside ? style.fill : style.color));
        const back = light(behind(node));
        const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
        if (ratio < 4.5) poor.push([node.tagName, node.className, node.textContent, ratio]);
    }
    return poor;
}"""


class TestAppearance:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_text_has_enough_contrast(self, show: Any, crowd_page: str, scheme: str) -> None:
        assert show(crowd_page, scheme=scheme).evaluate(RATIOS) == []

    def test_charts_follow_light_and_dark_mode(self, show: Any, crowd_page: str) -> None:
        page = show(crowd_page)
        ink = "getComputedStyle(document.querySelector('.chart svg text')).fill"
        paper = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ink), page.evaluate(paper)
        page.emulate_media(color_scheme="dark")
        dark = page.evaluate(ink), page.evaluate(paper)
        assert light[0] != dark[0]
        assert light[1] == "rgb(255, 255, 255)" != dark[1]

    def test_print_is_white_and_has_no_controls(self, show: Any, crowd_page: str) -> None:
        """Also from dark mode."""
        page = show(crowd_page, scheme="dark")
        page.emulate_media(media="print", color_scheme="dark")
        assert (
            page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
        assert page.evaluate(RATIOS) == []
        for hidden in ("nav", ".controls", ".more"):
            assert not page.locator(hidden).first.is_visible()
        for selector in (".chart svg", "#annotator-table tbody tr", "#item-table tbody tr"):
            assert page.locator(selector).first.is_visible()
        assert page.pdf(format="A4").startswith(b"%PDF")

    @pytest.mark.parametrize("width", [360, 390, 768, 1280])
    @pytest.mark.parametrize("name", ["crowd_page", "hostile_page"])
    def test_nothing_is_wider_than_the_screen(
        self, show: Any, request: pytest.FixtureRequest, name: str, width: int
    ) -> None:
        page = show(request.getfixturevalue(name), width)
        assert overflow(page) <= 0
        names = page.locator("#annotator-table .name")
        longest = max(names.all_inner_texts(), key=len)
        names.filter(has_text=longest).first.click()
        assert overflow(page) <= 0

    def test_every_element_has_an_accessible_name(self, show: Any, crowd_page: str) -> None:
        page = show(crowd_page)
        nameless = page.evaluate(
            """() => [...document.querySelectorAll("input, select, button, [role=img], th")]
                .filter((node) => {
                    const label = node.labels?.[0]?.textContent ?? node.getAttribute("aria-label")
                        ?? node.textContent;
                    return !label.trim();
                }).map((node) => node.outerHTML)"""
        )
        assert nameless == []
        assert page.locator("table:not(:has(caption))").count() == 0
        assert page.locator("th:not([scope])").count() == 0
        assert page.locator("main").count() == page.locator("h1").count() == 1

    def test_focus_is_visible(self, show: Any, crowd_page: str) -> None:
        page = show(crowd_page)
        for _ in range(30):
            page.keyboard.press("Tab")
            style = page.evaluate(
                "(() => { const s = getComputedStyle(document.activeElement);"
                " return [s.outlineStyle, s.outlineWidth]; })()"
            )
            assert style[0] != "none", page.evaluate("document.activeElement.outerHTML")


def three_annotators() -> str:
    return report_html(fuse(simulate(200, 3, 2, np.random.default_rng(2), skill=0.3).responses))


def digits_with_gold() -> str:
    fusion, parts = digits()
    return report_html(fusion, **parts)


PICTURED = {
    "crowd": lambda: report_html(crowd(), title="A crowd"),
    "hostile": lambda: report_html(hostile(), title=HOSTILE[0], notes=HOSTILE),
    "digits": digits_with_gold,
    "three": three_annotators,
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", WIDTHS)
@pytest.mark.parametrize("name", PICTURED)
def test_screenshots_to_look_at(show: Any, name: str, device: str, scheme: str) -> None:
    """Screenshots for review, in tests/browser/screenshots."""
    page = show(PICTURED[name](), WIDTHS[device], scheme)
    assert overflow(page) <= 0
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}-{device}-{scheme}.png", full_page=True)
