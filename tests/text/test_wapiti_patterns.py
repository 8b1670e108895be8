"""Wapiti's patterns and expressions, and templates of CRF++ that share their features."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import _core
from structlearn.datasets import make_treebank
from structlearn.exceptions import FileError
from structlearn.tasks import Tagger
from structlearn.text import Corpus, FeatureTemplates

SENTENCE = [("The", "D"), ("Dog", "N"), ("barks", "V")]


def names(text, sentence=SENTENCE, transitions=False):
    """The features of each token."""
    corpus = Corpus.from_sentences([sentence])
    features = FeatureTemplates.parse(text).compile("columns", len(sentence[0]))
    return _core.Extractor(features, corpus.core).names(corpus.core, 0, transitions)


def test_every_command():
    text = "\n".join([
        "# a comment",
        "*",
        "U:before=%x[-1,0]   # made small: the first letter",
        "u:%X[0,0]/%x[1,1]",
        "b:tag=%x[0,1]",
        '*:suf=%m[0,0,".?.?$"]',
        r'u:%t[0,0,"^\u"]%T[0,0,"\d"]',
        "u:%X[@-1,0] %x[@1,0] %x[@2,0] %x[@9,1] %x[@-9,1]",
        "u:far=%x[-5,1] %x[ +4,1]",
        r'u:quote=%m[0,0,"\"*."]',
    ])  # fmt: skip
    assert names(text) == [
        ["*", "u:before=_x-1", "u:the/N", "*:suf=he", "u:truefalse", "u:barks The Dog _x+# _x-#",
         "u:far=_x-# _x+2", "u:quote=T"],
        ["*", "u:before=The", "u:dog/V", "*:suf=og", "u:truefalse", "u:barks The Dog _x+# _x-#",
         "u:far=_x-4 _x+3", "u:quote=D"],
        ["*", "u:before=Dog", "u:barks/_x+1", "*:suf=ks", "u:falsefalse",
         "u:barks The Dog _x+# _x-#", "u:far=_x-3 _x+4", "u:quote=b"],
    ]  # fmt: skip
    assert names(text, transitions=True) == [["b:tag=N", "*:suf=og"], ["b:tag=V", "*:suf=ks"]]


def test_functions_see_what_is_beyond_the_sentence():
    assert names('u:%m[-1,0,"x.*$"]|%t[1,0,"\\p"]|%X[-1,1]', [("A", "B")]) == [["u:x-1|true|_x-1"]]


def test_templates_are_stored():
    templates = FeatureTemplates.parse('*:%m[@-1,0,"a*"] %X[0,1]\nu\n')
    data = json.loads(json.dumps(templates.to_json()))
    assert FeatureTemplates.from_json(data).templates == templates.templates
    for place, value in ((4, "latin"), (5, [1]), (5, ["a"])):
        broken = json.loads(json.dumps(data))
        broken[0][place] = value
        with pytest.raises(ValueError, match=r"invalid template|do not fit together"):
            FeatureTemplates.from_json(broken).compile("columns", 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("u:%x[0,0]\nx:%x[0,0]", r"templates, line 2: a pattern of Wapiti begins with u, b or \*"),
        ("u:%x[0]", "cannot read"),
        ("u:%x[0,0]%y[0,0]", "cannot read 'u:%x"),
        ('u:%x[0,0,"a"]', "%x takes no expression"),
        ("u:%m[0,0]", "%m takes an expression"),
        ("u:%x[-1001,0]", "an offset beyond 1000"),
    ],
)
def test_patterns_that_are_refused(text, message):
    with pytest.raises(FileError, match=message):
        FeatureTemplates.parse(text if "%x[0]" not in text else "u:%x[0,0]\n" + text)


@pytest.mark.parametrize("expression", ["*a", "a**", "a?*", "^*", "\\\\", "a" * 1001])
def test_expressions_that_are_refused(expression):
    text = f'u:%m[0,0,"{expression}"]' if expression != "\\\\" else 'u:%m[0,0,"a\\\\"]'
    if expression == "\\\\":
        assert names(text)  # an escaped backslash is one
        return
    with pytest.raises(ValueError, match="the regular expression"):
        names(text)


def as_python(expression):
    """The same expression in Python's words: * takes as little as it can."""
    marks = "".join(map(chr, [*range(33, 48), *range(58, 65), *range(91, 97), *range(123, 127)]))
    classes = {"a": "A-Za-z", "d": "0-9", "l": "a-z", "u": "A-Z", "w": "A-Za-z0-9"}
    classes |= {"s": r" \t\r\n\f\v", "p": re.escape(marks)}
    out = []
    for part in re.findall(r"\\.|.", expression):
        if part == "*":
            out.append("*?")
        elif part in ("?", ".", "^", "$"):
            out.append({"$": r"\Z"}.get(part, part))
        elif part[0] == "\\" and part[1].lower() in classes:
            name = "" if part[1].islower() else "^"
            out.append(f"[{name}{classes[part[1].lower()]}]")
        else:
            out.append(re.escape(part[-1]))
    return re.compile("".join(out), re.DOTALL)


def read_by_wapiti(parts, to_end, text):
    """Whether the items match at the beginning, and the bytes read: those read in vain count."""
    if not parts:
        return not to_end or not text, 0
    (item, times), rest = parts[0], parts[1:]
    first = bool(as_python("^" + item).match(text))
    if times == "*":
        found, read = read_by_wapiti(rest, to_end, text)
        if not found and first:
            found, read = read_by_wapiti(parts, to_end, text[1:])
            read += 1
        return found, read
    read = 0
    if first:
        found, more = read_by_wapiti(rest, to_end, text[1:])
        read = 1 + more
        if found:
            return found, read
    if times == "?":
        found, more = read_by_wapiti(rest, to_end, text)
        return found, read + more
    return False, read


ITEMS = st.sampled_from(
    [".", "a", "B", "1", "-", r"\a", r"\D", r"\l", r"\p", r"\P", r"\u", r"\w", r"\.", r"\S"]
)


@settings(derandomize=True, deadline=None, database=None, max_examples=300)
@given(
    parts=st.lists(st.tuples(ITEMS, st.sampled_from(["", "", "*", "?"])), max_size=5),
    begin=st.sampled_from(["", "^"]),
    end=st.sampled_from(["", "$"]),
    words=st.lists(st.text("abAB1-. ", min_size=1, max_size=8).map(lambda s: s.replace(" ", "_")),
                   min_size=1, max_size=4),
)  # fmt: skip
def test_expressions_against_pythons(parts, begin, end, words):
    expression = begin + "".join(a + b for a, b in parts) + end
    search = as_python(expression).search
    found = names(f'u:%t[0,0,"{expression}"]|%m[0,0,"{expression}"]|', [(w, "x") for w in words])
    for word, (name,) in zip(words, found, strict=True):
        match, matched = search(word), "|"
        if match:
            found, read = read_by_wapiti(parts, bool(end), word[match.start() :])
            assert found
            rest = word[match.start() :]
            matched = rest[:read] + ("|" if read <= len(rest) else "")
        assert name == f"u:{'true' if match else 'false'}|{matched}"


def test_what_is_read_in_vain_counts_as_with_wapiti():
    assert names('u:%m[0,0,"a?a"]', [("ab", "x")]) == [["u:ab"]]
    assert names('u:%m[0,0,"b?a*b"]', [("bac", "x")]) == [["u:bac"]]
    assert names('u:%m[0,0,"a?a$"]', [("a", "x")]) == [["u:a"]]
    # Beyond the end is a zero byte, and no feature goes on after it.
    assert names('u:%m[0,0,"a?a$"]/%x[0,1]', [("a", "x")]) == [["u:a"]]
    assert names('u:%m[0,0,"a?a$"]/%x[0,1]', [("aa", "x")]) == [["u:aa/x"]]


def test_hopeless_expressions_take_no_time():
    for expression in ("a*" * 30 + "b$", "a?" * 60 + "b$"):
        assert names(f'u:%t[0,0,"{expression}"]', [("a" * 3000, "x")]) == [["u:false"]]


def test_torn_characters_are_shown():
    assert names('u:%m[0,0,".$"]', [("é", "x")]) == [["u:\ufffd"]]


# -- learning -------------------------------------------------------------------------------------


def test_taggers_learn_with_patterns(tmp_path):
    bank = make_treebank(200, random_state=0)
    sentences = [list(zip(s.words, s.tags, strict=True)) for s in bank]
    path = tmp_path / "patterns"
    path.write_text(
        '*\nu:w=%X[0,0]\nu:%x[-1,0]\nu:%x[1,0]\nu:s=%m[0,0,".?.?$"]\nb:s=%m[0,0,".$"]\n'
    )
    tagger = Tagger(features=path, learner="crf", names=True).fit(sentences[:150])
    assert tagger.evaluate(sentences[150:])["accuracy"] > 0.8
    names = [row["feature"] for row in tagger.top_features(tagger.classes_[0], 50)]
    assert all(name[0] in "u*" for name in names)
    tagger.save(tmp_path / "model")
    from structlearn import load

    words = [[(w,) for w, _ in s] for s in sentences[150:]]
    assert load(tmp_path / "model").predict(words) == tagger.predict(words)


def test_crfpp_templates_that_begin_alike_are_bags_of_words():
    assert names("U:%x[-1,0]\nU:%x[1,0]\nU00:%x[0,0]") == [
        ["U:_B-1", "U:Dog", "U00:%x[0,0]=The"],
        ["U:The", "U:barks", "U00:%x[0,0]=Dog"],
        ["U:Dog", "U:_B+1", "U00:%x[0,0]=barks"],
    ]
    corpus = Corpus.from_sentences([[("a", "X"), ("b", "Y")]])
    features = FeatureTemplates.parse("U:%x[-1,0]\nU:%x[1,0]").compile("columns", 2)
    assert _core.Extractor(features, corpus.core).names(corpus.core, 0)[0] == ["U:_B-1", "U:b"]


def test_which_tool_templates_are_for():
    """What both tools could have is CRF++'s."""
    kinds = {
        "U00:%x[0,0]\nB": "",
        "u:%x[0,0]": "wapiti",
        "U:%x[0,0]\n*": "wapiti",
        "U:%X[0,0]": "wapiti",
        "U:%x[@1,0]": "wapiti",
    }
    for text, kind in kinds.items():
        assert FeatureTemplates.parse(text).templates[0].spelling == kind
