"""Templates: the grammar, and the features they give against those worked out in Python."""

from __future__ import annotations

import array
import itertools
import json
import re
import sys
import tracemalloc
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn import _core
from structlearn.exceptions import FileError, LineError
from structlearn.text import Corpus, FeatureTemplates, load_templates
from structlearn.text.corpus import column_names
from structlearn.text.presets import PRESETS
from tests.text.feature_reference import feature_names, letter_kind
from tests.text.text_strategies import REPEATABLE

FUNCTIONS = {
    "half": lambda s: s[: len(s) // 2],
    "letters": lambda s: list(s),
    "none": lambda s: None,
    "twice": lambda s: (s, "", s + s),
}
PHRASES = [
    (["new", "york"], "city"),
    (["new", "york", "times"], "paper"),
    (["york"], "town"),
    (["new", "york"], "other"),
    (["times", "square"], "square"),
    (["ä", "ß"], "x-y z"),
    (["a"], "letter"),
]


def parse(text, **options):
    templates = FeatureTemplates.parse(text, functions=FUNCTIONS, **options)
    return templates


def extracted(templates, sentences, transitions=False, format="columns"):
    corpus = Corpus.from_sentences(sentences)
    features = templates.compile(format, corpus.n_columns)
    extractor = _core.Extractor(features, corpus.core)
    return [extractor.names(corpus.core, i, transitions) for i in range(len(corpus))]


# -- random templates on random sentences -------------------------------------------------------

WORDS = st.one_of(
    st.sampled_from(["New", "new", "york", "York", "times", "Times", "square", "a", "ä", "Ä", "ß"]),
    st.sampled_from(["McDonald's", "USA", "1999", "...", "aab--Bb", "語語", "ÄÄää", "٣٣"]),
    st.text("abABzZ019-.'ÄßñЖжΣ語ǅǆ٣Ⅷ\u0301\u00a0\U00010400\U0001f600", min_size=1, max_size=6),
)
SENTENCES = st.lists(
    st.lists(st.tuples(WORDS, st.sampled_from("NVD")), min_size=1, max_size=5),
    min_size=1,
    max_size=3,
)
COLUMNS = st.sampled_from(["word", "pos", "c1", "c2"])


@st.composite
def parts(draw):
    """One attribute at an offset."""
    offset = draw(st.integers(-3, 3))
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return f"{draw(st.sampled_from(['first', 'last', 'bias']))}[{offset}]"
    text = f"{draw(COLUMNS)}[{offset}]" if offset or draw(st.booleans()) else draw(COLUMNS)
    if kind == 1:
        inner = draw(st.sampled_from([text, f"lower({text})"]))
        return f'in({inner}, "places.txt")'
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(
            ["lower", "digits", "prefix", "suffix", "shape", "ngrams", "match", "call"]
        ))  # fmt: skip
        if name in ("prefix", "suffix", "ngrams"):
            text = f"{name}({text}, {draw(st.integers(1, 4))})"
        elif name == "shape":
            text = f"shape({text}{draw(st.sampled_from(['', ', short']))})"
        elif name == "match":
            pattern = draw(st.sampled_from(["^[A-Z]", r"\d", "a|b", ".", r"\/"]))
            text = f"match({text}, /{pattern}/)"
        elif name == "call":
            text = f'call({text}, "{draw(st.sampled_from(sorted(FUNCTIONS)))}")'
        else:
            text = f"{name}({text})"
    return text


LINES = st.builds(
    lambda kind, p: kind + " ".join(p),
    st.sampled_from(["", "", "transition: "]),
    st.lists(parts(), min_size=1, max_size=5),
)


def with_phrases(folder, text):
    path = folder / "places.txt"
    path.write_text("".join(f"{' '.join(words)}\t{name}\n" for words, name in PHRASES))
    return parse(text, folder=str(folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("phrases")


@pytest.mark.parametrize("transitions", [False, True])
def test_features_are_those_of_the_description(folder, transitions):
    @REPEATABLE
    @given(st.lists(LINES, min_size=1, max_size=4), SENTENCES)
    def check(lines, sentences):
        templates = with_phrases(folder, "\n".join(lines))
        expected = [feature_names(templates, s, transitions=transitions) for s in sentences]
        assert extracted(templates, sentences, transitions) == expected

    check()


@pytest.mark.parametrize(
    "text", ["shape(word)", "shape(word, short)", "digits(word)", "lower(word)"]
)
def test_runs_of_equal_characters(text):
    """All words of up to four characters from one of each kind."""
    kinds = "aX1.語"
    words = ["".join(w) for n in range(1, 5) for w in itertools.product(kinds, repeat=n)]
    templates = parse(text)
    sentence = [(w,) for w in words]
    assert extracted(templates, [sentence]) == [feature_names(templates, sentence)]


def test_phrases_in_every_sentence(folder):
    """All sentences of up to four words, some of which begin phrases, end them, or go on."""
    templates = with_phrases(folder, 'in(word, "places.txt")\nin(lower(word[1]), "places.txt")')
    words = ["new", "york", "times", "Square"]
    sentences = [[(w,) for w in s] for n in range(1, 5) for s in itertools.product(words, repeat=n)]
    assert extracted(templates, sentences) == [feature_names(templates, s) for s in sentences]


@REPEATABLE
@given(st.lists(LINES, min_size=1, max_size=3), st.lists(WORDS, min_size=1, max_size=4))
def test_one_text_is_one_template(lines, words):
    """What text() gives parses to the template itself."""
    for line in lines:
        if "in(" in line:
            continue
        (template,) = parse(line).templates
        assert parse(template.text()).templates == [template]


@REPEATABLE
@given(st.lists(LINES, min_size=1, max_size=3), SENTENCES)
def test_plain_data_gives_the_templates_back(lines, sentences):
    templates = parse("\n".join(line for line in [*lines, "bias"] if "in(" not in line))
    again = FeatureTemplates.from_json(json.loads(json.dumps(templates.to_json())))
    assert again.templates == templates.templates
    again.functions = FUNCTIONS
    assert extracted(again, sentences) == extracted(templates, sentences)


def test_features_of_more_than_one_piece():
    """An extractor goes on where the corpus got more strings."""
    templates = parse("lower(word)\nngrams(word, 2)\nword[-1]")
    core = _core.Corpus("columns")
    core.read(b"Fish\nSleep\n\n")
    extractor = _core.Extractor(templates.compile("columns", 1), core)
    core.clear_tokens()
    core.read(b"Sleep\nEels\nFish\n")
    extractor.update()
    expected = feature_names(templates, [("Sleep",), ("Eels",), ("Fish",)])
    assert extractor.names(core, 0) == expected
    core.clear()
    extractor.forget()
    core.read(b"Eels\nBite\n")
    extractor.update()
    assert extractor.names(core, 0) == feature_names(templates, [("Eels",), ("Bite",)])


# -- the grammar --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("word", ["word[0]"]),
        (" word [ -1 ] # the one before", ["word[-1]"]),
        ("word[-2..1]", ["word[-2]", "word[-1]", "word[0]", "word[1]"]),
        ("word[0..1] pos[-1..0]", [
            "word[0] pos[-1]", "word[0] pos[0]", "word[1] pos[-1]", "word[1] pos[0]",
        ]),
        ("prefix(word, 1..3)", [f"prefix(word[0], {n})" for n in (1, 2, 3)]),
        ("suffix(lower(word[1]), 3)", ["suffix(lower(word[1]), 3)"]),
        ("suffix(word[0..1], 1..2)", [
            "suffix(word[0], 1)", "suffix(word[0], 2)", "suffix(word[1], 1)", "suffix(word[1], 2)",
        ]),
        ("shape(word) shape(word,short)", ["shape(word[0]) shape(word[0], short)"]),
        ("digits(word)", ["digits(word[0])"]),
        ("ngrams(word,2..3)", ["ngrams(word[0], 2)", "ngrams(word[0], 3)"]),
        (r"match(word, /^[#\/]$/)", [r"match(word[0], /^[#\/]$/)"]),
        ('call(word, "half")', ['call(word[0], "half")']),
        ("first last[-1] bias", ["first last[-1] bias"]),
        ("transition: pos[0..1]", ["transition: pos[0]", "transition: pos[1]"]),
        ("transition", ["transition[0]"]),
        ("first[0..1]", ["first", "first[1]"]),
    ],
)  # fmt: skip
def test_lines_and_what_they_stand_for(line, texts):
    assert [t.text() for t in parse(line).templates] == texts


def test_a_template_that_stands_twice_counts_once():
    assert len(parse("word\nword[0]\nword[-1..1]\nlower(word)\nlower(word)")) == 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("word[", "an offset expected at the end"),
        ("word[x]", "an offset expected before 'x]'"),
        ("word[1", "']' expected at the end"),
        ("word[2..1]", "the range 2..1 is empty"),
        ("word[1001]", "an offset beyond 1000"),
        ("word]", "a column or a function expected before ']'"),
        ("lower(word", "'\\)' expected at the end"),
        ("lower()", "a column or a function expected before '\\)'"),
        ("lower(word, 2)", "'\\)' expected before ', 2\\)'"),
        ("prefix(word)", "',' expected before '\\)'"),
        ("prefix(word, x)", "a length expected before 'x\\)'"),
        ("prefix(word, 0)", "prefix takes lengths from 1 to 100"),
        ("suffix(word, 1..101)", "suffix takes lengths from 1 to 100"),
        ("shape(word, long)", "'short' expected before 'long\\)'"),
        ("match(word, a)", "a regular expression between slashes expected before 'a\\)'"),
        ("match(word, /(/)", r"the regular expression /\(/: missing \)"),
        ("match(word, /a)", "cannot read '/a\\)'"),
        ("upper(word)", "there is no function 'upper'; functions are call, digits, in, lower, m"),
        ("in(word, places)", "a name between double quotes expected before 'places"),
        ('in(suffix(word, 2), "x")', r"in\(\) takes a column, or lower\(\) of one"),
        ("lower(first)", r"lower\(\) cannot be applied to 'first'"),
        ('in(lower(lower(word)), "x")', r"in\(\) takes a column, or lower\(\) of one"),
        ('lower(in(word, "x"))', r"lower\(\) cannot be applied to"),
        ("word $", r"cannot read '\$'"),
        ("transition:", "a column or a function expected at the end"),
        ("1", "a column or a function expected before '1'"),
    ],
)  # fmt: skip
def test_bad_lines_are_named(tmp_path, line, message):
    path = tmp_path / "my templates"
    path.write_text(f"# mine\n\nword\n{line}\nword[1]\n")
    with pytest.raises(FileError, match=message) as caught:
        load_templates(path)
    assert str(caught.value).startswith(f"{path}, line 4: ")


def test_files_of_templates(tmp_path):
    path = tmp_path / "t"
    path.write_bytes("\ufeffword # a\r\n\r\npos[1]\r\n".encode())
    assert [t.text() for t in load_templates(path).templates] == ["word[0]", "pos[1]"]
    path.write_text("# nothing\n")
    with pytest.raises(FileError, match="t: the file contains no templates"):
        load_templates(path)
    path.write_bytes(b"word\xff")
    with pytest.raises(FileError, match="t: not valid UTF-8"):
        load_templates(path)
    with pytest.raises(ValueError, match=r"features must be one of .*pos.* there is no file 'no'"):
        load_templates("no")


def test_columns_and_functions_that_do_not_exist():
    with pytest.raises(ValueError, match="there is no column 'lemma'"):
        parse("lemma").compile("columns", 3)
    with pytest.raises(ValueError, match=r"the function 'gone', which is not among those given"):
        parse('call(word, "gone")').compile("columns", 3)
    assert parse("lemma").compile("conllu", 10).columns_needed == 3
    assert parse("word[1] pos\nword\nfirst").columns() == ["word", "pos"]
    narrow = Corpus.from_sentences([["a"]]).core
    with pytest.raises(LineError, match="the features read column 3, the file has 1"):
        _core.Extractor(parse("chunk").compile("columns", 3), narrow)


@pytest.mark.parametrize("value", [1, b"x", ["a", None], [1]])
def test_functions_that_return_other_things(value):
    templates = FeatureTemplates.parse('call(word, "f")', functions={"f": lambda s: value})
    with pytest.raises(TypeError):
        extracted(templates, [["a"]])


def test_errors_in_functions_pass_through():
    def fails(s):
        raise KeyError(s)

    templates = FeatureTemplates.parse('call(word, "f")', functions={"f": fails})
    with pytest.raises(KeyError, match="fish"):
        extracted(templates, [["fish"]])


# -- Unicode ------------------------------------------------------------------------------------


def characters():
    """All that can stand in a cell and that the table's version of Unicode may know."""
    for point in range(sys.maxunicode + 1):
        c = chr(point)
        if not 0xD800 <= point <= 0xDFFF and c not in "\n\r\t \v\f\0":
            yield c


def wrong_characters(word, names):
    """The characters of a word whose case or class is another than Python's."""
    low, kind, digit = (name.partition("=")[2] for name in names)
    assert len(low) == len(kind) == len(digit) == len(word)
    for c, *found in zip(word, low, kind, digit, strict=True):
        expected = [
            c.lower() if len(c.lower()) == 1 else found[0],
            letter_kind(c),
            "0" if unicodedata.category(c) == "Nd" else c,
        ]
        if found != expected:
            yield c, found


def test_case_and_classes_of_all_of_unicode():
    """As Python has them; where its Unicode is another version, nothing of the newer characters."""
    everything = "".join(characters())
    words = [everything[i : i + 64] for i in range(0, len(everything), 64)]
    (found,) = extracted(parse("lower(word)\nshape(word)\ndigits(word)"), [words])
    wrong = [bad for pair in zip(words, found, strict=True) for bad in wrong_characters(*pair)]
    if unicodedata.unidata_version == "14.0.0":
        assert wrong == []
    assert len(wrong) < 20_000
    for c, values in wrong:
        assert values == [c, c, c] or unicodedata.category(c) == "Cn"


# -- CRF++ --------------------------------------------------------------------------------------

CRFPP = """
# Unigrams
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U05:%x[-1,0]/%x[0,1]

U10
B
B01:%x[0,1]
"""


def test_templates_of_crfpp():
    templates = parse(CRFPP)
    sentence = [("fish", "N"), ("eat", "V")]
    assert extracted(templates, [sentence]) == [
        [
            ["U00:%x[-2,0]=_B-2", "U01:%x[-1,0]=_B-1", "U02:%x[0,0]=fish",
             "U05:%x[-1,0]/%x[0,1]=_B-1 N", "U10"],
            ["U00:%x[-2,0]=_B-1", "U01:%x[-1,0]=fish", "U02:%x[0,0]=eat",
             "U05:%x[-1,0]/%x[0,1]=fish V", "U10"],
        ]
    ]  # fmt: skip
    assert extracted(templates, [sentence], True) == [[["B01:%x[0,1]=V"]]]
    after = parse("U1:%x[1,0]\nU2:%x[2,0]")
    assert extracted(after, [sentence]) == [
        [["U1:%x[1,0]=eat", "U2:%x[2,0]=_B+1"], ["U1:%x[1,0]=_B+1", "U2:%x[2,0]=_B+2"]]
    ]


MACROS = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(0, 1)).map(lambda m: f"%x[{m[0]},{m[1]}]"),
    min_size=1,
    max_size=6,
)


@REPEATABLE
@given(st.lists(st.tuples(st.sampled_from("UUB"), MACROS), min_size=1, max_size=4), SENTENCES)
def test_macros_of_crfpp(lines, sentences):
    text = "\n".join(f"{k}{i}:{'/'.join(macros)}" for i, (k, macros) in enumerate(lines))
    templates = parse(text)
    again = FeatureTemplates.from_json(json.loads(json.dumps(templates.to_json())))
    for transitions in (False, True):
        expected = [
            [
                [
                    f"{k}{i}:{'/'.join(macros)}=" + " ".join(value(s, t, m) for m in macros)
                    for i, (k, macros) in enumerate(lines)
                    if (k == "B") == transitions
                ]
                for t in range(1 if transitions else 0, len(s))
            ]
            for s in sentences
        ]
        assert extracted(templates, sentences, transitions) == expected
        assert extracted(again, sentences, transitions) == expected


def value(sentence, t, macro):
    row, column = map(int, re.findall(r"-?\d+", macro))
    at = t + row
    if at < 0:
        return f"_B{at}"
    return sentence[at][column] if at < len(sentence) else f"_B+{at - len(sentence) + 1}"


@pytest.mark.parametrize("line", ["U3:%x[0, 0]", "U3:%x[0]", "U3:%m[0,0]", "U3:%x[0,-1]", "U3:%"])
def test_bad_macros(tmp_path, line):
    path = tmp_path / "template"
    path.write_text(f"U00:%x[0,0]\n\n{line}\n")
    with pytest.raises(FileError, match="template, line 3: cannot read the macro"):
        load_templates(path)


def test_what_is_crfpp_and_what_is_ours():
    assert parse("U00:%x[0,0]\n# c\nB").templates[0].marked
    assert not parse("Upper\nB").templates[0].marked  # columns of these names


# -- presets, phrases, vectors ------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_compile_where_their_columns_exist(name):
    templates = load_templates(name)
    corpus = Corpus.from_sentences([[("Eels", "N", "B-X"), ("eat", "V", "O")]])
    templates.learn_lexica(corpus, 2, "_")
    needed = 2 if "pos" in templates.columns() else 1
    assert templates.compile("columns", needed).n_templates == len(templates)
    assert templates.compile("conllu", 10).n_templates == len(templates)
    assert set(templates.columns()) <= set(column_names("columns", 2))
    if needed == 2:
        with pytest.raises(ValueError, match="there is no column 'pos'"):
            templates.compile("columns", 1)
    if templates.of_segments:
        return  # what they find: test_segment_features
    sentence = [("Eels", "N"), ("eat", "V"), ("fish", "N")]
    plain = FeatureTemplates(
        [t for t in templates.templates if all(a.kind != "lexicon" for a, _ in t.atoms)]
    )
    assert extracted(plain, [sentence]) == [feature_names(plain, sentence)]


def test_lists_of_phrases(tmp_path):
    path = tmp_path / "places.txt"
    path.write_bytes("\ufeffNew  York \tcity\r\n\r\nOslo\nBonn\t\n".encode())
    templates = parse('in(word, "places.txt")\nin(lower(word), "places.txt")', folder=str(tmp_path))
    assert templates.phrases == {
        "places.txt": [(["New", "York"], "city"), (["Oslo"], "places"), (["Bonn"], "places")],
        "places.txt lower": [(["new", "york"], "city"), (["oslo"], "places"), (["bonn"], "places")],
    }
    (found,) = extracted(templates, [["in", "New", "York", "OSLO"]])
    assert found == [
        [],
        ['in(word[0], "places.txt")=B-city', 'in(lower(word[0]), "places.txt")=B-city'],
        ['in(word[0], "places.txt")=I-city', 'in(lower(word[0]), "places.txt")=I-city'],
        ['in(lower(word[0]), "places.txt")=B-places'],
    ]
    path.write_text("\n \n")
    with pytest.raises(FileError, match=r"places\.txt: the file contains no phrases"):
        parse('in(word, "places.txt")', folder=str(tmp_path))
    with pytest.raises(FileError, match="gone: no such file"):
        parse('in(word, "gone")', folder=str(tmp_path))


def rows_of(templates, sentences):
    """Names and values of the features, token by token, as training sees them."""
    corpus = Corpus.from_sentences([[(*t, "x") for t in s] for s in sentences])
    features = templates.compile("columns", corpus.n_columns)
    extractor = _core.Extractor(features, corpus.core)
    vocabulary = _core.Vocabulary(features, corpus.n_columns - 1, 0, "_")
    rows = _core.TokenRows()
    vocabulary.add(extractor, corpus.core, rows)
    vocabulary.freeze(0, 0, rows)
    arrays = rows.arrays()
    numbers = [range(a, b) for a, b in itertools.pairwise(arrays["begin"])]
    names = [n for i in range(len(corpus)) for n in extractor.names(corpus.core, i)]
    return [
        [(name, float(arrays["value"][j])) for name, j in zip(token, js, strict=True)]
        for token, js in zip(names, numbers, strict=True)
    ]


def test_vectors(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("2 3\nfish 1 -2.5 0.125\neels 4 5e-1 0\nfish 9 9 9\n")
    templates = parse(
        'vector(word, "vectors.txt")\nword\nvector(lower(word[1]), "vectors.txt")',
        folder=str(tmp_path),
    )
    here, after = 'vector(word[0], "vectors.txt")', 'vector(lower(word[1]), "vectors.txt")'
    fish, eels = (1.0, -2.5, 0.125), (4.0, 0.5, 0.0)
    assert rows_of(templates, [[("fish",), ("Eels",)], [("no",)]]) == [
        [*((f"{here}[{d}]", fish[d]) for d in range(3)), ("word[0]=fish", 1.0)]
        + [(f"{after}[{d}]", eels[d]) for d in range(3)],
        [("word[0]=Eels", 1.0)],
        [("word[0]=no", 1.0)],
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a 1 2\nb 1\n", 2, "1 numbers where 2 are expected"),
        ("a 1 2\nb 1 x\n", 2, "could not convert"),
        ("a\n", 1, "a word and its numbers expected"),
        ("", None, "the file contains no vectors"),
        ("3 4\n", None, "the file contains no vectors"),
    ],
)
def test_bad_vectors(tmp_path, text, line, message):
    path = tmp_path / "v"
    path.write_text(text)
    with pytest.raises(FileError, match=message) as caught:
        parse('vector(word, "v")', folder=str(tmp_path))
    assert caught.value.line == line


def test_vectors_stand_alone(tmp_path):
    (tmp_path / "v").write_text("a 1\n")
    templates = parse('vector(word, "v") word', folder=str(tmp_path))
    with pytest.raises(ValueError, match="a vector cannot be joined with anything"):
        templates.compile("columns", 1)
    templates = FeatureTemplates(parse('vector(word, "v")', folder=str(tmp_path)).templates)
    for names, values, width in ((["a", "a"], [1, 2], 1), (["a"], [1, 2], 1), (["a"], [1], 2)):
        templates.vectors = {"v": (names, array.array("f", values), width)}
        with pytest.raises(ValueError, match="as many vectors as names are needed"):
            templates.compile("columns", 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"word[0..{10**30}]", "the range 0..1000000000000000000000000000000 is too long"),
        ("word[0..999999999]", "the range 0..999999999 is too long"),
        ("prefix(word, 1..999999999)", "the range 1..999999999 is too long"),
        ("word[-1000..1000] " * 3, "the line expands to more than 65,535 templates"),
        ("suffix(prefix(lower(word[-9..0]), 1..100), 1..100)", "more than 65,535 templates"),
        ("lower(" * 5000 + "word" + ")" * 5000, "functions are nested too deeply"),
        ("match(word, /a{9999999999999999999}/)", "the repetition number is too large"),
    ],
)
def test_lines_that_ask_for_too_much(line, message):
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=f"templates, line 1: .*{message}"):
            parse(line)
        assert tracemalloc.get_traced_memory()[1] < 2**26
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("row", [-1001, 1001, -(10**15), 10**30])
def test_macros_too_far_away(row):
    assert parse("U00:%x[-1000,0]").compile("columns", 1).n_templates == 1
    with pytest.raises(FileError, match="templates, line 2: an offset beyond 1000"):
        parse(f"U00:%x[0,0]\nU01:%x[{row},0]")


def test_phrases_in_lower_case_are_lowered_as_words_are(tmp_path):
    """Python's lower() knows a final sigma and an i with two dots; the templates' does not."""
    (tmp_path / "p").write_text("ΟΔΟΣ İstanbul\n")
    templates = parse('in(lower(word), "p")', folder=str(tmp_path))
    (found,) = extracted(templates, [["ΟΔΟΣ", "İstanbul"]])
    assert [names[0].partition("=")[2] for names in found] == ["B-p", "I-p"]


def test_vectors_of_unusual_words(tmp_path):
    """Words with line ends of Unicode in them, as in the vectors that one finds."""
    words = ["a\u2028b", "\x85", "c\x1cd", "\u00a0"]
    path = tmp_path / "v"
    path.write_bytes("".join(f"{w} {i} 0.5 \r\n" for i, w in enumerate(words)).encode())
    names, values, width = parse('vector(word, "v")', folder=str(tmp_path)).vectors["v"]
    assert (names, width) == (words, 2)
    assert list(values) == [0, 0.5, 1, 0.5, 2, 0.5, 3, 0.5]
    for number in ("nan", "inf", "1e60"):
        path.write_text(f"a 1\nb {number}\n")
        with pytest.raises(FileError, match="v: the vector of 'b' is not finite"):
            parse('vector(word, "v")', folder=str(tmp_path))


def test_no_more_than_a_hundred_at_once():
    for text in ("lower(" * 100 + "word" + ")" * 100, "word " * 100):
        templates = parse(text)
        again = FeatureTemplates.from_json(json.loads(json.dumps(templates.to_json())))
        assert again.templates == templates.templates
        assert extracted(again, [["Ab"]]) == extracted(templates, [["Ab"]])
    for text in ("lower(" * 101 + "word" + ")" * 101, "word " * 101):
        with pytest.raises(FileError, match="line 1: more than 100"):
            parse(text)


def test_vectors_are_for_labels_alone(tmp_path):
    """Training took their numbers for 1, labelling did not."""
    (tmp_path / "v").write_text("a 2\n")
    templates = parse('transition: vector(word, "v")', folder=str(tmp_path))
    with pytest.raises(ValueError, match="vectors are for labels, not for label pairs"):
        templates.compile("columns", 1)
