"""What commands fuse, and what they write of the result: files, a JSON document and a summary."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import blindfuse
from blindfuse.cli.options import (
    FileOptions,
    OutputOptions,
    file_option,
    option,
    report_option,
    seed_option,
    threads_option,
)
from blindfuse.cli.outputs import FileWriter, OutputFile, table_writer
from blindfuse.errors import BadFile, BadParameter, capitalize, list_names

if TYPE_CHECKING:
    from rich.table import Table

    from blindfuse import AuditResult, Comparison, GoldCheck
    from blindfuse.cli.screen import Screen, Step
    from blindfuse.estimators.base import Estimator
    from blindfuse.readers.reading import Kind

FUSE = "fuse"
"""The value of --method for which ``blindfuse.fuse`` selects the method."""
MAX_RESPONSES_ALL_METHODS, MAX_RESPONSES_FAST_METHODS = 50_000, 1_000_000
"""Numbers of responses up to which the report compares all methods, or only the fast ones."""
FAST_METHODS = (
    *("MajorityVote", "Wawa", "DawidSkene", "OneCoin"),
    *("BayesianDawidSkene", "LatentSubtypes", "MACE"),
)


class Method(click.ParamType[str]):
    """A method name; case, spaces, hyphens, commas and underscores are ignored."""

    name = "NAME"

    def convert(self, value: Any, *_: Any) -> str:
        if value.casefold() == FUSE:
            return FUSE
        from blindfuse.estimators.registry import find_method

        return find_method(value)


KINDS: "dict[str | None, tuple[Kind, str]]" = {
    None: ("labels", FUSE),
    "numbers": ("numbers", "fuse_numbers"),
    "multi_label": ("sets", "fuse_sets"),
    "scores": ("scores", FUSE),
}
"""The ``kind`` of ``blindfuse.read`` and the function that fuses it, by option."""


@dataclass(frozen=True)
class FusionResult:
    """A fusion (:class:`blindfuse.result.Result`) with the gold labels ``{item: label}`` it used.

    ``blind`` is what ``blindfuse.fuse`` gives without the gold labels, None if another method was
    used, and ``gold_check`` the error without them. ``audit`` is what checked labels tell.
    """

    fusion: Any
    gold: Mapping[Any, Any]
    blind: Any = None
    gold_check: "GoldCheck | None" = None
    audit: "AuditResult | None" = None


@dataclass(frozen=True)
class FuseOptions:
    """The options of ``blindfuse.fuse``; ``gold`` and ``prior_model`` are paths."""

    gold: str | None = option(
        "--gold",
        kind=file_option,
        help="Gold labels, which are held fixed: a table with the columns item and label.",
    )
    no_gold: bool = option(
        "--no-gold", is_flag=True, help="Ignore gold labels in the files of responses."
    )
    method: str = option(
        "--method",
        type=Method(),
        default=FUSE,
        show_default=True,
        help="A method listed by `blindfuse methods`; fuse selects one for the data.",
    )
    ordered: bool = option("--ordered", is_flag=True, help="The classes are ordered, like grades.")
    prior_model: str | None = option(
        "--prior-model",
        kind=file_option,
        help="A saved model of the same annotators, used as a prior.",
    )
    seed: int = option(kind=seed_option)
    threads: int | None = option(kind=threads_option)
    abstentions: bool = False
    separator: str | None = None

    def fuse(
        self,
        data: "blindfuse.Read[Any]",
        screen: "Screen",
        step: "Step",
        kind: "Kind" = "labels",
        name: str = FUSE,
    ) -> FusionResult:
        """Fuse responses of this kind by the function of blindfuse with this name.

        Labels with gold labels are fused a second time without, for the error on them.
        """
        items = set(data.responses.items.tolist())
        gold = {item: label for item, label in data.gold.items() if item in items}
        if self.no_gold:
            gold = {}
        elif self.gold is not None:
            gold = read_gold_for(data, self.gold, screen, kind, self.separator)
        function = getattr(blindfuse, name)
        accepted = signature(function).parameters
        given = {name: value for name, value in self.arguments().items() if value}
        taken = {name: value for name, value in given.items() if name in accepted}
        step("fusing the responses")
        fusion = function(data.responses, gold=gold, **taken)
        if name != FUSE:
            return FusionResult(fusion, gold)
        if gold:
            step("fusing without the gold labels to measure the error on them")
        return self.check(fusion, gold, function(data.responses, **taken) if gold else fusion)

    def check(self, fusion: Any, gold: Mapping[Any, Any], blind: Any) -> FusionResult:
        """Return the fusion with the error of ``blind`` on gold labels that it was not given."""
        check = blindfuse.check_on_gold(blind, gold) if gold else None
        return FusionResult(fusion, gold, blind if self.method == FUSE else None, check)

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of ``blindfuse.fuse``, but for the gold labels."""
        prior_model = None if self.prior_model is None else load_text_model(self.prior_model)
        return {
            "ordered": self.ordered,
            "abstentions": self.abstentions,
            "prior_model": prior_model,
            "method": self._estimator(prior_model),
            "seed": self.seed,
            "threads": self.threads,
        }

    def _estimator(self, prior_model: "blindfuse.Model | None") -> "Estimator | None":
        """Return the method of --method with its parameters; None for the rule of fuse."""
        if self.method == FUSE:
            return None
        from blindfuse.estimators.registry import METHODS

        method = METHODS[self.method]()
        options = {"seed": self.seed, "ordered": self.ordered, "prior_model": prior_model}
        given = {name: value for name, value in options.items() if value}
        accepted = method.get_params()
        for name in ("ordered", "prior_model"):
            if name in given and name not in accepted:
                raise BadParameter(
                    f"{self.method} does not use {name}=. Leave one of the two options out."
                )
        return method.set_params(**{name: given[name] for name in given if name in accepted})


def load_text_model(path: str) -> "blindfuse.Model":
    """Load a model and convert its names to text, because names read from files are text."""
    return blindfuse.Model.load(path).with_text_names()


def read_gold_for(
    data: "blindfuse.Read[Any]",
    path: str,
    screen: "Screen",
    kind: "Kind" = "labels",
    separator: str | None = None,
) -> dict[str, Any]:
    """Read gold labels from a file; items without responses are left out, with a note."""
    from blindfuse.readers.gold import read_gold

    classes = None if kind == "numbers" else data.responses.classes
    gold = read_gold(path, kind=kind, classes=classes, separator=separator)
    return with_responses(gold, set(data.responses.items.tolist()), path, screen)


def with_responses(
    labels: dict[str, Any], items: set[str], path: str, screen: "Screen"
) -> dict[str, Any]:
    """Return the labels of the items that have responses; a note names the others."""
    unknown = [item for item in labels if item not in items]
    if len(unknown) == len(labels):
        raise BadFile(
            f"No item in {path} has responses: {path} names {list_names(unknown, 3)}. Use the same "
            "names as in the responses."
        )
    if unknown:
        screen.note(f"items in {path} that have no responses were skipped: {list_names(unknown)}")
    return {item: label for item, label in labels.items() if item in items}


@dataclass(frozen=True)
class ResultFiles:
    """The files that a result is written to besides the table of -o."""

    report: Path | None = option(kind=report_option)
    annotators: Path | None = option(
        "--annotators",
        "--runs",
        type=OutputFile(),
        help="Write one row per annotator, or per run of clusterings, in a format of -o.",
    )

    def writers(
        self,
        fused: FusionResult,
        output: OutputOptions,
        title: str,
        notes: Sequence[str],
        step: "Step",
    ) -> dict[Path, FileWriter]:
        """Return what writes the annotators and the report, where asked for."""
        writers: dict[Path, FileWriter] = {}
        if self.annotators is not None:
            columns = fused.fusion.annotator_columns()
            writers[self.annotators] = table_writer([columns], self.annotators, output.spreadsheet)
        if self.report is not None:
            step("writing the report")
            writers[self.report] = report_writer(title, notes, fused)
        return writers


@dataclass(frozen=True)
class FusedFiles(ResultFiles):
    """As :class:`ResultFiles`, with a model."""

    model: Path | None = option(
        "--model",
        type=OutputFile(("npz",)),
        help="Save the model for `blindfuse predict`: .npz.",
    )

    def writers(self, fused: FusionResult, *options: Any) -> dict[Path, FileWriter]:
        """Return what writes the model, the annotators and the report, where asked for."""
        models = {} if self.model is None else {self.model: fused.fusion.save}
        return models | super().writers(fused, *options)


def fuse_files(
    inputs: FileOptions,
    output: OutputOptions,
    files: ResultFiles,
    fuse: "Callable[[blindfuse.Read[Any], Step], Any]",
    **reading: Any,
) -> FusionResult:
    """Read the files, fuse their responses, write and print the result, and return it.

    ``fuse`` returns a result, or a :class:`FusionResult` with gold labels. Other options are those
    of :meth:`FileOptions.read`.
    """
    with output.screen.progress() as step:
        data = inputs.read(output.screen, step, **reading)
        step("fusing the responses")
        fusion = fuse(data, step)
        fused = fusion if isinstance(fusion, FusionResult) else FusionResult(fusion, {})
        writers = files.writers(fused, output, inputs.title, data.notes, step)
    output.write(
        fused.fusion.item_columns(),
        text=lambda: [summary_table(fused)],
        document=lambda: _json_document(fused, data.notes),
        other_files=writers,
        kind=fused.fusion.kind,
    )
    return fused


def summary_table(fused: FusionResult) -> "Table":
    """Return what was fused and how, the error on gold labels, and what matters besides."""
    from blindfuse.cli.screen import paragraph_table

    result, check = fused.fusion, fused.gold_check
    rows = [("Fused", result.size), ("Method", f"{capitalize(result.method)}. {result.why}")]
    if check is not None:
        rows.append(("Gold labels", check.summary()))
    facts = [each for each in result.paragraphs() if each.warning or not each.detail]
    leads = [(each.heading, each.text) for each in facts if each.lead]
    others = ((each.heading, each.text) for each in facts if not each.lead)
    return paragraph_table([*leads, *rows, *others])


def _json_document(fused: FusionResult, notes: Sequence[str]) -> dict[str, Any]:
    """The whole result as one JSON object, with the notes of reading and the error on gold."""
    document: dict[str, Any] = fused.fusion.to_json()
    document["notes"] = list(dict.fromkeys([*notes, *document["notes"]]))
    check = fused.gold_check
    if check is not None:
        document["gold"] = {
            "items": check.items,
            "error": check.error.value,
            "vote_error": check.vote_error.value,
            "calibration_error": check.calibration_error,
        }
    return document


def report_writer(title: str, notes: Sequence[str], fused: FusionResult) -> FileWriter:
    """Return a function that writes the report of a result, for labels with other methods."""
    page = blindfuse.report_html(
        fused.fusion,
        title=title,
        notes=notes,
        compared=_compare(fused),
        gold=fused.gold_check,
        audit=fused.audit,
    )
    return lambda path: path.write_text(page, encoding="utf-8")


def _compare(fused: FusionResult) -> "list[Comparison]":
    """Compare the methods for labels that are fast enough for this number of responses."""
    from blindfuse.estimators.registry import METHODS

    if not isinstance(fused.fusion, blindfuse.Fusion):
        return []
    responses = fused.fusion.responses
    if responses.n_responses > MAX_RESPONSES_FAST_METHODS:
        return []
    compare_all = responses.n_responses <= MAX_RESPONSES_ALL_METHODS
    methods = {name: METHODS[name] for name in (METHODS if compare_all else FAST_METHODS)}
    return blindfuse.compare(responses, fused.gold, methods, fused=fused.blind)
