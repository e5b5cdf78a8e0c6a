"""Charts: names are only data, and the caller's theme has no effect."""

import json

import altair as alt

from blindfuse import report_html
from blindfuse.report.blocks import Chart
from tests.support.report_cases import crowd, hostile, page_of


def test_names_are_data_of_charts_and_nothing_else() -> None:
    """No expression, scale or field of a chart contains a part of a name."""
    for chart in page_of(hostile()).blocks(Chart):
        drawn = json.loads(json.dumps(chart.spec))
        drawn.pop("description")
        for layer in [drawn, *drawn.get("layer", [])]:
            layer.get("data", {}).pop("values", None)
        assert drawn.pop("datasets")["rows"]
        assert "pwned" not in json.dumps(drawn)


def test_the_theme_of_the_caller_does_not_change_the_page() -> None:
    page = report_html(crowd())
    with alt.theme.enable("dark"):
        assert report_html(crowd()) == page
