"""Labels of tokens as segments, and back."""

from hypothesis import given
from hypothesis import strategies as st

from structlearn.metrics import to_bio
from structlearn.metrics.boundaries import chunks
from structlearn.metrics.segments import to_labels, to_segments

LABELS = st.lists(
    st.sampled_from(["O", *(f"{p}-{t}" for p in "BIESLU" for t in ("PER", "LOC"))]), max_size=12
)


@given(LABELS)
def test_whole_chunks_there_and_back(labels):
    segments, n_cut = to_segments(labels)
    assert n_cut == 0
    assert to_labels(segments) == to_bio(labels)
    assert [s for s in segments if s[2] != "O"] == chunks(labels)
    assert to_segments(to_labels(segments)) == (segments, 0)


@given(LABELS, st.integers(1, 4))
def test_cut_chunks(labels, width):
    segments, n_cut = to_segments(labels, width)
    assert [b for b, _, _ in segments] == [0, *(e for _, e, _ in segments)][: len(segments)]
    assert n_cut == sum(e - b > width for b, e, _ in chunks(labels))
    for b, e, kind in segments:
        assert e - b <= (1 if kind == "O" else width)
    written = to_labels(segments)
    assert len(written) == len(labels)
    # The types of the tokens stay; only borders are new.
    assert [k[1:] for k in written] == [k[1:] for k in to_bio(labels)]
