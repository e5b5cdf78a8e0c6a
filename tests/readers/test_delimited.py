"""CSV, TSV and similar files: line ends, separators, quotes, headers and encodings."""

import io
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindfuse import BadFile, read
from blindfuse.readers.partitions import read_partitions
from tests.support.reader_files import (
    LONG,
    SMALL,
    WRITERS,
    assert_refused,
    has_note,
    labels_by_name,
    stream,
    write_file,
)


@pytest.mark.parametrize(
    "text",
    [
        LONG.replace("\n", "\r\n"),
        "\ufeff" + LONG,
        LONG.replace(",", "\t"),
        LONG.replace(",", ";"),
        LONG.replace(",", "|"),
        LONG + "\n\n",
        " \n" + LONG,
        LONG.replace("item", " item "),
    ],
    ids=["CRLF", "BOM", "tabs", "semicolons", "bars", "blank lines", "a line of spaces", "spaces"],
)
def test_every_separator_and_line_end_gives_the_same_responses(text: str) -> None:
    found = labels_by_name(read(stream(text)).responses)
    assert found == labels_by_name(read(stream(LONG)).responses)
    assert len(found) == 3


def test_quotes_within_a_cell_are_kept() -> None:
    stray = 'item,annotator,label\n5" pipe,ann,x\n6" pipe,ann,y\n'
    items = [item for item, _ in labels_by_name(read(stream(stray)).responses)]
    assert items == ['5" pipe', '6" pipe']


@pytest.mark.parametrize("early", [True, False])
def test_errors_about_invalid_utf8_give_the_byte_and_the_line(tmp_path: Path, early: bool) -> None:
    before = LONG.encode() + b"" if early else LONG.encode() + b"9,ann,x\n" * 200_000
    place, line = len(before) + 2, before.count(b"\n") + 1
    path = write_file(tmp_path, "a.csv", before + b"7,\xe9va,x\n")
    assert_refused(
        lambda: read(path), "byte 0xe9", f"position {place:,}", f"line {line:,}", "UTF-8"
    )
    lines = WRITERS["JSONL"](SMALL) + b'\n{"item": "\xe9"}\n'
    assert_refused(lambda: read(write_file(tmp_path, "a.jsonl", lines)), "0xe9", "line 4")


@pytest.mark.parametrize("n_rows", [9, 3_000, 20_000])
@pytest.mark.parametrize("others", ["x", '"x"', '"x, y"'])
def test_the_line_of_a_quote_that_is_not_closed_is_given(n_rows: int, others: str) -> None:
    for at in (2, n_rows // 2, n_rows - 1):
        for column, cell in enumerate((f"q{at}", "ann", others)):
            rows = [f"q{n},ann,{others}" for n in range(n_rows)]
            cells = [f"q{at}", "ann", others]
            cells[column] = '"' + cell.strip('"')
            rows[at] = ",".join(cells)
            text = "\n".join(["item,annotator,label", *rows, "q,bob,y"])
            assert_refused(lambda: read(stream(text)), f"line {at + 2:,}:", "quotes")  # noqa: B023


@pytest.mark.parametrize("order", list(permutations(["item", "annotator", "label"])))
@pytest.mark.parametrize("at", [1, 40])
def test_a_row_that_lacks_a_cell_is_refused_or_noted(order: tuple[str, ...], at: int) -> None:
    cells = [
        {"item": f"q{n // 3}", "annotator": "abc"[n % 3], "label": "xy"[n % 2]} for n in range(60)
    ]
    for absent in order[:-1]:
        rows = [[row[role] for role in order] for row in cells]
        del rows[at][order.index(absent)]
        file = stream("\n".join(map(",".join, [list(order), *rows])))
        if order[-1] != "label":
            assert_refused(lambda: read(file), f"row {at + 1} has a label but no")  # noqa: B023
        else:
            assert has_note(
                read(file), "Check the annotators" if absent == "annotator" else "Check the"
            )


@pytest.mark.parametrize(
    "text",
    [
        "Dear all: hello\nFrom: bob\nTo: eve\nSubject: the labels\n",
        "name: crowd\nsize: 3\nowner: ann\n",
        "INFO: started\nWARN: slow\nINFO: stopped\nINFO: gone\n",
        "every word\nof this\ntext stands\nbetween spaces\n",
        "<html>\n<body>\n</html>\n",
        "INSERT INTO votes VALUES (1);\nINSERT INTO votes VALUES (2);\n",
    ],
)
def test_text_that_is_no_table_is_refused(text: str) -> None:
    for content in (text, text * 40, text.replace("\n", "\r")):
        assert_refused(lambda: read(stream(content)), "is not a table of responses")  # noqa: B023


@given(
    st.lists(st.sampled_from(["cat", "a, b", 'say "no"', "", " x"]), min_size=4, max_size=8),
    st.sampled_from([", ", ",  ", "; "]),
)
def test_spaces_before_quotes_do_not_change_the_cells(labels: list[str], separator: str) -> None:
    rows = [["item", "annotator", "label"]]
    rows += [[f"q{n}", ["ann", "bob"][n % 2], label] for n, label in enumerate([*labels, "end"])]
    quoted = [[cell.replace('"', '""') for cell in row] for row in rows]
    table = "\n".join(separator.join(f'"{cell}"' for cell in row) for row in quoted)
    found = read(io.BytesIO(table.encode())).responses
    expected = {(item, who): label.strip() for item, who, label in rows[1:] if label.strip()}
    assert labels_by_name(found) == expected


@pytest.mark.parametrize("title", ["My crowd,,", "Exported,2024,", "# a comment", "a,b,c\n1,2,3"])
def test_lines_above_the_header_are_refused(tmp_path: Path, title: str) -> None:
    path = write_file(tmp_path, "a.csv", f"{title}\n{LONG}")
    assert_refused(lambda: read(path), "lines above the header")


def test_classes_named_like_columns_are_not_taken_for_a_header(tmp_path: Path) -> None:
    rows = ["x,ann,bob,eve", "9,image,text,url", *(f"{n},url,image,text" for n in range(9))]
    found = read(write_file(tmp_path, "a.csv", "\n".join(rows))).responses
    assert found.classes.tolist() == ["image", "text", "url"]


@pytest.mark.parametrize("at", [0, 5, 3000])
@pytest.mark.parametrize("header", ["item,text,annotator,label", "item,annotator,label,text"])
def test_commas_in_a_text_that_is_not_quoted_are_refused(
    tmp_path: Path, header: str, at: int
) -> None:
    """The cells after it are shifted, and those of other columns must not be read."""
    cells = {"annotator": "ann", "label": "x", "text": "hello"}
    rows = [[f"q{n}", *(cells[name] for name in header.split(",")[1:])] for n in range(3001)]
    rows[at] = [cell.replace("hello", "hello, world") for cell in rows[at]]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join([header, *map(",".join, rows)]))
    message = f"line {at + 2:,}: 5 cells, but the first row has 4"
    assert_refused(lambda: read(path), message)
    with pytest.raises(BadFile, match="cannot be read in partitions"), read_partitions(path):
        pass


@pytest.mark.parametrize("name", ["a\tb", "a\t\tb", "a\t\t\tb"])
def test_a_separator_within_quoted_cells_is_not_used(name: str) -> None:
    found = read(stream(f'"item","{name}"\n"i","x\t\ty"\n'), format="wide")
    assert labels_by_name(found.responses) == {("i", name): "x\t\ty"}
