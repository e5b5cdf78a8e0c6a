"""The documents: every command and snippet in them runs, and they leave nothing out."""

import doctest
import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest

import blindfuse
from blindfuse.estimators.registry import METHODS
from blindfuse.readers.reading import READERS
from doc_examples import LANGUAGES, blocks, refreshed, run_page
from installed_sizes import EXTRAS, PURPOSES
from overview import PICTURE, picture
from tests.support.cli import succeed

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "src" / "blindfuse"
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in DOCS.rglob("*.md"))]
AROUND = [path.name for path in sorted(ROOT.glob("*.md"))]
"""Pages that are not in the site."""
ENGINES = "docs/scale.md"
"""The page whose examples need Dask and Spark: make test-engines runs it."""


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_fenced_block_has_a_known_language(page: str) -> None:
    assert {block[1] for block in blocks(text_of(page))} <= LANGUAGES


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(text_of(page))])
def test_every_example_prints_what_the_page_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page == ENGINES:
        pytest.skip("make test-engines runs it, with Dask and Spark")
    monkeypatch.chdir(tmp_path)
    shows_all = page == "README.md" or "tutorials" in page
    for output in run_page(text_of(page), page):
        assert output.matches, (
            f"{output.example}\nshown:\n{output.shown}\nprinted:\n{output.printed}"
        )
        assert output.is_shown or not shows_all, f"not shown:\n{output.printed}"


def test_output_that_differs_is_found_and_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = "```console\n$ echo one \\\n    two\none …\n$ echo three\nfour\n$ true\n```\n"
    found = list(run_page(page, "page"))
    assert [one.matches for one in found] == [True, False, True]
    assert refreshed(page, "page") == page.replace("four", "three")
    with pytest.raises(AssertionError, match="missing"):
        list(run_page("```console\n$ ls missing\n```\n", "page"))
    page = "```python\na = 1\nprint(a)\n```\n\n```text\n2\n```\n"
    assert refreshed(page, "page") == page.replace("2", "1")
    with pytest.raises(doctest.DocTestFailure):
        list(run_page("```pycon\n>>> 1 + 1\n3\n```\n", "page"))


def test_every_method_is_in_the_table_of_methods() -> None:
    listed = re.findall(r"^\| `(.+?)` \|", text_of("docs/choosing.md"), re.MULTILINE)
    assert listed == list(METHODS)


def test_every_format_is_described() -> None:
    described = re.findall(r"^### (\S+)$", text_of("docs/formats.md"), re.MULTILINE)
    assert described == list(READERS)


def test_every_public_name_is_in_the_api() -> None:
    named = re.findall(r"^::: blindfuse\.(\w+)$", text_of("docs/api.md"), re.MULTILINE)
    modules = {"metrics", "datasets"}
    assert sorted(set(named) - modules) == sorted(blindfuse.__all__)
    assert len(named) == len(set(named))


def test_every_public_name_has_an_example() -> None:
    """In its docstring, below it on the page, or in the one in which all methods are listed."""
    page = text_of("docs/api.md")
    shown = set(re.findall(r"^::: blindfuse\.(\w+)\n\n```pycon\n>>>", page, re.MULTILINE))
    shown |= set(re.findall(r"^\.\.\.     blindfuse\.(\w+)\(", page, re.MULTILINE))
    bare = [
        name
        for name in blindfuse.__all__
        if name not in shown and ">>> " not in (getattr(blindfuse, name).__doc__ or "")
    ]
    assert not bare


@pytest.mark.parametrize("name", blindfuse.__all__)
def test_the_example_of_a_docstring_prints_what_it_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    thing = getattr(blindfuse, name)
    for test in doctest.DocTestFinder(exclude_empty=True).find(thing, name, globs={}):
        doctest.DebugRunner(optionflags=doctest.ELLIPSIS).run(test)


def test_extras_and_targets_that_pages_name_exist() -> None:
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    makefile = text_of("Makefile")
    workflows = [f".github/workflows/{path.name}" for path in ROOT.glob(".github/workflows/*")]
    for page in (*PAGES, *AROUND, *workflows):
        for extra in re.findall(r"pip install .*?(?:\.|blindfuse)\[(\w+)\]", text_of(page)):
            assert extra in project["optional-dependencies"], f"{page}: {extra}"
        for target in re.findall(r"(?:`|^ {4}|run: )make ([\w./-]+)", text_of(page), re.MULTILINE):
            line = rf"^{re.escape(target)}:"
            assert re.search(line, makefile, re.MULTILINE), f"{page}: make {target}"


def test_the_picture_shows_what_the_demo_gives() -> None:
    assert PICTURE.read_text(encoding="utf-8") == picture()


def test_every_dependency_is_described() -> None:
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    names = {re.split(r"[^\w.-]", line)[0] for line in project["dependencies"]}
    assert names == set(PURPOSES)
    internal = {"browser", "dev", "docs", "experiments"}
    assert set(project["optional-dependencies"]) - internal == set(EXTRAS)
    page = text_of("docs/install.md")
    assert (
        set(re.findall(r"^\| (\w+) \|", page, re.MULTILINE)) - {"package", "extra", "variable"}
        == names
    )
    assert set(re.findall(r"^\| `blindfuse\[(\w+)\]`", page, re.MULTILINE)) == set(EXTRAS)


@pytest.mark.parametrize("page", AROUND)
def test_links_and_paths_that_a_page_around_the_site_names_exist(page: str) -> None:
    text = text_of(page)
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (ROOT / link).exists(), link
    if page in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        made = {"bench/", "site/"}
        for path in set(re.findall(r"`([a-z0-9_/.]+/[a-z0-9_.]*)`", text)) - made:
            assert any((ROOT / top / path).exists() for top in (".", "src/blindfuse")), path


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_functions_are_in_the_modules_that_a_page_names(page: str) -> None:
    pairs = re.findall(r"`([a-z_/]+\.py)`(?:,| \() ?`(\w+)`", text_of(page))
    assert len(pairs) >= 2
    for path, name in pairs:
        module = text_of(f"src/blindfuse/{path}")
        assert re.search(rf"^ *(?:def|class) {name}\b|^{name}\b", module, re.MULTILINE), (
            path,
            name,
        )


def test_a_row_passes_the_modules_that_a_newcomer_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    succeed("simulate", "-o", "votes.csv", "--items", 50)
    called = set[tuple[str, str]]()

    def record(frame: Any, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            name = frame.f_code.co_qualname.split(".")[0]
            called.update({(path.relative_to(PACKAGE).as_posix(), each) for each in (name, "")})

    sys.setprofile(record)
    try:
        succeed("fuse", "votes.csv", "-o", "fused.csv")
    finally:
        sys.setprofile(None)
    row = r"^\| \d+ \| `([\w/]+\.py)`(?:, `(\w+)`)?"
    shown = re.findall(row, text_of("CONTRIBUTING.md"), re.MULTILINE)
    assert 10 <= len(shown) <= 15
    assert set(shown) <= called


class Anchors(HTMLParser):
    """The links of a page, and the ids that others may link to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links, self.ids = list[str](), set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        values = dict(attrs)
        self.ids.add(values.get("id") or "")
        self.links += [values[key] for key in ("href", "src") if values.get(key)]


def dead_links(site: Path) -> list[str]:
    pages = {page: Anchors(page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}
    dead = []
    for page, anchors in pages.items():
        for link in anchors.links:
            path, place = map(unquote, urldefrag(link))
            if re.match(r"[a-z]+:|//|/", link) or page.name == "404.html":
                continue
            target = (page.parent / path).resolve() if path else page
            target = target / "index.html" if target.is_dir() else target
            known = pages[target].ids if target in pages else {place}
            if not target.exists() or place not in {*known, ""}:
                dead.append(f"{page.relative_to(site)}: {link}")
    return dead


def test_the_site_is_built_without_a_warning_and_asks_for_nothing_outside(tmp_path: Path) -> None:
    for name in ("docs", "src", "tools"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    build = [str(Path(sys.executable).parent / "zensical"), "build", "--strict"]
    done = subprocess.run(build, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) == len(list(DOCS.rglob("*.md"))) + 1  # and one for pages that are not there
    for page in [*pages, *(tmp_path / "site").rglob("*.css")]:
        text = page.read_text(encoding="utf-8")
        outside = re.findall(r"""(?:src|href)=["']?(?:https?:)?//|url\(["']?(?:https?:)?//""", text)
        assert not outside, page.name
    api = (tmp_path / "site" / "api.html").read_text(encoding="utf-8")
    for name in blindfuse.__all__:
        assert f'id="blindfuse.{name}"' in api, name
    assert not re.search(r":(?:class|func|meth):", api)
    assert not dead_links(tmp_path / "site")
