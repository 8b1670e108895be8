"""Pipelines: text in, documents out, and back."""

import gc
import io
import json
import math
import pickle
import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structlearn
from structlearn import cli
from structlearn.datasets import make_treebank
from structlearn.exceptions import FileError
from structlearn.metrics.alignment import aligned_scores
from structlearn.models.calibration import Calibration
from structlearn.tasks import Pipeline
from structlearn.tasks.pipeline import annotating, files, tokeniser
from structlearn.tasks.pipeline.confidence import stage_calibrations
from structlearn.tasks.pipeline.corpora import tagged_corpus
from structlearn.tasks.pipeline.doc import Doc
from structlearn.tasks.pipeline.files import text_pieces
from structlearn.tasks.pipeline.scores import treebank_sentences
from structlearn.tasks.pipeline.span import DocSentence
from structlearn.tasks.pipeline.token import Surface, Token
from structlearn.text.corpus import corpus_of
from structlearn.text.dependency_treebank import read_treebank
from structlearn.text.surface import raw_paragraphs, raw_text

from .conformance import check_conllu
from .small_treebank import conllu, treebank
from .test_tokeniser import ODD

SMALL = {"n_models": 1, "max_iter": 3}
TEXT = "They don't! The cat sees a dog.\n\nThe friend seemed happy.\n"


def make(**options):
    stages = dict.fromkeys(("tokeniser", "splitter", "tags", "lemmas"), SMALL)
    stages["parser"] = {"hash_bits": 16, **SMALL}
    return Pipeline(**{**stages, "folds": 2, **options})


@pytest.fixture(scope="module")
def nlp():
    return make().fit(treebank(200), dev=treebank(40, random_state=2))


def test_a_document_has_all_levels(nlp):
    doc = nlp(TEXT)
    assert [s.text for s in doc.sentences] == [
        "They don't!",
        "The cat sees a dog.",
        "The friend seemed happy.",
    ]
    assert [s.text for s in doc.sentences[0].surfaces] == ["They", "don't", "!"]
    assert [t.text for t in doc.sentences[0]] == ["They", "do", "n't", "!"]
    assert [w.lemma for w in doc.sentences[0]] == ["they", "do", "not", "!"]
    assert [w.upos for w in doc.sentences[0]] == ["PRON", "VERB", "PART", "PUNCT"]
    assert doc.rebuilt == doc.text == TEXT
    for token in doc.surfaces:
        assert TEXT[token.begin : token.end] == token.text
    assert "<svg" in doc._repr_html_()
    assert nlp.stages == ("tokeniser", "splitter", "tags", "lemmas", "parser")


def test_what_it_writes_is_conformant(nlp):
    text = raw_text(treebank(80, random_state=3))
    assert check_conllu(nlp(text).to_conllu()) == len(nlp(text).sentences)
    blanks = "  They\tdon't!\u00a0 Fish\r\nswim.\n\n \nThey | don't"
    assert check_conllu(nlp(blanks).to_conllu()) > 0


@settings(max_examples=300, deadline=None)
@given(ODD)
def test_what_it_writes_of_any_text_is_conformant(nlp, text):
    doc = nlp(text)
    written = doc.to_conllu()
    check_conllu(written)
    if doc.sentences:
        corpus = corpus_of("x.conllu", written.encode(), "conllu")
        assert corpus.column("form") == [[t.text for t in s] for s in doc.sentences]
    json.loads(doc.to_json())


def test_tags_are_combinations_of_the_treebank(nlp):
    seen = set(nlp.model_.combinations)
    odd = " ".join(["Xyzzy", "FOO", "don't", "bar!", "12", "日本", "👩🏽", "http://x.y/z"] * 5)
    assert {(w.upos, w.xpos, w.feats) for w in nlp(odd)} <= seen


def test_annotating_and_comparing_is_evaluating(nlp, tmp_path):
    gold = treebank(60, random_state=4)
    (tmp_path / "gold.txt").write_text(raw_text(gold), encoding="utf-8")
    nlp.label_file(tmp_path / "gold.txt", tmp_path / "found.conllu")
    found = corpus_of("f", (tmp_path / "found.conllu").read_bytes(), "conllu")
    scores = aligned_scores(treebank_sentences(gold), treebank_sentences(found))
    told = nlp.evaluate(gold)
    for name, score in scores.items():
        assert score.as_dict() == told[name], name
    assert told["tokens"]["f1"] > 0.95
    assert told["las"]["f1"] > 0.6
    with_words = nlp.evaluate(gold, gold_tokens=True)
    assert with_words["words"]["f1"] == 1.0
    assert with_words["las"]["f1"] >= told["las"]["f1"]
    assert nlp.score(gold) == told["las"]["f1"]


def test_scores_without_a_tokeniser():
    """Words are given to a pipeline that cannot find them; LAS is counted here."""
    bank = make_treebank(40, random_state=3)
    rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in bank]
    small = {"n_models": 1, "max_iter": 1}
    parser = {**small, "hash_bits": 12}
    nlp = Pipeline(tokeniser=False, lemmas=False, tags=small, parser=parser, folds=2).fit(rows[:30])
    trees = nlp.predict([[w for w, *_ in s] for s in rows[30:]])
    pairs = [
        (tuple(arc), found)
        for s, tree in zip(rows[30:], trees, strict=True)
        for (_, _, *arc), found in zip(s, tree, strict=True)
    ]
    assert nlp.score(rows[30:]) == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert nlp.evaluate(rows[30:])["las"] == nlp.evaluate(rows[30:], gold_tokens=True)["las"]


@pytest.mark.parametrize("head", ["x", "-1", "9" * 5000, "²"])
@pytest.mark.parametrize("gold_tokens", [False, True])
def test_heads_that_are_no_numbers(nlp, tmp_path, head, gold_tokens):
    path = tmp_path / "gold.conllu"
    row = "\t".join(("Fish", "_", "_", "_", "_", head, "dep", "_", "_"))
    path.write_text(f"# text = Fish\n1\t{row}\n\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"gold\.conllu, line 2: the head .* is not the number"):
        nlp.evaluate(path, gold_tokens=gold_tokens)


def test_files_say_the_same_again(nlp, tmp_path):
    path = tmp_path / "small.model"
    nlp.save(path, "float32")
    again = structlearn.load(path)
    expected = nlp(TEXT).to_conllu()
    assert again(TEXT).to_conllu() == expected
    assert pickle.loads(pickle.dumps(nlp))(TEXT).to_conllu() == expected
    nlp.save(path, "int8")
    assert len(structlearn.load(path)(TEXT)) > 0
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileError):
        structlearn.load(path)


def test_many_texts_are_piped(nlp):
    texts = [TEXT * k for k in range(6)] * 3
    expected = [nlp(text).to_conllu() for text in texts]
    assert [doc.to_conllu() for doc in nlp.pipe(iter(texts))] == expected
    assert [doc.to_conllu() for doc in nlp.pipe(texts, n_jobs=2)] == expected
    with pytest.raises(TypeError, match="one string"):
        list(nlp.pipe(TEXT))


def test_text_without_sentences_is_cut(nlp):
    text = "cat " * 4500  # more words than a parser takes
    doc = nlp.without("lemmas")(text)
    assert doc.rebuilt == text
    assert len(doc.surfaces) == 4500
    assert max(len(sentence.surfaces) for sentence in doc.sentences) <= 1000
    check_conllu(doc.to_conllu())


def test_stages_can_be_left_out_and_replaced(nlp):
    bare = nlp.without("parser", "lemmas")
    assert bare.stages == ("tokeniser", "splitter", "tags")
    doc = bare(TEXT)
    assert doc.sentences[0].tree is None
    assert {w.lemma for w in doc} == {"_"}
    check_conllu(doc.to_conllu(), relations=False)
    assert nlp(TEXT).sentences[0].tree is not None  # the other one is as it was
    own = nlp.with_tokeniser(lambda text: [[(0, 4), (5, 9)]])
    assert [t.text for t in own("Fish swim").tokens] == ["Fish", "swim"]
    with pytest.raises(ValueError, match="gave the token 3:2"):
        nlp.with_tokeniser(lambda text: [[(3, 2)]])("Fish swim")
    with pytest.raises(TypeError, match="gave 'Fish': a token is its place"):
        nlp.with_tokeniser(lambda text: [text.split()])("Fish swim")
    with pytest.raises(ValueError, match="no stage 'parse'"):
        nlp.without("parse")


def test_own_tokens(nlp):
    doc = nlp.annotate([["They", "don't", "swim"], ["New York", "."]])
    assert [t.text for t in doc] == ["They", "don't", "swim", "New York", "."]
    assert doc.text == "They don't swim\nNew York ."
    assert len(nlp.annotate([["They", "don't", "!"]], split=True)) == 4
    for wrong in ([[""]], [["a\n"]], [[" a"]]):
        with pytest.raises(ValueError, match="sentence 0: the token"):
            nlp.annotate(wrong)
    with pytest.raises(TypeError, match="is a string"):
        nlp.annotate(["They swim"])
    assert len(nlp.annotate([])) == 0


def test_confidences_are_probabilities(nlp):
    doc = nlp(TEXT, confidence=True)
    for token in doc.surfaces:
        assert 0 < token.confidence <= 1
    for word in doc:
        assert set(word.confidence) == {"upos", "xpos", "feats", "lemma", "head"}
        assert all(0 <= p <= 1 for p in word.confidence.values())
    assert "UposConfidence=" in doc.to_conllu(confidence=True)
    check_conllu(doc.to_conllu(confidence=True))
    first = make(parser={"order": 1, "hash_bits": 14, **SMALL}).fit(treebank(60))
    words = first(TEXT, confidence=True).tokens
    assert all(0 <= word.confidence["head"] <= 1 for word in words)


def test_stages_that_are_not_calibrated_are_named(tmp_path, capsys):
    few = make(tokeniser=False, parser=False, tags=SMALL).fit(
        treebank(40), dev=treebank(2, random_state=2)
    )
    few.model_.parts["lemmas"].calibration = Calibration(1.0, 1000, 0.01)
    few.model_.parts["xpos"].calibration = None
    few.model_.parts["upos"].calibration = Calibration(1.0, 1000, 0.0512)
    calls = {
        "a call": lambda nlp: nlp.with_tokeniser(lambda text: [[(0, 4)]])("They", confidence=True),
        "tokens": lambda nlp: nlp.annotate([["They"]], confidence=True),
        "texts": lambda nlp: list(
            nlp.with_tokeniser(lambda text: [[(0, 4)]]).pipe(["They"] * 2, confidence=True)
        ),
    }
    for name, call in calls.items():
        with pytest.warns(UserWarning, match="of this Pipeline are not calibrated") as caught:
            call(few)
        assert len(caught) == 1, name
        told = str(caught[0].message)
        assert "upos: their reliability error was 0.051 on 1,000 parts" in told
        assert "xpos: no dev set has tried them" in told
        assert "lemmas" not in told
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(few.without("tags"))
    few.save(tmp_path / "model")
    assert cli.run(["inspect", str(tmp_path / "model")]) == 0
    shown = capsys.readouterr().out
    assert "not calibrated: reliability error 0.051 on 1,000 held-out parts" in shown
    assert "calibrated on the dev set, temperature 1, reliability error 0.010" in shown


def test_a_dev_set_calibrates_every_stage():
    entities = [
        [(w, f"B-{t}") for w, t in zip(s.words, s.tags, strict=True)] for s in make_treebank(60)
    ]
    dev = treebank(40, random_state=2)
    nlp = make(parser={"order": 1, "hash_bits": 14, **SMALL}, tags=SMALL)
    nlp.fit(treebank(60), dev=dev, entities=entities)
    calibrations = stage_calibrations(nlp)
    assert set(calibrations) == {*nlp.model_.parts} - {"splitter"}
    assert all(calibration is not None for _, calibration in calibrations.values())
    # Of the tokens that it finds in the dev set: how often they begin where gold tokens do.
    texts = list(raw_paragraphs(read_treebank(dev)))
    right = []
    for text, sentences in texts:
        gold = {begin for spans in sentences for begin, _ in spans}
        right += [token.begin in gold for token in nlp(text).surfaces]
    assert calibrations["tokeniser"][1].n_parts == len(right)
    assert calibrations["entities"][1].n_parts == sum(map(len, entities[::5]))


@pytest.mark.parametrize("order", [1, 2])
def test_probabilities_of_arcs_are_shares_of_all_trees(order):
    """All trees of a short sentence, by their scores, are the oracle."""
    nlp = make(parser={"order": order, "hash_bits": 14, "projective": True, **SMALL}).fit(
        treebank(60), dev=treebank(20, random_state=2)
    )
    temperature = nlp.model_.parts["parser"].temperature
    assert temperature is not None  # the dev set gave it
    words = ["The", "cat", "sees", "dogs"]
    trees = nlp.predict_kbest([words], 1_000_000)[0]
    assert [tree for _, tree in trees[:1]] == nlp.predict([words])
    weights = [math.exp((score - trees[0][0]) / temperature) for score, _ in trees]
    doc = nlp.annotate([words], confidence=True)
    stored = nlp.model_.parts["parser"].training["calibration_of_heads"]
    confidence = Calibration.from_dict(stored).confidence
    for place, word in enumerate(doc):
        share = sum(
            w for w, (_, tree) in zip(weights, trees, strict=True) if tree[place][0] == word.head_id
        )
        expected = confidence(min(1.0, share / sum(weights)))
        assert word.confidence["head"] == pytest.approx(expected, rel=1e-6)


def test_a_parser_of_crossing_arcs_has_probabilities_over_projective_trees(nlp):
    assert not nlp.model_.parts["parser"].projective
    assert nlp.model_.parts["parser"].temperature is not None
    assert nlp.model_.parts["lemmas"].temperature is not None
    words = ["The", "cat", "sees", "a", "dog", "."]
    corpus = tagged_corpus([nlp.annotate([words]).tokens])
    for heads in nlp.stage("parser").predict_marginals(corpus, least=0.0)[0]:
        assert sum(heads.values()) == pytest.approx(1.0)
    trees = nlp.predict_kbest([words], 5)[0]
    assert [score for score, _ in trees] == sorted((s for s, _ in trees), reverse=True)
    assert len({str(tree) for _, tree in trees}) == 5


def test_a_parser_may_read_lemmas():
    nlp = make(parser={"lemmas": True, "hash_bits": 14, **SMALL}).fit(treebank(60))
    assert nlp.model_.parts["parser"].lemmas
    assert nlp(TEXT).sentences[0].tree is not None


def test_probabilities_and_lists_of_a_parser_read_the_lemmas_too():
    """The first of the best trees, by arcs alone, is the tree that is predicted."""
    nlp = make(parser={"lemmas": True, "order": 1, "hash_bits": 12, **SMALL}).fit(treebank(20))
    for sentence in treebank(20, random_state=3):
        words = [row[1] for row in sentence]
        ranked = nlp.predict_kbest([words], 2)[0]
        assert ranked[0][0] > ranked[1][0]  # no tie
        assert list(ranked[0][1]) == list(nlp.predict([words])[0])


def test_there_are_projective_trees_however_few_heads_are_left():
    nlp = make(parser={"order": 2, "most_heads": 2, "hash_bits": 10, **SMALL}).fit(treebank(20))
    for sentence in treebank(20, random_state=3):
        words = [row[1] for row in sentence]
        (ranked,) = nlp.predict_kbest([words], 2)
        for _, tree in ranked:
            arcs = [sorted((m, head)) for m, (head, _) in enumerate(tree, 1)]
            assert not any(a < c < b < d for a, b in arcs for c, d in arcs)
        doc = nlp.annotate([words], confidence=True)
        corpus = tagged_corpus([doc.tokens])
        assert ranked
        for heads in nlp.stage("parser").predict_marginals(corpus, least=0.0)[0]:
            assert sum(heads.values()) == pytest.approx(1.0)


def test_nothing_is_an_empty_document(nlp):
    for text in ("", " \n\n "):
        doc = nlp(text)
        assert (len(doc), doc.to_conllu(), doc.rebuilt) == (0, "", text)


def test_without_text_it_says_what_is_missing():
    lines = conllu(30).split("\n")
    bare = corpus_of("bare", "\n".join(x for x in lines if "# text" not in x).encode(), "conllu")
    with pytest.raises(FileError, match="--no-tokeniser"):
        make().fit(bare)
    nlp = make(tokeniser=False, parser=False).fit(bare)
    assert nlp.stages == ("splitter", "tags", "lemmas")
    with pytest.raises(ValueError, match="has no tokeniser"):
        nlp("Fish swim.")


def test_a_checkpoint_keeps_finished_stages(tmp_path):
    bank = treebank(60)
    one = make(checkpoint=tmp_path / "stages").fit(bank)
    names = sorted(path.name for path in (tmp_path / "stages").iterdir())
    assert {"tokeniser.model", "upos.model", "tags", "parser.model"} <= set(names)
    (tmp_path / "stages" / "lemmas.model").unlink()
    two = make(checkpoint=tmp_path / "stages").fit(bank)
    assert two(TEXT).to_conllu() == one(TEXT).to_conllu() == make().fit(bank)(TEXT).to_conllu()
    for number, nlp in enumerate((one, two)):
        nlp.save(tmp_path / str(number))
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    folder, plain = tmp_path / "stages", {"parser": False, "tokeniser": False}
    bank, people = treebank(20), [[("Ann", "B-PER"), ("sleeps", "O")]]
    make(checkpoint=folder, **plain).fit(bank, entities=people)
    kept = {path: path.read_bytes() for path in folder.iterdir()}
    others = [
        (bank, {"folds": 3}, {"entities": people}, "folds was 2 and is 3"),
        (bank, {"tags": {**SMALL, "prune": 0.5}}, {"entities": people}, "tags was .*prune"),
        (treebank(19), {}, {"entities": people}, "data"),
        (bank, {}, {"entities": people * 2}, "data"),
        (bank, {}, {"entities": people, "dev": treebank(3)}, "data"),
        (bank, {}, {}, "data"),
    ]
    for treebank_, options, more, differs in others:
        told = rf"stages: .*another training run \({differs}.*\); delete the folder"
        with pytest.raises(FileError, match=told):
            make(checkpoint=folder, **{**plain, **options}).fit(treebank_, **more)
    assert kept == {path: path.read_bytes() for path in folder.iterdir()}
    (folder / "upos.model.123.part").write_bytes(b"half")  # of a process that was killed
    make(checkpoint=folder, n_jobs=2, verbose=1, **plain).fit(bank, entities=people)
    assert kept == {path: path.read_bytes() for path in folder.iterdir()}
    (folder / "upos.model").write_bytes(b"damaged")
    with pytest.raises(FileError, match=r"upos\.model: .*; delete the file to do this stage again"):
        make(checkpoint=folder, **plain).fit(bank, entities=people)


def test_a_checkpoint_that_cannot_be_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "stages"):
        with pytest.raises(FileError, match="cannot be the folder of a checkpoint"):
            make(checkpoint=path).fit(treebank(10))


def test_formats_of_files(nlp, tmp_path):
    source = tmp_path / "in.txt"
    source.write_text(TEXT * 3, encoding="utf-8")
    found = {}
    for format in ("conllu", "json", "html", "text"):
        out = io.BytesIO()
        assert nlp.label_file(source, out, format=format) == len(nlp(TEXT * 3))
        found[format] = out.getvalue().decode()
    check_conllu(found["conllu"])
    assert found["conllu"].count("# newdoc") == 1
    text = TEXT * 3
    for line in found["json"].splitlines():
        row = json.loads(line)
        assert text[row["begin"] : row["end"]] == row["text"]
        assert [text[t["begin"] : t["end"]] for t in row["tokens"]] == [
            t["text"] for t in row["tokens"]
        ]
    assert found["html"].count("<svg") == len(nlp(text).sentences)
    assert found["text"].startswith("They don't !\n")


BITS = [
    "They don't!", "The cat sees a dog.", "cat", "é", "日本。", "…", '."', ",", " ", " ", "  ",
    "\n", "\r\n", "\n\n", "\r\n \r\n", "\u2028", "\f", "abcdefghij" * 4, " " * 40,
]  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(BITS), max_size=40), st.integers(1, 60))
def test_long_paragraphs_are_cut_alike_everywhere(nlp, tmp_path_factory, bits, size):
    """Whatever is read at a time, in a file, in a call that is cut, in one that is not."""
    text = "".join(bits)
    path = tmp_path_factory.mktemp("long") / "x.txt"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokeniser, "_MOST", 32)
        whole = nlp(text)
        pieces = list(files.cut_text((text[k : k + size] for k in range(0, len(text), size)), size))
        assert "".join(pieces) == text
        if not re.search(rf"\s{{{8 * size}}}", text):  # more blanks are not waited for
            for n in (1, 2):
                joined = Doc("")
                for doc in nlp.pipe(pieces, n):
                    joined.append(doc)
                assert joined.to_conllu() == whole.to_conllu()
            patch.setattr(annotating, "_BATCH", 2 * size)
            assert nlp(text).to_dict() == whole.to_dict()
        patch.setattr(files, "_SIZE", size + 20)
        out = io.BytesIO()
        nlp.label_file(path, out)
    if not re.search(r"\s{100}", text):
        assert out.getvalue().decode() == whole.to_conllu()


@pytest.mark.parametrize("format", files.FORMATS)
def test_documents_of_files_are_freed_without_a_search_for_garbage(nlp, tmp_path, format):
    path = tmp_path / "x.txt"
    path.write_text(TEXT)

    def parts():
        kinds = (Doc, DocSentence, Surface, Token)
        return sum(type(it) in kinds for it in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = parts()
        nlp.label_file(path, io.BytesIO(), format=format)
        assert parts() == before
    finally:
        gc.enable()


def few_or_many(nlp, text):
    """Return the annotation of a text by what is kept for single calls, and by that of batches."""
    found = [nlp(text).to_dict()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(annotating, "_FEW", -1)
        patch.setattr(tokeniser, "_FEW", -1)
        found.append(nlp(text).to_dict())
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*BITS, "I'm", "Zyx", "123", "didn't"]), max_size=20))
def test_a_short_text_has_the_answers_of_long_ones(nlp, bits):
    for text in (" ".join(bits), "".join(bits)):
        one, other = few_or_many(nlp, text)
        assert one == other


def test_short_texts_of_pipelines_with_stages_left_out(nlp):
    for left_out in [(), ("splitter",), ("tags",), ("lemmas",), ("parser",), ("tags", "parser")]:
        one, other = few_or_many(nlp.without(*left_out), TEXT)
        assert one == other


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("They don't! The cat sees a dog. " * 2000, ("The", "They")),
        ("They don't! The cat of Dr. Who\nsees a dog.\n" * 2000, ("They",)),
        ("the cat sees a dog\n" * 2000, ("the cat",)),
        ("cat " * 9000, ("cat",)),
        ("猫がいる。" * 9000, ("猫",)),
    ],
)
def test_long_paragraphs_are_cut_where_sentences_seem_to_begin(text, behind):
    segments = list(tokeniser.paragraphs(text))
    assert len(segments) > 1
    for characters, places in segments:
        assert characters.startswith(behind)
        assert len(characters) == len(places) <= 1 << 14
        assert text[places[0] : places[-1] + 1] == characters
    assert "".join("".join(c for c, _ in segments).split()) == "".join(text.split())


def test_pieces_are_bounded_whatever_the_file(tmp_path):
    path = tmp_path / "x.txt"
    for text in ("word " * 800_000, "x" * 4_000_000, "a line\n" * 600_000, "\n " * 2_000_000):
        path.write_text(text)
        sizes = [len(piece) for piece in text_pieces(path)]
        assert sum(sizes) == len(text)
        assert max(sizes) < 1.3e6


@pytest.mark.parametrize(
    ("data", "told"), [(b"ab\xff", "not valid UTF-8"), (b"a\0b", "NUL"), (b"a\xc3", "torn")]
)
def test_files_that_are_no_text_are_refused(nlp, tmp_path, data, told):
    (tmp_path / "x.txt").write_bytes(data)
    with pytest.raises(FileError, match=told):
        nlp.label_file(tmp_path / "x.txt", io.BytesIO())


PEOPLE = [
    [("Ann", "B-PER"), ("sees", "O"), ("Bob", "B-PER"), ("Smith", "I-PER"), (".", "O")],
    [("The", "O"), ("cat", "O"), ("sees", "O"), ("Ann", "B-PER"), (".", "O")],
    [("They", "O"), ("do", "O"), ("n't", "O"), ("see", "O"), ("Bob", "B-PER"), ("!", "O")],
] * 10


def test_entities_are_a_layer_of_their_own(tmp_path):
    plain = make(parser=False).fit(treebank(60))
    assert plain(TEXT).sentences[0].entities == []
    assert "NE=" not in plain(TEXT).to_conllu()
    nlp = make(parser=False).fit(treebank(60), entities=PEOPLE)
    assert nlp.stages == ("tokeniser", "splitter", "tags", "lemmas", "entities")
    nlp.save(tmp_path / "m.model", "float32")
    for one in (nlp, structlearn.load(tmp_path / "m.model")):
        doc = one.annotate([["Ann", "sees", "Bob", "Smith", "."], ["They", "do", "n't", "."]])
        found = [(e.label, [token.text for token in e]) for e in doc.sentences[0].entities]
        assert found == [("PER", ["Ann"]), ("PER", ["Bob", "Smith"])]
        assert doc.sentences[1].entities == []
    written = doc.to_conllu()
    assert "\tNE=B-PER" in written
    check_conllu(written, relations=False)
    words = doc.to_dict()["sentences"][0]["tokens"]
    assert [w.get("entity") for w in words] == ["B-PER", None, "B-PER", "I-PER", None]
    assert "NE=" not in nlp.without("entities").annotate([["Ann", "sees", "."]]).to_conllu()
    sure = nlp.annotate([["Ann", "sees", "."]], confidence=True).tokens
    assert all(0 < word.confidence["entity"] <= 1 for word in sure)
    with pytest.raises(ValueError, match="learned from a file in columns"):
        make(parser=False, tokeniser=False).fit(treebank(20), entities=treebank(20))
