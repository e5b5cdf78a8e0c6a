"""Convert the package's docstrings to Markdown for the API pages.

Underlined headings become bold, and Parameters and Attributes become definition lists; types and
defaults are in the signature. Sphinx roles become code, with a link if the name is public. Examples
become code blocks.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import griffe

import blindfuse
from blindfuse.estimators.registry import ESTIMATOR_MODULES

_SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n", re.MULTILINE)
_HEADING = re.compile(r"^(\w+)\n-+$", re.MULTILINE)
_ROLE = re.compile(r":\w+:`~?([\w.]+)`")
_EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"``.*?``|[A-Za-z_]\w*")


class MarkdownDocstrings(griffe.Extension):
    """Converts every docstring when it is loaded, and adds the methods that the registry lists."""

    def on_package(self, *, pkg: Any, **_: Any) -> None:
        if pkg.path == blindfuse.__name__:
            for name, module in ESTIMATOR_MODULES.items():
                pkg.set_member(name, griffe.Alias(name, f"{pkg.path}.{module}.{name}"))

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)
            obj.docstring.parser = None


def to_markdown(docstring: str) -> str:
    """Return the docstring with Markdown definition lists, links and code blocks."""
    introduction, *sections = _SECTION.split(docstring)
    blocks = [introduction]
    for heading, body in zip(sections[::2], sections[1::2], strict=True):
        entries, rest = _split_at_heading(body)
        blocks += [f"**{heading}**\n\n", *_definitions(entries), rest]
    text = _HEADING.sub(r"**\1**\n", "".join(blocks))
    return _ROLE.sub(_link, _EXAMPLE.sub(r"```pycon\n\g<0>\n```", text))


def _split_at_heading(body: str) -> tuple[str, str]:
    heading = _HEADING.search(body)
    return (body, "") if heading is None else (body[: heading.start()], body[heading.start() :])


def _definitions(body: str) -> Iterator[str]:
    """Yield names and their descriptions as a Markdown definition list."""
    lines = [line for line in body.splitlines() if line]
    for indented, group in groupby(lines, key=lambda line: line.startswith(" ")):
        if indented:
            yield ":   " + "\n    ".join(line.strip() for line in group) + "\n\n"
        else:
            yield "\n".join(_NAME.sub(_as_code, line) for line in group) + "\n"


def _as_code(name: re.Match[str]) -> str:
    return f"`{name[0].strip('`')}`"


def _link(role: re.Match[str]) -> str:
    name = role[1].removeprefix("blindfuse.")
    return f"[`{name}`][blindfuse.{name}]" if name in blindfuse.__all__ else f"`{role[1]}`"
