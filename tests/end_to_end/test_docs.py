"""The documents: every command and snippet in them runs, and they leave nothing out."""

import doctest
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import blindfuse
from blindfuse.estimators.registry import METHODS
from blindfuse.readers.reading import READERS
from doc_examples import LANGUAGES, blocks, refreshed, run_page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in DOCS.rglob("*.md"))]
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


def test_extras_and_targets_that_pages_name_exist() -> None:
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    makefile = text_of("Makefile")
    for page in (*PAGES, "CONTRIBUTING.md", "ARCHITECTURE.md"):
        for extra in re.findall(r"pip install .*?\.\[(\w+)\]", text_of(page)):
            assert extra in project["optional-dependencies"], f"{page}: {extra}"
        for target in re.findall(r"(?:`|^ {4})make ([\w./-]+)", text_of(page), re.MULTILINE):
            line = rf"^{re.escape(target)}:"
            assert re.search(line, makefile, re.MULTILINE), f"{page}: make {target}"


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
