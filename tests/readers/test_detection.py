"""Detection of the columns of item, annotator and label."""

import pytest

from blindfuse import read
from tests.support.reader_files import LONG, assert_refused, labels_by_name, stream


@pytest.mark.parametrize(
    "header",
    [
        "task,worker,answer",
        "question,performer,response",
        "id,judge,verdict",
        "unit_id,user_name,vote",
        "TaskID,WorkerId,Label",
        "Sample ID,Rater,Rating",
        "text,model,prediction",
        "Aufgabe,Bewerter,Antwort",
        "tâche,annotateur,réponse",
        "documento,juez,categoría",
    ],
)
def test_columns_are_detected_by_name(header: str) -> None:
    columns = dict(zip(("item", "annotator", "label"), header.split(","), strict=True))
    found = read(stream(f"truth,{header},time\nx,i,a,x,3\ny,i,b,y,4\ny,j,a,x,4\n"))
    assert labels_by_name(found.responses) == {("i", "a"): "x", ("i", "b"): "y", ("j", "a"): "x"}
    assert found.columns == columns
    assert all(f"{role} = {name!r}" in found.notes[0] for role, name in columns.items())
    assert "(detected)" in found.notes[0]


def test_named_columns_are_used() -> None:
    text = "item,annotator,label,a,b,c\n1,2,3,i,ann,x\n1,2,3,i,bob,y\n"
    found = read(stream(text), format="long", item="a", annotator="b", label="c")
    assert labels_by_name(found.responses) == {("i", "ann"): "x", ("i", "bob"): "y"}
    assert "detected" not in found.notes[0]


def test_ids_are_preferred_to_texts_and_classes_to_free_text() -> None:
    text = "task,task_id,worker,response,verdict\n"
    rows = [f"some text {n % 2},t{n % 2},w{n // 2},free text {n},{n % 3}\n" for n in range(12)]
    found = read(stream(text + "".join(rows)))
    assert found.columns == {"item": "task_id", "annotator": "worker", "label": "verdict"}


def test_ambiguous_columns_are_refused_with_the_candidates() -> None:
    text = "id,model,judge,verdict\ni,m,j,x\ni,m,k,x\n"
    assert_refused(lambda: read(stream(text)), "annotator", "'model', 'judge'", "annotator='model'")
    assert read(stream(text), annotator="judge").responses.n_annotators == 2
    both = "item,annotator,answer,vote\ni,a,x,y\ni,b,x,y\n"
    assert_refused(lambda: read(stream(both)), "label", "'answer', 'vote'")


def test_columns_that_do_not_exist_are_refused_with_a_suggestion() -> None:
    assert_refused(lambda: read(stream(LONG), label="lable"), "'lable'", "did you mean 'label'?")
    assert_refused(lambda: read(stream(LONG), item="zzz"), "there are 'item', 'annotator', 'label'")
    assert_refused(lambda: read(stream("ann,bob\nx,y\n"), item="zzz"), "'zzz'")
    assert_refused(lambda: read(stream(LONG), question="colour"), "'question'")
    assert_refused(
        lambda: read(stream("id,label\n1,x\n2,y\n")), "annotator", "'id', 'label'", "wide table"
    )
    assert_refused(lambda: read(stream(LONG), item="label", label="label"), "two of")
