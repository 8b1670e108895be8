"""The text that a treebank was made from."""

import os
import pathlib

import pytest

from structlearn.exceptions import FileError
from structlearn.text.corpus import corpus_of, read_corpus
from structlearn.text.surface import raw_paragraphs, raw_text, surface

EXAMPLE = """\
# newdoc
# newpar
# text = We don't.
1\tWe\t_\t_\t_\t_\t_\t_\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tdo\t_\t_\t_\t_\t_\t_\t_\t_
3\tn't\t_\t_\t_\t_\t_\t_\t_\t_
4\t.\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No

# text = 1 000 men
1\t1 000\t_\t_\t_\t_\t_\t_\t_\t_
1.1\tempty\t_\t_\t_\t_\t_\t_\t_\t_
2\tmen\t_\t_\t_\t_\t_\t_\t_\t_

# newpar id = 2
# text = So?
1\tSo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\t?\t_\t_\t_\t_\t_\t_\t_\t_

"""


def corpus(text=EXAMPLE):
    return corpus_of("example.conllu", text.encode(), "conllu")


def test_tokens_and_their_words():
    sentence = surface(corpus(), 0)
    assert sentence.tokens == [("We", 0, 1, True), ("don't", 1, 3, False), (".", 3, 4, False)]
    assert sentence.begins == "document"
    assert sentence.rebuilt == sentence.text == "We don't."
    assert surface(corpus(), 1).tokens == [("1 000", 0, 1, True), ("men", 1, 2, True)]


def test_paragraphs_are_put_together_with_the_places_of_tokens():
    (first, sentences), (second, _) = raw_paragraphs(corpus())
    assert (first, second) == ("We don't.1 000 men", "So?")
    assert [[first[a:b] for a, b in spans] for spans in sentences] == [
        ["We", "don't", "."],
        ["1 000", "men"],
    ]
    assert raw_text(corpus()) == "We don't.1 000 men\n\nSo?\n\n"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("# text = So?\n", "", "no comment '# text"),
        ("# text = So?", "# text = Si?", "the token 'So' is not where '# text' has 'Si?'"),
        ("# text = So?", "# text = So? no", "goes on after the last token"),
        ("2-3\tdon't", "3-4\tdon't", "the range 3-4"),
        ("2-3\tdon't", f"2-{'9' * 5000}\tdon't", "the range 2-9999"),
    ],
)
def test_what_does_not_fit_is_refused(old, new, told):
    assert old in EXAMPLE
    with pytest.raises(FileError, match=r"example\.conllu") as error:
        list(raw_paragraphs(corpus(EXAMPLE.replace(old, new))))
    assert told in str(error.value)


@pytest.mark.skipif("STRUCTLEARN_DATA" not in os.environ, reason="STRUCTLEARN_DATA is not set")
def test_every_sentence_of_a_treebank_is_its_text():
    path = pathlib.Path(os.environ["STRUCTLEARN_DATA"]) / "ud_en_ewt" / "test.conllu.gz"
    test = read_corpus(path)
    for number in range(len(test)):
        sentence = surface(test, number)
        # SpaceAfter does not say which blank it was; one of them here is a no-break space.
        assert sentence.rebuilt.split() == sentence.text.split()
    for text, sentences in raw_paragraphs(test):
        at = 0
        for begin, end in (span for spans in sentences for span in spans):
            assert not text[at:begin].strip()
            at = end
