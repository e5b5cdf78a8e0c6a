"""The language of the project: phrases that the glossary replaces do not come back.

Scanned are string literals, docstrings and comments of the package, the report's page, and the
pages of the documentation. The glossary is in CONTRIBUTING.md.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = sorted((ROOT / "src" / "blindfuse").rglob("*.py"))
EXPERIMENTS = sorted((ROOT / "experiments").glob("*.py"))
PAGE = [
    path
    for path in sorted((ROOT / "src" / "blindfuse" / "report" / "page").glob("*"))
    if not path.name.startswith("vega")  # written by others
]
DOCS = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]

_UNITS = (
    "item|annotator|class|label|response|answer|vote|row|column|file|method|table|sweep|fold|thread"
    "|iteration|question|line|code|group|piece|partition|command|judge|classifier|pattern|code"
)
BANNED = {
    rf"\b(?:one|two|three|four|five|ten|\d[\d,]*|labels?|responses?|answers?|votes?|rows?|columns?"
    rf"|file|entry|pass|nats|costs|pseudo-counts?|module|matrix|times|each) an? (?:{_UNITS})\b": (
        "per item, per annotator, …"
    ),
    r"\banswer(?:s|ed|ing)?\b": "response, respond; label",
    r"\bbelie(?:f|fs|ves?|ved)\b": "posterior",
    r"\bsure(?:r|st|ness|ly)?\b": "confidence, confident, certain",
    r"\bcredit(?:s|ed)?\b": "pseudo-count, log prior",
    r"\bimaginary\b|\bpseudo-labels?\b": "pseudo-count",
    r"\berr(?:s|ed|ing)? together\b|\berrors?(?: on an item)? go together\b": "correlated errors",
    r"\bcontested\b": "ambiguous",
    r"\bkinds? of items?\b|\bitem kinds?\b": "subtypes",
    r"\bwho is how good\b|\bhow good (?:everybody|everyone) is\b": "annotator accuracy",
    r"\brounds\b": "iterations; sweeps for Algorithm 1",
    r"\bso many\b": "this many; maximum number of …",
    r"\bis no (?:answer|table|list|folder|file|class|label|name|number)\b": "is not a …",
    r"\bof equals\b": "ties go to …",
    r"\bin words\b": "as text",
    r"\btold\b": "given",
    r"\bpolish(?:ed|es|ing)?\b": "fitted by EM",
    r"\bin parts\b|\bpart by part\b": "in partitions",
    r"\bclass shares\b|\bshares of (?:the )?classes\b": "class prior; class proportions",
    r"\bperformers?\b": "annotator",
}
"""Patterns that are not to appear, and what to write instead."""

ALLOWED = {
    # Fields and values of the formats that are read.
    "readers": {"answer", "Answer", "answers", "performer"},
    "column_names.py": {"answer", "performer"},
    "values.py": {"answer"},
    "spellings.py": {"answer"},
    "markers.py": {"answer"},
    "formats.md": {"answer", "Answer", "answers", "performer"},
    "calibration_tables.py": {"answers"},
}
"""Words that may appear in files below a folder, or in a file, of this name."""


def python_texts(path: Path) -> Iterator[tuple[int, str]]:
    """String literals and comments with their first lines."""
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type in kinds:
            yield token.start[0], token.string


def page_texts(path: Path) -> Iterator[tuple[int, str]]:
    """Lines outside of fenced code."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def found_in(path: Path) -> list[str]:
    texts = python_texts(path) if path.suffix == ".py" else page_texts(path)
    allowed = {
        word
        for name, words in ALLOWED.items()
        if name == path.name or name in path.parent.parts
        for word in words
    }
    return [
        f"{path.relative_to(ROOT)}:{start + text[: match.start()].count(chr(10))}: "
        f"{match[0]!r}: write {better}"
        for start, text in texts
        for pattern, better in BANNED.items()
        for match in re.finditer(pattern, text, re.IGNORECASE)
        if match[0] not in allowed
    ]


@pytest.mark.parametrize(
    "path",
    [*PACKAGE, *EXPERIMENTS, *PAGE, *DOCS],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_no_phrase_that_the_glossary_replaces(path: Path) -> None:
    found = found_in(path)
    assert not found, "\n".join(found)


def test_a_phrase_is_found_where_it_is_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    module = tmp_path / "module.py"
    module.write_text('x = f"one label an item {1} answers"  # how sure\n"""Text\n\nso many"""\n')
    assert [line.split(":")[1] for line in found_in(module)] == ["1", "1", "1", "4"]
    page = tmp_path / "page.md"
    page.write_text("Annotators err together.\n\n```\nanswers\n```\nPer item.\n")
    assert len(found_in(page)) == 1
