"""Our docstrings in Markdown, for the pages of the API.

A heading with a line of dashes becomes bold, and what stands under it a list of definitions. Types
and defaults are in the signature. What Sphinx calls a role becomes code, with a link to the public
name that it may be. Examples become blocks of code.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import griffe

import blindfuse

_SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n", re.MULTILINE)
_HEADING = re.compile(r"^(\w+)\n-+$", re.MULTILINE)
_ROLE = re.compile(r":\w+:`~?([\w.]+)`")
_EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"``.*?``|[A-Za-z_]\w*")


class InMarkdown(griffe.Extension):
    """Rewrites every docstring when it is loaded."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = in_markdown(obj.docstring.value)
            obj.docstring.parser = None


def in_markdown(docstring: str) -> str:
    """The docstring, with definitions and links in place of numpydoc's and Sphinx's."""
    before, *sections = _SECTION.split(docstring)
    parts = [before]
    for heading, body in zip(sections[::2], sections[1::2], strict=True):
        own, rest = _until_heading(body)
        parts += [f"**{heading}**\n\n", *_definitions(own), rest]
    text = _HEADING.sub(r"**\1**\n", "".join(parts))
    return _ROLE.sub(_linked, _EXAMPLE.sub(r"```pycon\n\g<0>\n```", text))


def _until_heading(body: str) -> tuple[str, str]:
    found = _HEADING.search(body)
    return (body, "") if found is None else (body[: found.start()], body[found.start() :])


def _definitions(body: str) -> Iterator[str]:
    """``name`` and what is said of it, as Markdown's definition lists have it."""
    lines = [line for line in body.splitlines() if line]
    for indented, group in groupby(lines, key=lambda line: line.startswith(" ")):
        if indented:
            yield ":   " + "\n    ".join(line.strip() for line in group) + "\n\n"
        else:
            yield "\n".join(_NAME.sub(_as_code, line) for line in group) + "\n"


def _as_code(name: re.Match[str]) -> str:
    return f"`{name[0].strip('`')}`"


def _linked(role: re.Match[str]) -> str:
    name = role[1].removeprefix("blindfuse.")
    return f"[`{name}`][blindfuse.{name}]" if name in blindfuse.__all__ else f"`{role[1]}`"
