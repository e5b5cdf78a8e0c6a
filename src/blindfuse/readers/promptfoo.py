"""promptfoo results, as ``promptfoo eval -o results.json`` or ``.jsonl`` writes them.

Annotators are the assertions that graded each output: by their metric, their grader, or their type.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from blindfuse.errors import BadFile, suggest
from blindfuse.readers.reader import (
    ParsedResponses,
    Row,
    check_output,
    expected_structure,
    frame_of_rows,
)
from blindfuse.readers.tables import Record, Table, load_records
from blindfuse.responses.detection import ColumnOptions

TITLE = "promptfoo results"

_DOCUMENT = {"evalId", "results", "config"}
_RESULT = {"promptIdx", "testIdx", "gradingResult"}


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there is a document of an evaluation, or one result per line."""
    columns = set(tables[0].columns)
    return tables[0].records is not None and (columns >= _DOCUMENT or columns >= _RESULT)


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return what every assertion said about every output: pass or fail, or its score."""
    name, label = tables[0].name, options.label or "pass"
    rows, outputs = list[Row](), dict[str, Any]()
    with expected_structure(name, "promptfoo"):
        results = list(_results(tables))
        several_prompts = len({result["promptIdx"] for result in results}) > 1
        for result in results:
            item = f"test {result['testIdx']}"
            item += f", prompt {result['promptIdx']}" if several_prompts else ""
            check_output(name, outputs, item, (result.get("response") or {}).get("output"))
            rows.append(Row(item))  # an output that could not be graded is an item
            components = (result.get("gradingResult") or {}).get("componentResults") or []
            names = Counter[str]()
            for component in components:
                if label not in component:
                    raise BadFile(
                        f"{name}: graders write no {label!r}: {suggest(label, component)}"
                    )
                grader = _grader(component.get("assertion") or {})
                names[grader] += 1
                numbered = grader if names[grader] == 1 else f"{grader} {names[grader]}"
                rows.append(Row(item, numbered, _verdict(component[label])))
    columns = {"item": "testIdx", "annotator": "assertion", "label": label}
    return ParsedResponses(frame_of_rows(rows), columns)


def _results(tables: Sequence[Table]) -> Iterator[Record]:
    """Iterate over the results in the documents, or over the lines."""
    for record in load_records(tables):
        if "gradingResult" in record or "promptIdx" in record:
            yield record
        else:
            results = record["results"]
            yield from results["results"] if isinstance(results, dict) else results


def _verdict(value: Any) -> Any:
    return ("pass" if value else "fail") if isinstance(value, bool) else value


def _grader(assertion: Record) -> str:
    """Return the metric of an assertion, or the model that grades, or else its type."""
    provider: Any = assertion.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return str(assertion.get("metric") or provider or assertion.get("type") or "assertion")
