"""promptfoo results, as ``promptfoo eval -o results.json`` or ``.jsonl`` writes them.

Annotators are the assertions that graded each output: by their metric, their grader, or their type.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from blindfuse.readers.reader import ParsedResponses, Row, expected_structure, frame_of_rows
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
    label, rows = options.label or "pass", list[Row]()
    with expected_structure(tables[0].name, "promptfoo"):
        results = list(_results(tables))
        several_prompts = len({result["promptIdx"] for result in results}) > 1
        for result in results:
            test, prompt = result["testIdx"], result["promptIdx"]
            item = f"test {test}, prompt {prompt}" if several_prompts else f"test {test}"
            rows.append((None, item, None, None))  # an output that could not be graded is an item
            components = (result.get("gradingResult") or {}).get("componentResults") or []
            names = Counter[str]()
            for component in components:
                name = _grader(component.get("assertion") or {})
                names[name] += 1
                numbered = name if names[name] == 1 else f"{name} {names[name]}"
                rows.append((None, item, numbered, _verdict(component[label])))
    frame = frame_of_rows(rows).drop("question")
    columns = {"item": "testIdx", "annotator": "assertion", "label": label}
    return ParsedResponses(frame, columns)


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
