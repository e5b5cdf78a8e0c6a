"""The documents: every command and snippet in them runs, and they leave nothing out."""

import doctest
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import blindfuse
from blindfuse.estimators.registry import METHODS
from blindfuse.readers.reading import FORMATS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in DOCS.rglob("*.md"))]
LANGUAGES = {"python", "pycon", "console", "text"}
LIKE_SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Every fenced block with its language."""
    return re.findall(r"^```(\S*)\n(.*?)^```$", text_of(page), re.MULTILINE | re.DOTALL)


def with_blocks() -> list[str]:
    return [page for page in PAGES if blocks_of(page)]


def commands_of(block: str) -> Iterator[tuple[str, str]]:
    """Each command after ``$``, and what is shown under it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, shown = re.fullmatch(r"(.*?[^\\]\n)(.*)", part, re.DOTALL).groups()  # type: ignore[union-attr]
        yield command.strip(), shown.replace("…", "...")


def run_command(block: str) -> None:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
    }
    for command, shown in commands_of(block):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            capture_output=True,
            text=True,
            env=environment,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        if shown:
            alike = doctest.OutputChecker().check_output(shown, done.stdout, LIKE_SHOWN)
            assert alike, f"{command}\nshown:\n{shown}\ncame:\n{done.stdout}"


def run_examples(block: str, names: dict[str, Any], page: str) -> None:
    test = doctest.DocTestParser().get_doctest(block, names, page, page, 0)
    test.globs = names  # the parser takes a copy
    runner = doctest.DebugRunner(optionflags=LIKE_SHOWN)
    runner.run(test, clear_globs=False)


@pytest.mark.parametrize("page", with_blocks())
def test_every_command_and_snippet_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of the page, in a folder of its own; the Python of a page shares its names."""
    if page == "docs/scale.md":
        pytest.skip("make test-engines runs it, with Dask and Spark")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": page}
    for language, block in blocks_of(page):
        assert language in LANGUAGES
        if language == "python":
            exec(compile(block, page, "exec"), names)
        elif language == "pycon":
            run_examples(block, names, page)
        elif language == "console":
            run_command(block)


def test_what_is_shown_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_command("$ echo one \\\n    two\none …\n$ true\n")
    with pytest.raises(AssertionError, match="shown"):
        run_command("$ echo one\ntwo\n")
    with pytest.raises(AssertionError, match="missing"):
        run_command("$ ls missing\n")
    names: dict[str, Any] = {"a": 1}
    run_examples(">>> b = a + 1\n>>> b\n2\n", names, "page")
    assert names["b"] == 2
    with pytest.raises(doctest.DocTestFailure):
        run_examples(">>> b\n3\n", names, "page")


def test_every_method_is_in_the_table_of_methods() -> None:
    listed = re.findall(r"^\| `(.+?)` \|", text_of("docs/choosing.md"), re.MULTILINE)
    assert listed == list(METHODS)


def test_every_format_is_described() -> None:
    described = re.findall(r"^### (\S+)$", text_of("docs/formats.md"), re.MULTILINE)
    assert described == list(FORMATS)


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
