"""The report as people meet it: sorted, searched, opened, on a phone, in the dark, on paper."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from blindfuse import Fusion, fuse, report_html, simulate
from blindfuse.report.names import shown
from tests.support.report_cases import HOSTILE, crowd, digits, hostile

SCREENSHOTS = Path(__file__).parent / "screenshots"
WIDTHS = {"desktop": 1280, "phone": 390}


@pytest.fixture(scope="module")
def page_of_crowd() -> str:
    return report_html(crowd(), title="A crowd", notes=["read as long, CSV (guessed)"])


@pytest.fixture(scope="module")
def page_of_hostile() -> str:
    return report_html(hostile(), title=HOSTILE[0], notes=HOSTILE)


def first_cells(page: Page, table: str, column: int) -> list[str]:
    rows = page.locator(f"#{table} tbody tr td:nth-child({column})")
    return [text.replace("\u00a0", " ").strip() for text in rows.all_text_contents()]


def numbers(texts: list[str]) -> list[float]:
    return [float(text.replace(",", "").removesuffix(" %")) for text in texts]


class TestReading:
    def test_every_picture_is_drawn_and_described(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
        pictures = page.locator(".picture")
        assert pictures.count() == 5
        for at in range(pictures.count()):
            assert pictures.nth(at).get_attribute("role") == "img"
            assert len(pictures.nth(at).get_attribute("aria-label")) > 20
            box = pictures.nth(at).locator("svg").bounding_box()
            assert box is not None
            assert box["width"] > 600
            assert box["height"] > 60
            assert pictures.nth(at).locator("[class*='mark-']:not(.role-axis-grid) path").count()
        points = page.locator("#picture-annotators .mark-symbol path")
        assert points.count() == crowd().responses.n_annotators
        bars = page.locator("#picture-classes .mark-rect path")
        assert bars.count() == 2 * crowd().responses.n_classes
        history = page.locator("#picture-convergence .mark-symbol path")
        assert history.count() == len(crowd().history)

    def test_numbers_are_those_of_the_fusion(self, show: Any, page_of_crowd: str) -> None:
        fusion, page = crowd(), show(page_of_crowd)
        found = fusion.diagnostics
        figures = page.locator(".figures dd").all_text_contents()
        assert figures[0] == f"{100 * found.expected.error:.1f}\u00a0%"
        assert figures[1] == f"{np.sum(fusion.posteriors.max(axis=1) < 0.9):,}"
        page.click("#annotator-all")
        names = fusion.responses.annotators.tolist()
        drawn = zip(
            first_cells(page, "annotator-table", 1),
            first_cells(page, "annotator-table", 2),
            first_cells(page, "annotator-table", 3),
            strict=True,
        )
        count = 0
        for name, labels, accuracy in drawn:
            m = names.index(name)
            assert int(labels) == fusion.responses.responses_per_annotator[m]
            assert float(accuracy[:-2]) == pytest.approx(
                100 * found.annotators.accuracy[m], abs=0.06
            )
            count += 1
        assert count == len(names)

    def test_a_picture_tells_more_under_the_pointer(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
        page.locator("#picture-classes .mark-rect path").first.hover()
        tip = page.locator("#vg-tooltip-element.visible")
        tip.wait_for()
        share = 100 * crowd().model.prior[0]
        assert "cat" in tip.inner_text()
        assert f"{share:.1f}\u00a0%" in tip.inner_text()

    def test_the_policy_allows_no_other_script(self, show: Any, page_of_crowd: str) -> None:
        """Not even one in an attribute, should a name ever get there."""
        page = show(page_of_crowd, allow="Content Security Policy")
        page.evaluate("window.refused = []")
        page.evaluate(
            "document.addEventListener('securitypolicyviolation',"
            " (event) => window.refused.push(event.effectiveDirective))"
        )
        page.evaluate("document.querySelector('h1').setAttribute('onclick', 'window.pwned = 1')")
        page.click("h1")
        page.wait_for_function("window.refused.length > 0")  # the browser tells a little later
        assert page.evaluate("window.pwned") is None
        assert page.evaluate("window.refused") == ["script-src-attr"]


class TestAnnotators:
    @pytest.mark.parametrize(("heading", "column"), [("Labels", 2), ("Accuracy", 3)])
    def test_sorting_by_numbers(
        self, show: Any, page_of_crowd: str, heading: str, column: int
    ) -> None:
        page = show(page_of_crowd)
        page.click("#annotator-all")
        cell = page.locator(f"#annotator-table th:has-text('{heading}')").first
        for _ in range(3):
            cell.locator("button").click()
            way = cell.get_attribute("aria-sort")
            found = numbers(first_cells(page, "annotator-table", column))
            assert found == sorted(found, reverse=way == "descending")
            assert page.locator("#annotator-table th[aria-sort]").count() == 1

    def test_sorting_by_name_with_the_keyboard(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
        page.click("#annotator-all")
        button = page.locator("#annotator-table th[data-key=name] button")
        button.focus()
        page.keyboard.press("Enter")
        found = first_cells(page, "annotator-table", 1)
        assert found == sorted(found)
        page.keyboard.press("Enter")
        assert first_cells(page, "annotator-table", 1) == found[::-1]

    def test_searching(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
        page.get_by_role("search", name="Annotators").get_by_label("Search").fill("WORKER 1")
        found = first_cells(page, "annotator-table", 1)
        assert sorted(found) == [f"worker {number}" for number in range(10, 20)]
        assert page.locator("#annotator-status").inner_text() == "10 of 10 annotators shown"
        page.get_by_role("search", name="Annotators").get_by_label("Search").fill("nobody")
        assert first_cells(page, "annotator-table", 1) == []
        assert page.locator("#annotator-status").inner_text() == "No annotators match."

    def test_only_those_with_remarks(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
        page.get_by_label("with remarks only").check()
        assert all(first_cells(page, "annotator-table", 6))
        found = crowd().diagnostics.annotators
        looked = found.spammer | found.adversary | found.constant
        looked[np.unique(crowd().diagnostics.dependence.pairs)] = True
        assert len(first_cells(page, "annotator-table", 1)) == looked.sum()

    def test_more_on_request(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
        assert len(first_cells(page, "annotator-table", 1)) == 25
        page.click("#annotator-all")
        assert len(first_cells(page, "annotator-table", 1)) == 40
        assert page.locator("#annotator-all").is_hidden()

    def test_opening_by_mouse_and_closing_by_escape(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
        page.click("#annotator-all")
        page.get_by_role("button", name="worker 00", exact=True).click()
        dialog = page.get_by_role("dialog")
        assert dialog.get_by_role("heading").inner_text() == "worker 00"
        cells = numbers(dialog.locator(".matrix td").all_text_contents())
        expected = 100 * crowd().model.confusions[0].T.ravel()
        np.testing.assert_allclose(cells, expected, atol=0.1)
        page.keyboard.press("Escape")
        assert not page.locator("dialog").is_visible()

    def test_opening_by_keyboard_and_coming_back(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
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
    def test_the_least_certain_first_and_sorting(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
        found = numbers(first_cells(page, "item-table", 3))
        least = np.sort(crowd().posteriors.max(axis=1))[:25]
        np.testing.assert_allclose(found, 100 * least, atol=0.06)
        page.click("#item-table th[data-key=sure] button")
        found = numbers(first_cells(page, "item-table", 3))
        assert found == sorted(found, reverse=True)

    def test_filters_together(self, show: Any, page_of_crowd: str) -> None:
        page, fusion = show(page_of_crowd), crowd()
        page.locator("#item-controls select").select_option("dog")
        page.get_by_label("needs another label").check()
        page.click("#item-all")
        found = fusion.diagnostics.items
        kept = (fusion.labels == "dog") & found.needs
        assert sorted(first_cells(page, "item-table", 1)) == sorted(fusion.responses.items[kept])
        page.get_by_label("against the vote").check()
        kept &= found.outvoted
        assert sorted(first_cells(page, "item-table", 1)) == sorted(fusion.responses.items[kept])
        assert 0 < kept.sum() < 25

    def test_searching(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
        page.get_by_role("search", name="Items").get_by_label("Search").fill("00123")
        assert first_cells(page, "item-table", 1) == ["https://example.org/pictures/00123.jpg"]
        link = page.locator("#item-table tbody a")
        assert link.get_attribute("href") == "https://example.org/pictures/00123.jpg"
        assert "noopener" in link.get_attribute("rel")

    def test_who_said_what_by_keyboard(self, show: Any, page_of_crowd: str) -> None:
        page, fusion = show(page_of_crowd), crowd()
        n = 123
        page.get_by_role("search", name="Items").get_by_label("Search").fill(f"{n:05}")
        summary = page.locator("#item-table summary")
        summary.focus()
        page.keyboard.press("Enter")
        row = fusion.responses.matrix()[n]
        for code in set(row[row >= 0].tolist()):
            term = page.locator(".votes dt", has_text=fusion.responses.classes[code])
            said = term.locator("xpath=following-sibling::dd[1]").inner_text()
            assert said == ", ".join(fusion.responses.annotators[row == code])


class TestHostileNames:
    def test_they_are_shown_and_do_not_run(self, show: Any, page_of_hostile: str) -> None:
        page = show(page_of_hostile)
        assert page.locator("h1").inner_text() == shown(HOSTILE[0])
        page.click("#item-all")
        names = [shown(name) for name in HOSTILE]
        assert sorted(first_cells(page, "annotator-table", 1)) == sorted(names)
        for name in names:
            button = page.locator("#annotator-table .name").filter(has_text=name.strip())
            button.first.click()
            assert page.locator("#dialog-title").inner_text() == name.strip()
            page.keyboard.press("Escape")
        for row in range(10):
            page.locator("#item-table summary").nth(row).click()
        for mark in page.locator("#picture-annotators .mark-symbol path").all()[:4]:
            mark.hover()
            page.locator("#vg-tooltip-element.visible").wait_for()
        assert page.evaluate("window.pwned") is None
        assert page.locator("img, iframe, object").count() == 0
        assert page.locator("script").count() == 3
        assert page.locator("a[href^='javascript']").count() == 0

    def test_directions_do_not_spill(self, show: Any, page_of_hostile: str) -> None:
        """Every name stands in an element that isolates its direction."""
        page = show(page_of_hostile)
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

    @pytest.mark.parametrize("width", [360, 390, 1280])
    def test_long_names_do_not_widen_the_page(
        self, show: Any, page_of_hostile: str, width: int
    ) -> None:
        page = show(page_of_hostile, width)
        assert overflow(page) <= 0
        page.locator("#annotator-table .name").filter(has_text="long").click()
        assert overflow(page) <= 0


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


class TestEveryEye:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_text_stands_out(self, show: Any, page_of_crowd: str, scheme: str) -> None:
        assert show(page_of_crowd, scheme=scheme).evaluate(RATIOS) == []

    def test_pictures_follow_from_light_to_dark(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
        ink = "getComputedStyle(document.querySelector('.picture svg text')).fill"
        paper = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ink), page.evaluate(paper)
        page.emulate_media(color_scheme="dark")
        dark = page.evaluate(ink), page.evaluate(paper)
        assert light[0] != dark[0]
        assert light[1] == "rgb(255, 255, 255)" != dark[1]

    def test_on_paper(self, show: Any, page_of_crowd: str) -> None:
        """Even from a dark screen, paper is white, and has no controls."""
        page = show(page_of_crowd, scheme="dark")
        page.emulate_media(media="print", color_scheme="dark")
        assert (
            page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
        assert page.evaluate(RATIOS) == []
        for gone in ("nav", ".controls", ".more"):
            assert not page.locator(gone).first.is_visible()
        for there in (".picture svg", "#annotator-table tbody tr", "#item-table tbody tr"):
            assert page.locator(there).first.is_visible()
        assert page.pdf(format="A4").startswith(b"%PDF")

    @pytest.mark.parametrize("width", [360, 390, 768, 1280])
    def test_nothing_is_wider_than_the_screen(
        self, show: Any, page_of_crowd: str, width: int
    ) -> None:
        page = show(page_of_crowd, width)
        assert overflow(page) <= 0
        page.locator("#annotator-table .name").first.click()
        assert overflow(page) <= 0

    def test_everything_has_a_name(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
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

    def test_focus_can_be_seen(self, show: Any, page_of_crowd: str) -> None:
        page = show(page_of_crowd)
        for _ in range(30):
            page.keyboard.press("Tab")
            style = page.evaluate(
                "(() => { const s = getComputedStyle(document.activeElement);"
                " return [s.outlineStyle, s.outlineWidth]; })()"
            )
            assert style[0] != "none", page.evaluate("document.activeElement.outerHTML")


def save(page: Page, name: str) -> None:
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", WIDTHS)
class TestScreenshots:
    """For people to look at: tests/browser/screenshots."""

    def check(self, show: Any, html: str, name: str, device: str, scheme: str) -> None:
        page = show(html, WIDTHS[device], scheme)
        assert overflow(page) <= 0
        save(page, f"{name}-{device}-{scheme}")

    def test_crowd(self, show: Any, page_of_crowd: str, device: str, scheme: str) -> None:
        self.check(show, page_of_crowd, "crowd", device, scheme)

    def test_hostile(self, show: Any, page_of_hostile: str, device: str, scheme: str) -> None:
        self.check(show, page_of_hostile, "hostile", device, scheme)

    def test_digits_with_gold(self, show: Any, device: str, scheme: str) -> None:
        fusion, parts = digits()
        self.check(show, report_html(fusion, **parts), "digits", device, scheme)

    def test_three_annotators(self, show: Any, device: str, scheme: str) -> None:
        fusion: Fusion = fuse(simulate(200, 3, 2, np.random.default_rng(2), skill=0.3).responses)
        self.check(show, report_html(fusion), "three", device, scheme)

    @pytest.mark.parametrize("name", ["web", "bird"])
    def test_public_crowds(
        self, show: Any, crowds: Any, name: str, device: str, scheme: str
    ) -> None:
        fusion = fuse(crowds[name].responses)
        self.check(show, report_html(fusion, title=name), name, device, scheme)
