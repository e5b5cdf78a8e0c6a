"""Results of evaluation tools: files that the tools wrote, and what those leave out or repeat.

The files in ``written`` were made without a network: by promptfoo 0.121 with the provider ``echo``,
by lm-evaluation-harness 0.4.13 with the model ``dummy``, by Inspect 0.3.285 with a solver that says
what it is told, and by ``save_to_disk`` of Hugging Face's datasets 5.2. Langfuse's are by its API.
"""

import io
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from blindfuse import BadFile, BadParameter, Read, read
from tests.support.reader_files import Cells, assert_refused, labels_by_name, stream

WRITTEN = Path(__file__).parent / "written"
PROMPTFOO = WRITTEN / "promptfoo.json"
LM_EVAL = WRITTEN / "lm_eval"
INSPECT = WRITTEN / "inspect"

GRADERS = {
    "contains": ["pass", "pass", "fail", "fail"],
    "has xyz": ["fail", "fail"],
    "long": ["fail", "pass", "pass", "pass"],
}
"""What each assertion said about both prompts of the first test, and then of the second one."""
VERDICTS: Cells = {
    (f"test {n // 2}, prompt {n % 2}", grader): label
    for grader, labels in GRADERS.items()
    for n, label in enumerate(labels)
}
SCORED: Cells = {
    **{(item, "includes"): "correct" for item in ("word", "more")},
    ("word", "match"): "incorrect",
    ("more", "match"): "correct",
}
ANSWERED: Cells = {
    (item, f"mockllm/m{n}"): answer
    for item in ("word", "more")
    for n, answer in enumerate(["a word and more", "word", "more"])
}
CHOSEN: Cells = {
    (str(n), model): choice for model in ("first", "second") for n, choice in enumerate("011111")
}
VALID: Cells = {(str(n), model): "lol" for n in range(6) for model in ("first", "second")}
DATASET: Cells = {("q1", "a"): "0", ("q1", "b"): "1", ("q2", "a"): "1", ("q2", "b"): "1"}
TARGETS = {str(n): str(n % 2) for n in range(6)}
ANSWERS = {"word": "word", "more": "more"}

FILES: dict[str, tuple[str, Cells, dict[str, str], dict[str, str]]] = {
    "promptfoo.json": ("promptfoo", VERDICTS, {}, {}),
    "promptfoo.jsonl": ("promptfoo", VERDICTS, {}, {}),
    "inspect/scorers.json": ("inspect", SCORED, {}, {}),
    "inspect/scorers.eval": ("inspect", SCORED, {}, {}),
    "inspect/model*.json": ("inspect", ANSWERED, ANSWERS, {}),
    "lm_eval/*/samples_animal_*.jsonl": ("lm-eval", CHOSEN, TARGETS, {}),
    "lm_eval/*/samples_gen_*.jsonl": ("lm-eval", VALID, {}, {"question": "flexible"}),
    "lm_eval/*/*.jsonl": ("lm-eval", CHOSEN, TARGETS, {"question": "animal"}),
    "datasets/train": ("long", DATASET, {}, {}),
}
"""Format, responses, gold labels and options, by name in ``written``."""


@pytest.mark.parametrize("name", FILES)
def test_what_a_tool_wrote_is_read(name: str) -> None:
    if name.endswith(".eval"):
        pytest.importorskip("inspect_ai")
    expected_format, cells, gold, options = FILES[name]
    result: Read[Any] = read(str(WRITTEN / name), **options)  # type: ignore[call-overload]
    assert result.format == expected_format
    assert labels_by_name(result.responses) == cells
    assert result.gold == gold


def test_scores_and_metrics_are_read_by_their_names() -> None:
    scores = read(PROMPTFOO, label="score", kind="numbers").responses
    assert sorted(set(scores.values)) == [0.0, 0.5, 1.0]
    models = sorted(INSPECT.glob("model*.json"))
    verdicts = labels_by_name(read(models, label="value").responses)
    assert verdicts["word", "mockllm/m0"] == "correct"
    assert verdicts["more", "mockllm/m1"] == "incorrect"
    samples = str(LM_EVAL / "*" / "samples_animal_*")
    metric = read(samples, label="acc")
    assert set(labels_by_name(metric.responses).values()) == {"0", "1"}
    assert not metric.gold
    assert read(samples, item="doc_hash").responses.n_items == 6


def test_what_a_tool_does_not_write_is_refused_by_name() -> None:
    assert_refused(lambda: read(PROMPTFOO, label="scor"), "no 'scor'", "did you mean 'score'")
    assert_refused(lambda: read(PROMPTFOO, item="vars"), "item=", kind=BadParameter)
    assert_refused(lambda: read(INSPECT / "scorers.json", annotator="model"), kind=BadParameter)
    names = "'animal', 'gen, flexible'"
    assert_refused(lambda: read(str(LM_EVAL / "*/*.jsonl")), "several questions", names)
    twice = sorted(LM_EVAL.glob("first/*_animal_*")) * 2
    assert_refused(lambda: read(twice), "samples of the same model")


def test_a_single_log_likelihood_is_read_as_what_greedy_decoding_says(tmp_path: Path) -> None:
    for model, says in (("a", "True"), ("b", "False")):
        row = {"doc_id": 0, "resps": [[["-1.5", says]]], "filtered_resps": [["-1.5", says]]}
        (tmp_path / model).mkdir()
        (tmp_path / model / "samples.jsonl").write_text(f"{json.dumps(row)}\n")
    labels = labels_by_name(read(str(tmp_path / "*" / "*.jsonl")).responses)
    assert labels == {("0", "a"): "True", ("0", "b"): "False"}


def changed(path: Path, change: Callable[[Any], None]) -> io.BytesIO:
    """The file with a changed document."""
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    return stream(json.dumps(document))


def test_graders_of_promptfoo_are_named_by_metric_provider_or_type() -> None:
    def change(document: Any) -> None:
        results = document["results"]["results"]
        results[1]["gradingResult"] = None
        components = results[0]["gradingResult"]["componentResults"]
        components[0]["assertion"]["provider"] = "openai:gpt-5"
        components[1]["assertion"] = {"type": "llm-rubric", "provider": {"id": "claude"}}
        components[2]["assertion"] = {"type": "llm-rubric", "provider": {"id": "claude"}}

    responses = read(changed(PROMPTFOO, change)).responses
    graders = {who for item, who in labels_by_name(responses) if item == "test 0, prompt 0"}
    assert graders == {"openai:gpt-5", "claude", "claude 2"}
    assert "test 0, prompt 1" in responses.items


def test_graders_of_different_outputs_are_not_joined() -> None:
    def say(document: Any) -> None:
        document["results"]["results"][0]["response"]["output"] = "other"

    def complete(document: Any) -> None:
        document["samples"][0]["output"]["completion"] = "other"

    scorers = INSPECT / "scorers.json"
    for path, change in ((PROMPTFOO, say), (scorers, complete)):
        read([path, changed(path, lambda _: None)])
        assert_refused(lambda: read([path, changed(path, change)]), "different outputs")  # noqa: B023


def test_models_epochs_and_tasks_of_inspect_are_told_apart() -> None:
    def log(**about: Any) -> io.BytesIO:
        def change(document: Any) -> None:
            document["eval"] |= {name: about[name] for name in about if name != "epoch"}
            for sample in document["samples"]:
                sample["epoch"] = about.get("epoch", 1)

        return changed(INSPECT / "scorers.json", change)

    logs = [log(model=model, epoch=epoch) for model, epoch in product("ab", (1, 2))]
    items = set(read(logs).responses.items)
    assert items == {
        f"{item}, epoch {epoch}, {model}"
        for item, epoch, model in product(("word", "more"), (1, 2), "ab")
    }
    assert_refused(lambda: read([log(task="one"), log(task="two")]), "several questions: 'one'")
    one = read([log(task="one"), log(task="two")], question="two")
    assert labels_by_name(one.responses) == SCORED


def test_failed_samples_and_damaged_logs_of_inspect() -> None:
    def fail(document: Any) -> None:
        document["samples"][0]["scores"]["match"] = {"value": "N"}
        document["samples"][1].pop("scores")

    responses = read(changed(INSPECT / "scorers.json", fail)).responses
    assert responses.n_items == 2
    assert labels_by_name(responses) == {(responses.items[0], "includes"): "correct"}
    broken = changed(INSPECT / "scorers.json", lambda document: document["samples"][0].pop("id"))
    with pytest.raises(BadFile, match="structure of an export from Inspect"):
        read(broken)


# Langfuse

SCORES = [
    {"name": name, "value": value, "stringValue": text, "source": "EVAL", "traceId": trace}
    for trace in ("t1", "t2")
    for name, value, text in (("gpt", 1, "good"), ("claude", 0, "bad"))
]


def test_names_of_langfuse_scores_are_annotators() -> None:
    result = read(stream(json.dumps(SCORES)))
    assert result.format == "langfuse"
    assert labels_by_name(result.responses) == {
        (row["traceId"], row["name"]): row["stringValue"] for row in SCORES
    }


def test_empty_cells_in_quotes_are_no_values_of_langfuse() -> None:
    header = "name,value,stringValue,source,traceId,observationId"
    rows = [f'"{who}","{n}","","EVAL","t{n}",""' for n in range(2) for who in ("gpt", "claude")]
    responses = read(stream("\n".join([header, *rows]))).responses
    assert labels_by_name(responses) == {
        (f"t{n}", who): str(n) for n in range(2) for who in ("gpt", "claude")
    }


@pytest.mark.parametrize("names", ["traceId,authorUserId", "trace_id,author_user_id"])
def test_authors_of_langfuse_scores_are_annotators_if_there_is_one_name(names: str) -> None:
    votes = {"ann": 1, "bob": 0}
    rows = [f"help,{votes[who]},ANNOTATION,{item},{who}" for item in ("t1", "t2") for who in votes]
    text = "\n".join([f"name,value,source,{names}", *rows, "help,1,EVAL,t2,"])
    assert labels_by_name(read(stream(text)).responses) == {
        **{(item, who): str(vote) for item in ("t1", "t2") for who, vote in votes.items()},
        ("t2", "EVAL"): "1",
    }
