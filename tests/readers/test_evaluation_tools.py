"""Results of evaluation tools: by their documented schema, with what they leave out or repeat."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from blindfuse import BadFile, read
from tests.support.reader_files import labels_by_name


def named(name: str, content: bytes) -> io.BytesIO:
    file = io.BytesIO(content)
    file.name = name
    return file


def as_file(document: Any, lines: bool = False) -> io.BytesIO:
    rows = [json.dumps(row) for row in document] if lines else [json.dumps(document)]
    return named("results.jsonl" if lines else "results.json", "\n".join(rows).encode())


# promptfoo


def component(passed: bool, score: float, **assertion: Any) -> dict[str, Any]:
    return {"pass": passed, "score": score, "reason": "…", "assertion": assertion}


def promptfoo_result(test: int, prompt: int, *components: dict[str, Any]) -> dict[str, Any]:
    grading = {"pass": True, "score": 1, "reason": "…", "componentResults": list(components)}
    return {
        "promptIdx": prompt,
        "testIdx": test,
        "vars": {"q": "?"},
        "provider": {"id": "echo", "label": ""},
        "response": {"output": "hello"},
        "success": True,
        "gradingResult": grading if components else None,
        "error": None if components else "API error: 500",
    }


RUBRIC = {"type": "llm-rubric", "value": "is polite"}
GRADED = [
    promptfoo_result(
        test,
        0,
        component(True, 0.9, **RUBRIC, provider="openai:gpt-5"),
        component(test > 0, 0.2, **RUBRIC, provider={"id": "anthropic:claude"}),
        component(False, 0.0, type="contains", value="x", metric="has x"),
        component(True, 1.0, type="equals", value="y"),
        component(False, 0.0, type="equals", value="z"),
    )
    for test in range(2)
]


def promptfoo_document(results: list[dict[str, Any]]) -> dict[str, Any]:
    inner = {"version": 3, "prompts": [{"raw": "{{q}}"}], "results": results, "stats": {}}
    return {"evalId": "eval-1", "results": inner, "config": {"tests": []}, "shareableUrl": None}


@pytest.mark.parametrize("lines", [False, True])
def test_assertions_of_promptfoo_are_annotators(lines: bool) -> None:
    result = read(as_file(GRADED if lines else promptfoo_document(GRADED), lines))
    assert result.format == "promptfoo"
    cells = labels_by_name(result.responses)
    assert cells["test 0", "anthropic:claude"] == "fail"
    assert cells["test 1", "anthropic:claude"] == "pass"
    assert set(result.responses.annotators) == {
        *("openai:gpt-5", "anthropic:claude", "has x", "equals", "equals 2"),
    }
    assert len(cells) == 10


def test_outputs_of_promptfoo_without_a_grade_are_items() -> None:
    results = [*GRADED, promptfoo_result(7, 0), promptfoo_result(0, 1, *[component(True, 1.0)])]
    responses = read(as_file(promptfoo_document(results))).responses
    assert "test 7, prompt 0" in responses.items
    assert "test 0, prompt 1" in responses.items
    scores = read(as_file(promptfoo_document(GRADED)), label="score", kind="numbers").responses
    assert scores.values.max() == 1.0


# lm-evaluation-harness


def lm_sample(doc: int, resps: Any, target: Any, **others: Any) -> dict[str, Any]:
    return {
        "doc_id": doc,
        "doc": {"question": "?"},
        "target": target,
        "resps": [[value] for value in resps],
        "filtered_resps": resps,
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
        **others,
    }


def write_samples(folder: Path, model: str, samples: list[dict[str, Any]]) -> Path:
    path = folder / model / "samples_arc_2026-01-01T00-00-00.jsonl"
    path.parent.mkdir()
    path.write_text("\n".join(map(json.dumps, samples)))
    return path


def test_models_of_lm_eval_are_annotators(tmp_path: Path) -> None:
    choices = {"gpt2": [[-1.0, False], [-0.5, True]], "opt": [[-0.1, True], [-3.0, False]]}
    paths = [
        write_samples(tmp_path, model, [lm_sample(n, values, 1) for n in range(2)])
        for model, values in choices.items()
    ]
    result = read(paths)
    assert result.format == "lm-eval"
    assert labels_by_name(result.responses) == {
        ("0", "gpt2"): "1",
        ("1", "gpt2"): "1",
        ("0", "opt"): "0",
        ("1", "opt"): "0",
    }
    assert result.gold == {"0": "1", "1": "1"}
    metric = read(paths, label="acc")
    assert set(labels_by_name(metric.responses).values()) == {"1"}
    assert not metric.gold


def test_texts_and_filters_of_lm_eval(tmp_path: Path) -> None:
    samples = [
        lm_sample(n, [" 42 "], "42", filter=name)
        for n in range(2)
        for name in ("strict", "flexible")
    ]
    paths = [write_samples(tmp_path, model, samples) for model in ("a", "b")]
    with pytest.raises(BadFile, match="several questions: 'strict', 'flexible'"):
        read(paths)
    result = read(paths, question="strict")
    assert set(labels_by_name(result.responses).values()) == {"42"}
    with pytest.raises(BadFile, match="samples of the same model"):
        read([paths[0], paths[0]])


# Inspect


def inspect_log(model: str, scores: list[dict[str, Any]], **sample: Any) -> dict[str, Any]:
    samples = [
        {"id": f"q{n}", "epoch": 1, "input": "?", "target": "A", "scores": score, **sample}
        for n, score in enumerate(scores)
    ]
    return {"version": 2, "status": "success", "eval": {"model": model}, "samples": samples}


def verdict(value: Any, answer: str = "A") -> dict[str, Any]:
    return {"value": value, "answer": answer, "explanation": "…"}


def test_scorers_of_inspect_are_annotators() -> None:
    scores = [{"match": verdict("C"), "judge": verdict("I")}, {"match": verdict("N")}, {}]
    result = read(as_file(inspect_log("openai/gpt-5", scores)))
    assert result.format == "inspect"
    assert labels_by_name(result.responses) == {
        ("q0", "match"): "correct",
        ("q0", "judge"): "incorrect",
    }
    assert result.responses.n_items == 3
    assert not result.gold


def test_models_of_inspect_are_annotators_if_there_is_one_scorer() -> None:
    logs = [
        as_file(inspect_log(model, [{"choice": verdict("C", answer)} for answer in answers]))
        for model, answers in {"a": "AB", "b": "AA", "c": "BA"}.items()
    ]
    result = read(logs)
    assert labels_by_name(result.responses)["q1", "a"] == "B"
    assert result.gold == {"q0": "A", "q1": "A"}
    values = read([log for log in logs if not log.seek(0)], label="value")
    assert set(labels_by_name(values.responses).values()) == {"correct"}


def test_several_models_and_scorers_of_inspect_are_items_of_their_own() -> None:
    scores = [{"match": verdict("C"), "judge": verdict("C")}]
    logs = [as_file(inspect_log(model, scores, epoch=epoch)) for model in "ab" for epoch in (1, 2)]
    assert read(logs).responses.items.tolist() == [
        f"q0, epoch {epoch}, {model}" for model in "ab" for epoch in (1, 2)
    ]


def test_a_damaged_log_of_inspect_is_refused() -> None:
    log = inspect_log("a", [{"match": verdict("C")}])
    log["samples"][0].pop("id")
    with pytest.raises(BadFile, match="structure of an export from Inspect"):
        read(as_file(log))


def test_a_log_that_inspect_wrote_is_read(tmp_path: Path) -> None:
    """Without a network: the solver answers, and no model is asked."""
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import includes, match
    from inspect_ai.solver import solver

    @solver  # type: ignore[untyped-decorator]
    def answer() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            state.output.completion = "a word and more"
            return state

        return solve

    dataset = [Sample(input="?", target=word, id=word) for word in ("word", "more")]
    task = inspect_ai.Task(dataset=dataset, solver=answer(), scorer=[includes(), match()])
    where = {"log_dir": str(tmp_path), "log_format": "eval", "display": "none"}
    inspect_ai.eval(task, model="mockllm/model", **where)
    (path,) = tmp_path.glob("*.eval")
    assert labels_by_name(read(path).responses) == {
        ("word", "includes"): "correct",
        ("word", "match"): "incorrect",
        ("more", "includes"): "correct",
        ("more", "match"): "correct",
    }


# Langfuse

SCORES = [
    {"name": name, "value": value, "stringValue": text, "source": "EVAL", "traceId": trace}
    for trace in ("t1", "t2")
    for name, value, text in (("gpt", 1, "good"), ("claude", 0, "bad"))
]


def test_names_of_langfuse_scores_are_annotators() -> None:
    result = read(as_file(SCORES))
    assert result.format == "langfuse"
    assert labels_by_name(result.responses) == {
        (trace, name): text
        for trace in ("t1", "t2")
        for name, text in (("gpt", "good"), ("claude", "bad"))
    }


@pytest.mark.parametrize("style", ["camel", "snake"])
def test_authors_of_langfuse_scores_are_annotators_if_there_is_one_name(style: str) -> None:
    trace, author = (
        ("traceId", "authorUserId") if style == "camel" else ("trace_id", "author_user_id")
    )
    rows = [
        f"help,{value},ANNOTATION,{item},{who}"
        for item in ("t1", "t2")
        for who, value in (("ann", 1), ("bob", 0))
    ]
    text = "\n".join([f"name,value,source,{trace},{author}", *rows, "help,1,EVAL,t2,"])
    result = read(named("scores.csv", text.encode()))
    assert labels_by_name(result.responses) == {
        ("t1", "ann"): "1",
        ("t1", "bob"): "0",
        ("t2", "ann"): "1",
        ("t2", "bob"): "0",
        ("t2", "EVAL"): "1",
    }
