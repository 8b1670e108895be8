"""Bracketed trees: reading, writing, cleaning, joining unary chains, and what is refused."""

import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.exceptions import FileError
from structlearn.text.bracket_treebank import read_trees
from structlearn.text.tree_rules import RuleCounts
from structlearn.text.trees import Tree, parse_brackets, tree_from_spans

PENN = """
( (S
    (NP-SBJ-1 (DT The) (NN cat))
    (VP (VBD was)
      (VP (VBN seen)
        (NP (-NONE- *-1))))
    (. .)))
"""


def test_penn_trees_over_several_lines():
    (tree,) = parse_brackets(PENN)
    assert tree.label == "S"
    assert tree.words == ["The", "cat", "was", "seen", "*-1", "."]
    assert (
        tree.cleaned()
        == parse_brackets("(S (NP (DT The) (NN cat)) (VP (VBD was) (VP (VBN seen))) (. .))")[0]
    )
    assert tree.cleaned(functions=True).children[0].label == "NP-SBJ-1"
    assert tree.cleaned(traces=True).words[-2] == "*-1"


def test_files_plain_compressed_and_from_standard_input(tmp_path, monkeypatch):
    plain, packed = tmp_path / "a.mrg", tmp_path / "b.mrg.gz"
    plain.write_text(PENN + "(S (X b))(TOP (S (X c)))\n")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    trees = read_trees(plain)
    assert [(str(t)[:6], line) for t, line in trees] == [
        ("(S (NP", 2),
        ("(S (X ", 8),
        ("(S (X ", 8),
    ]
    assert read_trees(packed) == trees

    class Pipe:
        buffer = io.BufferedReader(io.BytesIO(plain.read_bytes()))

    monkeypatch.setattr("sys.stdin", Pipe())
    assert read_trees("-") == trees


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (X a))\n(S (X b)", "line 2: sentence 2, which begins here, is not closed"),
        ("(S (X a)))\n", "line 1: sentence 2: a closing bracket"),
        ("(S\n (NP ) (X a))", r"line 2: sentence 1: the node \(NP\) is empty"),
        ("(S (X a))\n()", "line 2: sentence 2 is empty"),
        ("word (S (X a))", "line 1: sentence 1: 'word' is outside of"),
        ("(S (X a b))", "line 1: sentence 1: 'b' is next to"),
        ("(S a (X b))", "line 1: sentence 1: the word 'a' is next to"),
        ("(S (X b) a)", "line 1: sentence 1: 'a' is next to"),
        ("(A " * 10_001, "line 1: sentence 1: more than 10000 nodes"),
        ("", "no sentences"),
    ],
)
def test_files_that_are_no_trees(tmp_path, text, message):
    path = tmp_path / "bad.mrg"
    path.write_text(text)
    with pytest.raises(FileError, match=message) as error:
        read_trees(path)
    assert "bad.mrg" in str(error.value)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "bad.mrg"
    path.write_bytes(b"(S (X \xff\xfe))")
    with pytest.raises(FileError, match="line 1: not valid UTF-8"):
        read_trees(path)


def test_spans_of_a_tree():
    (tree,) = parse_brackets("(S (NP (NP (N a))) (VP (V b) (NP (N c))) (. .))")
    assert tree.spans() == [
        (0, 4, "S"), (0, 1, "NP"), (0, 1, "NP"), (1, 3, "VP"), (2, 3, "NP"),
    ]  # fmt: skip
    assert tree.collapsed()[1] == (0, 1, ("NP", "NP"))


labels = st.sampled_from(["S", "NP", "VP", "X"])
nodes = st.recursive(
    st.builds(lambda word: Tree("T", (), word), st.sampled_from(["a", "b", "c"])),
    lambda inner: st.builds(Tree, labels, st.lists(inner, min_size=1, max_size=4)),
    max_leaves=12,
)


@given(tree=st.builds(Tree, labels, st.lists(nodes, min_size=1, max_size=4)))
@settings(derandomize=True, deadline=None, database=None, max_examples=150)
def test_joining_chains_is_undone_exactly(tree):
    assert tree_from_spans(tree.words, tree.tags, tree.collapsed()) == tree
    assert parse_brackets(str(tree)) == [tree]


def test_words_without_a_tree_get_a_nameless_node():
    tree = tree_from_spans(["a", "b"], ["X", "Y"], [])
    assert str(tree) == "( (X a) (Y b))"
    assert parse_brackets(str(tree)) == [tree]


def test_two_trees_in_one_bracket():
    with pytest.raises(ValueError, match="line 1: sentence 1: 2 trees in one pair of brackets"):
        parse_brackets("((S (N a)) (S (N b)))")
    with pytest.raises(ValueError, match="line 2: sentence 2: 3 trees in one pair of brackets"):
        parse_brackets("(S (N a))\n((S (N a)) (NP (N b)) (S (N b)))")
    # A nameless node over words and constituents is one tree; so is one with a name.
    for one in ("( (NP (N a)) (. .))", "(X (S (N a)) (S (N b)))", "( (S (N a)))"):
        assert len(parse_brackets(one)) == 1


def test_wrappers_inside_each_other():
    """What is left out once would be left out again when the tree is written and read."""
    for text in ("( ((D y)))", "(TOP (S1 (D y)))", "( ( (ROOT (D y))))"):
        assert str(parse_brackets(text)[0]) == "(D y)"
    with pytest.raises(ValueError, match="line 1: sentence 1: 2 trees in one pair of brackets"):
        parse_brackets("( ((S (N a)) (S (N b))))")


def test_trees_deeper_than_functions_may_call_each_other():
    n = 5000
    text = "(S-TOP (X a) " * n + "(X b) (-NONE- *)" + ")" * n
    tree = parse_brackets(text)[0]
    assert str(tree) == text
    clean = tree.cleaned()
    assert clean.words == ["a"] * n + ["b"]
    assert clean.spans() == [(i, n + 1, "S") for i in range(n)]
    rules = RuleCounts([clean], vertical=3).rules()
    assert len(rules["symbols"]) == 4  # X, and S below none, one and two
