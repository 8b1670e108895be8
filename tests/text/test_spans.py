"""Texts with spans: every format read back equal, tokens split where spans cut them, refusals."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.exceptions import FileError, LineError
from structlearn.tasks import Tagger
from structlearn.text import read_corpus, tokenisers
from structlearn.text.brat_folders import unpack
from structlearn.text.conversion import convert_file, read_documents, write_documents
from structlearn.text.files import read_bytes
from structlearn.text.formats import FORMATS, guess_format, span_formats
from structlearn.text.spans import Document, Span, cut_document, found_spans
from structlearn.text.tokenisers import TOKENISERS, tokeniser
from tests.tasks.trainings import TRAININGS

PLAIN = [name for name in span_formats() if name != "docbin"]

#: Emoji with joiners and skin tones, combining marks, right to left, line ends of all kinds.
ODD = [
    "👩‍👩‍👧",
    "👍🏽",
    "e\u0301",
    "שלום",
    "\u202eاب",
    "\r\n",
    "\n",
    "\t",
    "\u2028",
    "a",
    "B",
    " ",
    "½",
    "नि",
    "\u200d",
]
TEXTS = st.lists(st.sampled_from(ODD) | st.characters(codec="utf-8"), max_size=30).map("".join)
LABELS = st.sampled_from(["PER", "LOC", "date-time", "Ämne"])


@st.composite
def documents(draw, overlapping=True):
    text = draw(TEXTS)
    if draw(st.booleans()) and not text:
        return Document(text, [])
    places = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(places, places), max_size=6))
    spans, reached = [], 0
    for a, b in sorted(map(sorted, pairs)):
        if a < b and (overlapping or a >= reached) and (overlapping or text[a:b].strip()):
            spans.append(Span(a, b, draw(LABELS)))
            reached = b
    return Document(text, spans)


def plain(docs):
    return [(d.text, d.spans) for d in docs]


@pytest.mark.parametrize("name", PLAIN)
@given(st.lists(documents(), max_size=4))
@settings(deadline=None)
def test_written_documents_are_read_back_equal(name, docs):
    written = FORMATS[name]().render(docs)
    assert plain(FORMATS[name]().documents(written)) == plain(docs)


@given(st.lists(documents(), min_size=1, max_size=4), st.permutations(PLAIN))
@settings(deadline=None)
def test_documents_go_through_all_formats(docs, names):
    found = docs
    for name in names:
        found = FORMATS[name]().documents(FORMATS[name]().render(found))
    assert plain(found) == plain(docs)


@given(documents(overlapping=False), st.sampled_from([*TOKENISERS][:3]))
@settings(deadline=None)
def test_labels_of_tokens_give_the_spans_back(document, name):
    try:
        cut = cut_document(document, tokeniser(name))
    except LineError:  # a span of signs that no token has
        return
    found = found_spans(cut.sentences, cut.labels)
    text = document.text
    bare = [
        (a, b, s.label)
        for s in document.spans
        for a in [s.start + len(text[s.start : s.end]) - len(text[s.start : s.end].lstrip())]
        for b in [s.start + len(text[s.start : s.end].rstrip())]
    ]
    assert [tuple(s[:3]) for s in found] == bare


@given(TEXTS, st.sampled_from([*TOKENISERS][:3]) | st.sampled_from([r"\d+|\w+", r"[a]", r"\s"]))
@settings(deadline=None)
def test_every_visible_character_is_in_a_token(text, name):
    places = tokeniser(name)(text)
    covered = [False] * len(text)
    before = 0
    for begin, end in places:
        assert before <= begin < end
        assert text[begin:end].strip()
        covered[begin:end] = [True] * (end - begin)
        before = end
    assert all(c.isspace() or inside for c, inside in zip(text, covered, strict=True))


def test_folders_of_brat_are_files(tmp_path):
    docs = [
        Document("Maria\r\nwas here 😀 .", [Span(0, 5, "PER"), Span(16, 17, "E")], "a/b"),
        Document("Nothing", [], "c"),
        Document("Not labelled", None, "d"),
    ]
    unpack(FORMATS["brat"]().render(docs), str(tmp_path / "out"))
    assert (tmp_path / "out/a/b.txt").read_bytes() == docs[0].text.encode()
    assert (tmp_path / "out/a/b.ann").read_text() == "T1\tPER 0 5\tMaria\nT2\tE 16 17\t😀\n"
    assert not (tmp_path / "out/d.ann").exists()
    again = FORMATS["brat"]().documents(read_bytes(tmp_path / "out"))
    assert [(d.text, d.spans, d.name) for d in again] == [(d.text, d.spans, d.name) for d in docs]
    (one,) = FORMATS["brat"]().documents(read_bytes(tmp_path / "out/a/b.ann"))
    assert one.spans == docs[0].spans


def test_documents_do_not_leave_their_folder(tmp_path):
    unpack(FORMATS["brat"]().render([Document("x", [], "../../up")]), str(tmp_path / "out"))
    assert (tmp_path / "out/up.txt").exists()


DOCUMENT = {
    "text": "Maria lives in Berlin-Mitte.",
    "spans": [{"start": 15, "end": 21, "label": "LOC"}],
}
SPELLINGS = {
    "prodigy": DOCUMENT,
    "doccano": {"id": 1, "text": DOCUMENT["text"], "label": [[15, 21, "LOC"]]},
    "doccano labels": {"text": DOCUMENT["text"], "labels": [[15, 21, "LOC"]]},
    "doccano relations": {
        "text": DOCUMENT["text"],
        "entities": [{"id": 4, "label": "LOC", "start_offset": 15, "end_offset": 21}],
        "relations": [],
    },
    "spacy": {"text": DOCUMENT["text"], "entities": [[15, 21, "LOC"]]},
    "prodigy tokens": {**DOCUMENT, "tokens": [{"text": "Maria", "start": 0, "end": 5, "id": 0}]},
    "label studio, small": {
        "id": 1,
        "text": DOCUMENT["text"],
        "label": [{"start": 15, "end": 21, "text": "Berlin", "labels": ["LOC"]}],
    },
}


@pytest.mark.parametrize("item", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("array", [False, True])
def test_spellings_are_recognised_and_kept(tmp_path, item, array):
    text = json.dumps([item] if array else item)
    path = tmp_path / ("export.json" if array else "export.jsonl")
    path.write_text(text + "\n")
    corpus = read_corpus(path)
    assert list(corpus[0]) == [
        *((word, "O") for word in ("Maria", "lives", "in")),
        ("Berlin", "B-LOC"),
        *((word, "O") for word in ("-", "Mitte", ".")),
    ]
    chosen = FORMATS[guess_format(path, text.encode())]()
    chosen.prepare(b"", ["O", "B-LOC"])
    chosen.read(text.encode(), 0)
    labels = [[("B-LOC",) if word == "Berlin" else ("O",) for word, _ in corpus[0]]]
    (again,) = json.loads(b"[" + chosen.write(labels, ["label"], None).strip().strip(b"[]") + b"]")
    again.pop("entities", None) if "relations" in item else None
    item = {
        key: value for key, value in item.items() if "relations" not in item or key != "entities"
    }
    assert again == item


LABEL_STUDIO = [
    {
        "id": 7,
        "data": {"review": "Bob saw Ann", "n": 3},
        "annotations": [
            {"was_cancelled": True, "result": []},
            {
                "result": [
                    {
                        "from_name": "ner",
                        "to_name": "review",
                        "type": "labels",
                        "value": {"start": 0, "end": 3, "text": "Bob", "labels": ["PER"]},
                    },
                    {"type": "choices", "value": {"choices": ["good"]}},
                ]
            },
        ],
    },
    {"data": {"review": "Ann"}, "annotations": [{"was_cancelled": True, "result": []}]},
    {"data": {"review": "Cal"}, "annotations": []},
]


def test_tasks_of_label_studio(tmp_path):
    path = tmp_path / "project.json"
    path.write_text(json.dumps(LABEL_STUDIO, indent=2))
    with pytest.warns(UserWarning, match="task 2: its annotation was cancelled"):
        corpus = read_corpus(path)
    assert [list(s) for s in corpus] == [
        [("Bob", "B-PER"), ("saw", "O"), ("Ann", "O")],
        [("Cal", "_")],
    ]
    chosen = FORMATS["labelstudio"]()
    chosen.prepare(b"", ["B-PER"])
    chosen.read(path.read_bytes(), 0)
    rows = [[("O", 0.5), ("O", 0.5), ("B-PER", 0.75)], [("O", 0.5)], [("B-PER", 0.25)]]
    tasks = json.loads(chosen.write(rows, ["label", "confidence"], None))
    assert tasks[0]["annotations"] == LABEL_STUDIO[0]["annotations"]
    (answer,) = tasks[0]["predictions"]
    assert answer["score"] == 0.75
    (region,) = answer["result"]
    assert (region["from_name"], region["to_name"], region["score"]) == ("ner", "review", 0.75)
    assert region["value"] == {"start": 8, "end": 11, "text": "Ann", "labels": ["PER"]}


def corpus_of_line(tmp_path, item, name="x.jsonl"):
    path = tmp_path / name
    path.write_text("\n" + json.dumps(item) + "\n", encoding="utf-8")
    return read_corpus(path)


def test_spans_that_cut_tokens_split_them_and_say_so(tmp_path):
    item = {"text": "Newyork-based", "spans": [{"start": 3, "end": 7, "label": "LOC"}]}
    with pytest.warns(
        UserWarning, match=r"x.jsonl: .*line 2: the span 'york' \(LOC, 3-7\) cuts 'Newyork'"
    ):
        corpus = corpus_of_line(tmp_path, item)
    assert list(corpus[0])[:3] == [("New", "O"), ("york", "B-LOC"), ("-", "O")]


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        (
            [(0, 8, "A"), (4, 8, "B")],
            r"line 2: .*'York' \(B, 4-8\) lies inside 'New York' \(A, 0-8\)",
        ),
        ([(0, 6, "A"), (4, 8, "B")], "'York' .*overlaps 'New Yo'"),
        ([(0, 3, "A"), (0, 3, "B")], "has the same place as"),
        ([(0, 99, "A")], "no span from 0 to 99"),
        ([(3, 3, "A")], "no span from 3 to 3"),
        ([(-1, 3, "A")], "no span from -1"),
        ([(0.5, 3, "A")], "offset of a span is a whole"),
        ([(True, 3, "A")], "offset of a span is a whole"),
        ([(0, 3, "")], "label of a span is a string"),
        ([(0, 3, None)], "label of a span is a string"),
        ([(3, 4, "A")], "no token"),
        ([{"start": 0}], "offset of a span is a whole"),
        (["x"], "is no span"),
        ("PER", "a label of the whole text"),
    ],
)
def test_what_is_no_span_is_refused(tmp_path, spans, reason):
    with pytest.raises(FileError, match=reason):
        corpus_of_line(tmp_path, {"text": "New York is", "label": spans})


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            "T1\tPER 0 3;4 7\tAnn Lee",
            r"d.ann, line 1: T1, 'Ann Lee' \(PER, 0 3;4 7\), is in several",
        ),
        ("T1\tPER 0 3\tBob", "T1 is 'Bob', and the text has 'Ann'"),
        ("T1 PER 0 3", "is no span"),
        ("T1\tPER 0 3\tAnn\nT2\tPER 0 7\tAnn Lee", "lies inside"),
        (f"T1\tPER 0 {'9' * 5000}\tAnn", "no offsets"),
    ],
)
def test_what_brat_has_and_no_tagger_can_learn_is_refused(tmp_path, row, reason):
    (tmp_path / "d.txt").write_text("Ann Lee")
    (tmp_path / "d.ann").write_text(row + "\n")
    with pytest.raises(FileError, match=reason):
        read_corpus(tmp_path)


def test_rejected_answers_are_left_out(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text(
        '{"text": "Ann", "spans": [], "answer": "accept"}\n'
        '{"text": "Bob", "spans": [], "answer": "reject"}\n'
    )
    with pytest.warns(UserWarning, match="line 2: the answer is 'reject'"):
        assert len(read_corpus(path)) == 1


def test_offsets_that_count_as_javascript_does(tmp_path):
    text = "👍🏽 Ann"
    (tmp_path / "x.jsonl").write_text(json.dumps({"text": text, "label": [[5, 8, "PER"]]}))
    with pytest.raises(FileError, match="--offsets utf16 mends that"):
        read_corpus(tmp_path / "x.jsonl")
    (document,) = read_documents(str(tmp_path / "x.jsonl"), utf16=True)
    assert document.spans == [Span(3, 6, "PER")]
    (tmp_path / "x.jsonl").write_text(json.dumps({"text": text, "label": [[1, 8, "PER"]]}))
    with pytest.raises(FileError, match=r"no span from -1"):
        read_documents(str(tmp_path / "x.jsonl"), utf16=True)
    value = {"start": 5, "end": 8, "text": "Ann", "labels": ["PER"]}
    task = {"data": {"text": text}, "annotations": [{"result": [{"value": value}]}]}
    (tmp_path / "x.json").write_text(json.dumps([task]))
    (document,) = read_documents(str(tmp_path / "x.json"))  # the text of the region tells
    assert document.spans == [Span(3, 6, "PER")]
    value["text"] = "Bob"
    (tmp_path / "x.json").write_text(json.dumps([task]))
    with pytest.raises(FileError, match=r"task 1: .*no span"):
        read_documents(str(tmp_path / "x.json"))
    value.update(start=3, end=6)
    (tmp_path / "x.json").write_text(json.dumps([task]))
    with pytest.raises(FileError, match=r"task 1: the region from 3 to 6 is 'Bob', .* 'Ann' there"):
        read_documents(str(tmp_path / "x.json"))


def test_lines_are_sentences_unless_a_span_goes_on():
    document = Document("Ann\nLee here\nBob", [Span(0, 7, "PER")])
    cut = cut_document(document, tokeniser("words"))
    assert cut.labels == [["B-PER", "I-PER", "O"], ["O"]]


def test_objects_with_words_stay_json_lines():
    for item in ({"tokens": ["a"], "tags": ["N"]}, {"text": "a", "tokens": ["a"], "tags": ["N"]}):
        assert guess_format("x.jsonl", json.dumps(item).encode()) == "jsonl"


WORDS = {
    "2cups flour, sifted": "2 cups flour , sifted",
    "123 Main St., Springfield IL 62704-1234": "123 Main St . , Springfield IL 62704 - 1234",
    "Don't stop O'Neill's 1,000.50€... ½cup": "Do n't stop O'Neill 's 1,000.50 € ... ½ cup",
    "हिन्दी में 👩‍👩‍👧 👍🏽": "हिन्दी में 👩‍👩‍👧 👍🏽",
}


@pytest.mark.parametrize("text", WORDS)
def test_words(text):
    assert [text[a:b] for a, b in tokeniser("words")(text)] == WORDS[text].split()


def test_characters_keep_their_marks():
    text = "e\u0301 👍🏽 नि"
    assert [text[a:b] for a, b in tokeniser("characters")(text)] == ["e\u0301", "👍🏽", "नि"]


def test_the_tokeniser_of_the_english_pipeline(monkeypatch):
    pipeline = TRAININGS["pipeline"].fit("perceptron")
    monkeypatch.setattr(tokenisers, "_english_pipeline", lambda: pipeline)
    text = "They don't! The cat sees a dog.\n\nDon't they swim?"
    expected = [place for sentence in pipeline.places(text) for place in sentence]
    assert tokeniser("english")(text) == expected
    assert len(expected) > 8


@pytest.mark.parametrize("name", ["wrods", "", "(", 3, "x" * 2000])
def test_tokenisers_that_do_not_exist(name):
    with pytest.raises(ValueError, match=r"tokens must be|no tokeniser"):
        tokeniser(name)


def test_what_nobody_has_looked_at_is_unknown(tmp_path):
    """A part of a text has labels; the rest is unknown to learners, and the file comes back."""
    item = {
        "text": "Ann sleeps in Rome",
        "spans": [{"start": 0, "end": 3, "label": "PER"}],
        "looked": [[0, 10], [12, 18]],
    }
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(item) + "\n")
    # "in" begins at 11: a token that was looked at in part is unknown.
    corpus = read_corpus(path)
    assert [list(s.column(1)) for s in corpus] == [["B-PER", "O", "_", "O"]]
    last = {"text": "It is Rome", "spans": [{"start": 6, "end": 10, "label": "LOC"}]}
    tagger = Tagger("pos", learner="crf").fit([item, {**last, "looked": [[6, 10]]}])
    assert tagger.classes_ == ["B-LOC", "B-PER", "O"]  # though the first word is unknown
    [document] = read_documents(str(path))
    write_documents([document], str(tmp_path / "again.jsonl"), "prodigy")
    assert json.loads((tmp_path / "again.jsonl").read_text()) == item
    write_documents([document], str(tmp_path / "columns.txt"), "columns")
    assert "in _" in (tmp_path / "columns.txt").read_text().replace("\t", " ")
    for to, name in (("brat", "folder"), ("labelstudio", "a.json")):
        with pytest.raises(FileError, match="looked at in part"):
            write_documents([document], str(tmp_path / name), to)
    # A model looks at all of it.
    assert tagger.label_file(path, tmp_path / "labelled.jsonl") == 4
    assert "looked" not in json.loads((tmp_path / "labelled.jsonl").read_text())


@pytest.mark.parametrize("looked", [5, [3], [[0]], [[0, 99]], [["a", 2]], [[2, 1]]])
def test_stretches_that_cannot_be_are_refused(tmp_path, looked):
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"text": "Ann sleeps", "spans": [], "looked": looked}) + "\n")
    with pytest.raises(FileError, match="line 1"):
        read_documents(str(path))


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes("Ann sleeps\nBob\n".encode("utf-8-sig"))
    assert [document.text for document in read_documents(str(path), "text")] == [
        "Ann sleeps",
        "Bob",
    ]


def test_errors_of_conversions_name_the_file_that_is_read(tmp_path):
    spans = [{"start": 0, "end": 3, "label": "A"}, {"start": 0, "end": 7, "label": "B"}]
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "Ann Lee", "spans": spans}) + "\n")
    with pytest.raises(FileError, match=r"in\.jsonl, line 1: the span 'Ann'"):
        convert_file(str(tmp_path / "in.jsonl"), str(tmp_path / "out.tsv"))
    (tmp_path / "d.txt").write_text("Ann and Lee\n")
    (tmp_path / "d.ann").write_text("T1\tA 0 3;8 11\tAnn Lee\n")
    with pytest.raises(FileError, match=r"d\.ann: line 1: T1.*several pieces"):
        convert_file(str(tmp_path / "d.ann"), str(tmp_path / "out.jsonl"))


def test_known_spans_stay_where_they_are(tmp_path):
    """A file's own spans are kept as they are, and what cannot be kept is refused."""
    texts = [("Ana vive en Lima.", [[0, 3, "PER"], [12, 16, "LOC"]])] * 8
    data = tmp_path / "train.jsonl"
    data.write_text("".join(json.dumps({"text": t, "label": s}) + "\n" for t, s in texts))
    model = Tagger("ner", max_iter=3, scheme="bio").fit(str(data))

    def kept(spans):
        source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
        source.write_text(json.dumps({"text": "Ana vive en Lima.", "label": spans}) + "\n")
        model.label_file(str(source), str(target), known=True)
        return [tuple(s[:3]) for s in json.loads(target.read_text())["label"]]

    assert (0, 2, "PER") in kept([[0, 2, "PER"]])  # inside of a word
    with pytest.raises(FileError, match=r"line 1: the span 'vive en' .* overlaps 'Ana vive'"):
        kept([[0, 8, "PER"], [4, 11, "LOC"]])
    with pytest.raises(FileError, match=r"line 1: the span 'Ana' .* lies inside 'Ana vive'"):
        kept([[0, 8, "PER"], [0, 3, "LOC"]])


def test_the_text_of_a_brat_document_is_not_taken_for_columns(tmp_path):
    text = tmp_path / "d0.txt"
    text.write_text("Ana vive en Lima.\n")
    (tmp_path / "d0.ann").write_text("T1\tPER 0 3\tAna\n")
    with pytest.raises(FileError, match=r"d0\.ann beside it has its spans, as brat writes them"):
        Tagger("ner").fit(str(text))
    (corpus,) = list(read_corpus(str(tmp_path / "d0.ann")))
    assert next(label for _, label in corpus) == "B-PER"
