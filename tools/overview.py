"""Draw the picture of README and the start page: what goes in, and what comes out.

    python tools/overview.py

writes ``docs/overview.svg`` from the labels and the fusion of ``blindfuse demo``.
"""

from pathlib import Path

import numpy as np

from blindfuse import check_on_gold, fuse
from blindfuse.datasets.tumours import tumours_crowd

PICTURE = Path(__file__).parents[1] / "docs" / "overview.svg"
N_ITEMS, CELL, LEFT, TOP = 24, 13, 12, 54
BAR, HEIGHT = 84, 74
"""The length of a confidence of 100 %, and of an accuracy of 100 %."""
STYLE = """\
text { font: 14px system-ui, sans-serif; fill: #24292f; }
text.small { font-size: 12px; }
.a { fill: #3b6fb6; } .b { fill: #e07b39; } .gap { fill: #8883; } .bar { fill: #888a; }
.true { stroke: #24292f; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .true { stroke: #e6edf3; }
  .a { fill: #6ea8fe; } .b { fill: #f0a05a; }
}"""


def rectangle(x: float, y: float, width: float, height: float, style: str) -> str:
    """Return a filled rectangle."""
    size = f'width="{round(width, 1):g}" height="{round(height, 1):g}"'
    return f'<rect x="{x:g}" y="{y:g}" {size} class="{style}"/>'


def text(x: float, y: float, words: str, style: str = "") -> str:
    """Return words that begin at a point."""
    return f'<text x="{x:g}" y="{y:g}" class="{style}">{words}</text>'


def picture() -> str:
    """Return the picture; its figures are those that ``blindfuse demo`` prints."""
    crowd = tumours_crowd()
    responses = crowd.responses
    fusion = fuse(responses)
    labels = responses.classes[crowd.truth]
    check = check_on_gold(fusion, dict(zip(responses.items, labels, strict=True)))
    assert fusion.expected_error is not None
    matrix = responses.matrix()
    correct = np.where(matrix < 0, np.nan, matrix == crowd.truth[:, None])
    accuracy, true = fusion.diagnostics.annotators.accuracy, np.nanmean(correct, axis=0)
    size, m = CELL - 2, responses.n_annotators
    right, bottom = LEFT + m * CELL + 14, TOP + N_ITEMS * CELL + 8
    styles, parts = np.array(["a", "b", "gap"]), list[str]()
    for n, row in enumerate(matrix[:N_ITEMS]):
        y = TOP + n * CELL
        parts += [
            rectangle(LEFT + at * CELL, y, size, size, styles[code]) for at, code in enumerate(row)
        ]
        label = str(styles[np.flatnonzero(responses.classes == fusion.labels[n])[0]])
        confidence = float(fusion.posteriors[n].max())
        parts.append(rectangle(right, y, size, size, label))
        parts.append(rectangle(right + CELL + 3, y, BAR * confidence, size, "bar"))
    for at in range(m):
        x = LEFT + at * CELL
        parts.append(rectangle(x, bottom, size, HEIGHT * accuracy[at], "bar"))
        y = bottom + HEIGHT * true[at]
        parts.append(f'<path d="M{x} {y:.1f}h{size}" class="true"/>')
    families = [name.rsplit(" ", 1)[0] for name in responses.annotators.tolist()]
    for family in dict.fromkeys(families):
        x = LEFT + families.index(family) * CELL
        parts.append(text(x, TOP - 8, family, "small"))
    a, b = responses.classes.tolist()
    crowd_size = f"{responses.n_responses:,} labels by {m} weak classifiers and guessers"
    shown = f"{b}; the first {N_ITEMS} of {responses.n_items} tumours"
    error = fusion.expected_error
    caption = bottom + HEIGHT + 22
    parts += [
        text(LEFT, 22, f"in: {crowd_size}"),
        text(right, 22, "out: labels"),
        text(right, TOP - 8, "and confidences", "small"),
        text(right, bottom + 16, "accuracies:", "small"),
        text(right, bottom + 33, "bar estimated,", "small"),
        text(right, bottom + 50, "line true", "small"),
        rectangle(LEFT, caption - size, size, size, "a"),
        text(LEFT + 16, caption, a, "small"),
        rectangle(LEFT + 74, caption - size, size, size, "b"),
        text(LEFT + 90, caption, shown, "small"),
        text(
            LEFT,
            caption + 26,
            f"expected error {error.interval()}, true error {100 * check.error.value:.1f} %, "
            f"majority vote {100 * check.vote_error.value:.1f} %",
        ),
    ]
    width, height = right + CELL + 3 + BAR + 12, caption + 40
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img">\n<title>Labels of many weak classifiers go in; fused '
        "labels, confidences, accuracies and an expected error come out</title>\n"
        f"<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
