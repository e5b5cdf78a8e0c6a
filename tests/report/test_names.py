"""Names as the page shows them."""

import numpy as np

from blindfuse.report.names import distinct_names, visible


def test_control_characters_are_made_visible() -> None:
    assert visible("a\nb\x00\x7f\x9f\ud800\u2028c") == "a␊b␀␡��␤c"
    assert visible("") == visible(" \t") == "(empty)"
    assert visible("x" * 200) == "x" * 119 + "…"
    assert visible(np.int64(7)) == "7"


def test_names_that_look_alike_are_numbered() -> None:
    assert distinct_names(["a", "b", "a", "\x00", "␀"]) == ["a", "b", "a (2)", "␀", "␀ (2)"]
