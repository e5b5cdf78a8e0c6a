"""The report says what was measured, in a page that is whole, small and harmless."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest
from scipy.stats import binomtest

from blindfuse import (
    BadFile,
    BadLabels,
    Comparison,
    Fusion,
    Model,
    Responses,
    check_on_gold,
    fuse,
    report_html,
    simulate,
    write_report,
)
from blindfuse.fusion.choice import Choice
from blindfuse.fusion.merged_groups import MERGED_GROUPS
from blindfuse.metrics import fleiss_kappa, krippendorff_alpha
from blindfuse.report import annotators, scripts
from blindfuse.report.charts import pictures
from blindfuse.report.contents import Contents, gather
from blindfuse.report.names import as_json, distinct, fitting, shown
from tests.support.report_cases import HOSTILE, crowd, hostile

MOST_BYTES = 3_000_000


def contents(fusion: Fusion, **parts: Any) -> Contents:
    return gather(fusion, title="A title", **parts)


def embedded(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def described(
    responses: Responses, posteriors: np.ndarray[Any, Any], model: Model, history: int = 5
) -> Fusion:
    """A fusion of given beliefs: what a page needs, without the time that fitting takes."""
    return Fusion(
        responses,
        model.name_labels(posteriors),
        posteriors,
        Choice("Given", "It was given.", model, posteriors, np.linspace(-9.0, -1.0, history)),
    )


def renamed(fusion: Fusion, method: str) -> Fusion:
    """The same fusion as if another method had been chosen."""
    return replace(fusion, choice=replace(fusion.choice, method=method))


def large(
    n: int, m: int, k: int, answers: int, name: Callable[[int], str], seed: int = 0
) -> Fusion:
    """A crowd with named items, annotators and classes, labelled by its own true model."""
    rng = np.random.default_rng(seed)
    drawn = simulate(n, m, k, rng, missing=1 - answers / m, skill=0.5)
    items, annotators, classes = ([name(at) for at in range(size)] for size in (n, m, k))
    _, who, labels = drawn.responses.by_item
    named = Responses.from_codes(
        drawn.responses.item_of_response(),
        who,
        labels,
        items=items,
        annotators=annotators,
        classes=classes,
    )
    model = Model(drawn.model.confusions, drawn.model.prior, named.annotators, named.classes)
    return described(named, model.posteriors(named), model)


class TestContents:
    def test_annotators_are_those_of_the_diagnostics(self) -> None:
        fusion = crowd()
        found, rows = fusion.diagnostics.annotators, contents(fusion).annotators.rows
        assert len(rows) == fusion.responses.n_annotators
        assert [row.labels for row in rows] == sorted(found.labels, reverse=True)
        for row in rows:
            m = fusion.responses.annotators.tolist().index(row.name)
            assert row.labels == np.sum(fusion.responses.by_item.codes == m)
            assert row.accuracy == pytest.approx(found.accuracy[m], abs=5e-5)
            assert row.low == pytest.approx(found.low[m], abs=5e-5)
            assert row.high == pytest.approx(found.high[m], abs=5e-5)
            assert (row.worst, row.taken_for) == (found.worst[m], found.taken_for[m])
            assert row.misfit == pytest.approx(fusion.diagnostics.fit.by_annotator[m], abs=0.005)
            assert ("no better than chance" in row.remarks) == found.spammer[m]
            assert ("worse than chance" in row.remarks) == found.adversary[m]
            assert row.matrix is not None
            for true, reported in np.ndindex(3, 3):
                expected = 1000 * fusion.model.confusions[m, reported, true]
                assert row.matrix[true][reported] == pytest.approx(expected, abs=0.5)
        assert any(row.remarks for row in rows)

    def test_an_annotator_leans_to_what_it_reports_too_often(self) -> None:
        fusion = crowd()
        bias = fusion.diagnostics.annotators.bias
        for row in contents(fusion).annotators.rows:
            m = fusion.responses.annotators.tolist().index(row.name)
            if bias[m].max() >= 0.05:
                assert row.leans == bias[m].argmax()
                assert row.lean == pytest.approx(bias[m].max(), abs=5e-5)
            else:
                assert row.leans is None

    def test_items_come_by_doubt_with_all_their_votes(self) -> None:
        fusion = crowd()
        table, matrix = contents(fusion).items, fusion.responses.matrix()
        names = fusion.responses.items.tolist()
        assert len(table.rows) == table.total == len(names)
        assert [row.sure for row in table.rows] == sorted(row.sure for row in table.rows)
        for row in table.rows:
            n = names.index(row.name)
            first, second = sorted(fusion.posteriors[n], reverse=True)[:2]
            assert (row.sure, row.next_sure) == pytest.approx((first, second), abs=5e-5)
            assert fusion.responses.classes[row.label] == fusion.labels[n]
            assert row.needs == (first < 0.9)
            votes = Counter(label for label in matrix[n].tolist() if label >= 0)
            assert {vote.label: vote.count for vote in row.votes} == votes
            said = {
                (table.voters[voter], vote.label) for vote in row.votes for voter in vote.voters
            }
            by_hand = zip(fusion.responses.annotators, matrix[n].tolist(), strict=True)
            assert said == {(who, label) for who, label in by_hand if label >= 0}
            assert row.outvoted == (votes[row.label] < max(votes.values(), default=0))
        assert table.needs == sum(row.needs for row in table.rows)
        assert table.outvoted == sum(row.outvoted for row in table.rows)
        assert sum(table.counts) == len(names)

    def test_pairs_are_those_that_stand_out(self) -> None:
        fusion = crowd()
        found, together = fusion.diagnostics.dependence, contents(fusion).together
        names = fusion.responses.annotators
        expected = {
            frozenset(names[pair]): excess
            for pair, excess in zip(found.pairs, found.excess, strict=True)
        }
        assert together.standing_out == len(expected) > 0
        for pair in together.listed:
            assert pair.excess == pytest.approx(
                expected[frozenset((pair.one, pair.other))], abs=1e-4
            )
        framed = {frozenset((cell.one, cell.other)) for cell in together.cells if cell.stands_out}
        assert framed <= set(expected)
        assert {frozenset((pair.one, pair.other)) for pair in together.listed} <= framed
        assert len(together.names) == len(set(together.names)) == 30
        assert {"worker 00", "worker 01", "worker 02"} <= set(together.names[:4])

    def test_shares_agreement_history_and_words(self) -> None:
        fusion = crowd()
        found = contents(fusion, notes=["read as long"])
        labels, answers = Counter(fusion.labels), Counter(fusion.responses.by_item.labels.tolist())
        for k, one in enumerate(found.shares):
            assert one.labels == labels[one.name]
            assert one.answers == pytest.approx(answers[k] / fusion.responses.n_responses, abs=5e-5)
            assert one.share == pytest.approx(fusion.model.prior[k], abs=5e-5)
        assert found.agreement is not None
        assert found.agreement.krippendorff == krippendorff_alpha(fusion.responses)
        assert found.agreement.fleiss == fleiss_kappa(fusion.responses)
        assert [value for _, value in found.history] == fusion.history.tolist()
        assert found.notes[0] == "read as long"
        texts = "\n".join(part.text for part in found.said)
        assert texts == fusion.diagnostics.summary()
        error = 1 - fusion.posteriors.max(axis=1).mean()
        assert found.figures[0].value == f"{100 * error:.1f}\u00a0%"

    def test_warnings_are_what_speaks_against_the_labels(self) -> None:
        fusion = renamed(crowd(), "LatentSubtypes")
        bad = replace(fusion.diagnostics.fit, misfit=7.0)
        misfitting = replace(fusion)
        vars(misfitting)["diagnostics"] = replace(fusion.diagnostics, fit=bad)
        assert any("does not fit" in words for words in contents(misfitting).warnings)
        voted = renamed(fusion, "MajorityVote")
        assert any("majority vote" in words for words in contents(voted).warnings)
        copied = [words for words in contents(fusion).warnings if "err together" in words]
        assert len(copied) == 1
        assert "'worker 00', 'worker 01', 'worker 02'" in copied[0]
        counted = renamed(fusion, MERGED_GROUPS)
        assert not any("err together" in words for words in contents(counted).warnings)
        good = fuse(simulate(2000, 8, 3, np.random.default_rng(0), skill=0.4).responses)
        assert contents(good).warnings == ()
        assert "Nothing that was measured speaks against this model" in report_html(good)

    def test_long_histories_are_thinned_from_first_to_last(self) -> None:
        fusion = crowd()
        choice = replace(fusion.choice, history=np.linspace(-5000.0, -1.0, 5000))
        fusion = replace(fusion, choice=choice)
        history = contents(fusion).history
        assert len(history) <= 400
        assert (history[0], history[-1]) == ((1, -5000.0), (5000, -1.0))

    @pytest.mark.parametrize("seed", range(3))
    def test_gold_by_hand(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        drawn = simulate(500, 5, 3, rng, missing=0.2)
        posteriors = drawn.model.posteriors(drawn.responses)
        chosen = rng.choice(500, 80, replace=False)
        known = dict(zip(chosen.tolist(), drawn.truth[chosen].tolist(), strict=True))
        found = check_on_gold(described(drawn.responses, posteriors, drawn.model), known)
        wrong = np.sum(posteriors[chosen].argmax(axis=1) != drawn.truth[chosen])
        interval = binomtest(int(wrong), 80).proportion_ci(method="wilson")
        assert (found.error.value, found.error.low, found.error.high) == pytest.approx(
            (wrong / 80, interval.low, interval.high)
        )
        lost = 0.0
        for item, true in zip(chosen, drawn.truth[chosen], strict=True):
            votes = Counter(drawn.responses.matrix()[item].tolist())
            del votes[-1]
            best = [label for label, count in votes.items() if count == max(votes.values())]
            lost += 1 - (true in best) / len(best) if best else 1 - 1 / 3
        assert found.vote.value == pytest.approx(lost / 80)
        assert found.expected == pytest.approx(np.mean(1 - posteriors[chosen].max(axis=1)))
        assert sum(one.items for one in found.bins) == 80
        right = sum(one.items * one.right.value for one in found.bins)
        assert right == pytest.approx(80 - wrong)

    def test_no_gold_is_refused(self) -> None:
        with pytest.raises(BadLabels, match="at least one"):
            check_on_gold(crowd(), {})


class TestNames:
    def test_what_cannot_be_seen_is_made_visible(self) -> None:
        assert shown("a\nb\x00\x7f\x9f\ud800\u2028c") == "a␊b␀␡��␤c"
        assert shown("") == shown(" \t") == "(empty)"
        assert shown("x" * 200) == "x" * 119 + "…"
        assert shown(np.int64(7)) == "7"

    def test_names_that_look_alike_are_numbered(self) -> None:
        assert distinct(["a", "b", "a", "\x00", "␀"]) == ["a", "b", "a (2)", "␀", "␀ (2)"]

    @pytest.mark.parametrize("name", HOSTILE)
    def test_json_cannot_end_its_element(self, name: str) -> None:
        text = as_json({name: [name]})
        assert not set("<>&") & set(text)
        assert json.loads(text) == {name: [name]}

    def test_fitting_counts_bytes(self) -> None:
        rows = ["é" * 10] * 10
        assert fitting(rows, 23 * 4) == 4
        assert fitting(rows, 23 * 4 - 1) == 3
        assert fitting(rows, 10**6) == 10


class Elements(HTMLParser):
    """Which elements and attributes a page has, and the text outside scripts and styles."""

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


class TestPage:
    def test_hostile_names_stay_text(self) -> None:
        page = report_html(hostile(), title=HOSTILE[0], notes=HOSTILE)
        elements, plain = Elements(page), Elements(report_html(crowd()))
        assert elements.tags["script"] == plain.tags["script"] == 3
        assert elements.tags["img"] == elements.tags["svg"] == 0
        assert not {"onerror", "onload"} & set(elements.attributes)
        assert "49{% raw %}" not in page
        assert shown(HOSTILE[0]) in unescape(page)
        names = {row["name"] for row in embedded(page)["annotators"]}
        assert names == {shown(name) for name in HOSTILE}

    def test_names_are_data_of_pictures_and_nothing_else(self) -> None:
        """Neither expression nor scale nor field of any picture has a word of a name in it."""
        for picture in pictures(contents(hostile())).values():
            drawn = json.loads(json.dumps(picture.spec))
            drawn.pop("description")
            for layer in [drawn, *drawn.get("layer", [])]:
                layer.get("data", {}).pop("values", None)
            assert drawn.pop("datasets")["rows"]
            assert "pwned" not in json.dumps(drawn)

    def test_the_page_needs_nothing_else(self) -> None:
        page = report_html(crowd())
        outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
        addresses = set(re.findall(r"https?://[^\s\"'<]+", outside.replace(r"\u003c", "<")))
        assert all(address.startswith("https://example.org/pictures") for address in addresses)
        assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", outside)
        assert "default-src &#39;none&#39;" in page
        assert "unsafe-eval" not in page

    def test_every_reference_has_its_one_target_and_headings_are_in_order(self) -> None:
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
        assert all(
            b <= a + 1 for a, b in zip(elements.headings, elements.headings[1:], strict=False)
        )
        assert "it &lt;failed&gt;." in page
        assert elements.tags["caption"] == elements.tags["table"]

    def test_the_same_fusion_gives_the_same_bytes(self) -> None:
        assert report_html(crowd()) == report_html(crowd())

    def test_the_callers_theme_does_not_change_it(self) -> None:
        page = report_html(crowd())
        with alt.theme.enable("dark"):
            assert report_html(crowd()) == page

    def test_the_script_is_made_where_it_cannot_be_kept(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """The folder is a file, so nothing can be kept; the bundle is the same."""
        kept = scripts.vega_script()
        (tmp_path / "file").touch()
        monkeypatch.setenv("BLINDFUSE_CACHE", str(tmp_path / "file"))
        assert scripts.vega_script() == kept
        assert "</script" not in kept

    @pytest.mark.parametrize(
        "table",
        [
            [[0, 1], [1, 1], [0, 0]],
            [[0, -1, -1], [-1, 1, -1], [-1, -1, 1]],
            [[0, 1, -1], [1, 1, -1], [0, 0, -1], [-1, -1, -1]],
        ],
        ids=["two annotators", "no overlap", "silent ones"],
    )
    def test_odd_tables_have_a_page(self, table: list[list[int]]) -> None:
        page = report_html(fuse(table))
        assert embedded(page)["annotators"]
        assert "nan" not in re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL).lower()


class TestSize:
    def test_a_hundred_thousand_items_and_a_thousand_annotators(self) -> None:
        fusion = large(100_000, 1000, 3, 8, lambda at: f"https://example.org/images/{at:08}.jpg")
        page = report_html(fusion)
        assert len(page.encode()) < MOST_BYTES
        found = embedded(page)
        assert len(found["annotators"]) == 1000
        assert len(found["items"]) == 1500
        assert "1,500 of 100,000 items" in page
        sure = np.sort(fusion.diagnostics.items.posterior)
        np.testing.assert_allclose(
            [row["sure"] for row in found["items"][:1000]], sure[:1000], atol=5e-5
        )

    def test_long_names_many_classes_and_many_answers_still_fit(self) -> None:
        """Each name takes as many bytes as it can: `<` is six in JSON."""
        fusion = large(2_000, 1000, 3, 300, lambda at: f"{at:04}{'<' * 300}")
        names = contents(fusion)
        page = report_html(fusion)
        assert len(page.encode()) < MOST_BYTES
        assert len(names.items.rows) < 1500
        assert f"{len(names.items.rows):,} of 2,000 items" in page
        assert 0 < len(names.annotators.rows) < 1000
        assert f"room for {len(names.annotators.rows)} of 1,000 annotators" in page

    def test_matrices_that_do_not_fit_are_counted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(annotators, "MATRIX_CELLS", 100)
        fusion = crowd()
        table = contents(fusion).annotators
        without = [row for row in table.rows if row.matrix is None]
        assert len(without) == table.without_matrix == 40 - 100 // 9
        assert all(row.matrix for row in table.rows if row.remarks)
        assert f"{table.without_matrix:,} with fewer labels" in report_html(fusion)

    def test_the_commonest_classes_are_shown_of_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(annotators, "MATRIX_CLASSES", 2)
        monkeypatch.setattr("blindfuse.report.contents.LISTED_CLASSES", 2)
        found, prior = contents(crowd()), crowd().model.prior
        assert set(found.annotators.matrix_classes) == set(np.argsort(prior)[1:].tolist())
        rarest = crowd().responses.classes[prior.argmin()]
        assert rarest not in [one.name for one in found.shares]
        assert "The 2 most common of 3 classes" in report_html(crowd())

    def test_the_script_is_most_of_a_small_page(self) -> None:
        page = report_html(crowd())
        assert len(page) - len(scripts.vega_script()) < 400_000


class TestWriting:
    def test_a_file_is_written_whole(self, tmp_path: Path) -> None:
        target = tmp_path / "report.html"
        target.write_text("old")
        write_report(crowd(), target, title="My crowd")
        assert target.read_text(encoding="utf-8") == report_html(crowd(), title="My crowd")
        assert os.listdir(tmp_path) == ["report.html"]

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(BadFile, match=r"no/report\.html cannot be written: No such file"):
            write_report(crowd(), tmp_path / "no" / "report.html")

    def test_a_failure_leaves_what_was_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        target = tmp_path / "report.html"
        target.write_text("old")

        def full(path: Path, target: Path) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "replace", full)
        with pytest.raises(BadFile, match="No space left"):
            write_report(crowd(), target)
        assert target.read_text() == "old"
        assert os.listdir(tmp_path) == ["report.html"]
