"""Hypothesis strategies for responses with unusual names."""

from hypothesis import strategies as st

from blindfuse.responses.markers import MISSING_MARKERS
from blindfuse.responses.values import trim
from tests.support.reader_files import Rows

names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=8
).filter(lambda name: name.strip() == name == trim(name))
labels = names.filter(lambda name: name not in MISSING_MARKERS and name[0] not in "[{")


@st.composite
def response_rows(draw: st.DrawFn) -> Rows:
    """Rows of (item, annotator, label), each (item, annotator) pair at most once."""
    item, annotator = (draw(st.lists(names, min_size=1, max_size=4, unique=True)) for _ in "ia")
    label = draw(st.lists(labels, min_size=1, max_size=3, unique=True))
    cells = st.tuples(*map(st.sampled_from, (item, annotator, label)))
    return draw(st.lists(cells, min_size=1, max_size=12, unique_by=lambda row: row[:2]))
