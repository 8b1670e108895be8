"""k-best lists of every task: each output once, best first, probabilities that add up to 1.

The lists are asked for more than there is, so that sums over them are sums over all outputs.
"""

import math
from collections import Counter

import pytest

from structlearn.datasets import make_treebank
from structlearn.exceptions import InfeasibleError
from structlearn.tasks import ConstituencyParser, DependencyParser, SegmentTagger, Tagger
from structlearn.text.trees import Tree, parse_brackets

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*not calibrated", "ignore::structlearn.exceptions.ConvergenceWarning"
)

ALL = 10**6
LEARNERS = ["perceptron", "passive-aggressive", "adagrad", "arow", "svm", "crf"]
BANK = make_treebank(25, random_state=0)


def shares(ranked, temperature):
    """Return the share of each output of a list in proportion to exp(score / T)."""
    best = ranked[0][0]
    terms = [math.exp((score - best) / temperature) for score, _ in ranked]
    return [term / sum(terms) for term in terms]


def assert_list(ranked):
    scores = [score for score, _ in ranked]
    assert scores == sorted(scores, reverse=True)
    repeated = [out for out, n in Counter(str(out) for _, out in ranked).items() if n > 1]
    assert repeated == []


def assert_marginals(found, expected):
    for part in found.keys() | expected.keys():
        assert found.get(part, 0.0) == pytest.approx(expected.get(part, 0.0), abs=1e-7), part


# -- labels and segments --------------------------------------------------------------------------


TAGGERS = {
    "tags": (lambda k: Tagger("pos", k, n_models=1, max_iter=2), "tags"),
    "order 0": (lambda k: Tagger("none", k, n_models=1, order=0, max_iter=2), "tags"),
    "order 2": (lambda k: Tagger("none", k, n_models=1, order=2, max_iter=2), "tags"),
    "candidates": (lambda k: Tagger("pos", k, n_models=1, candidates=3, max_iter=2), "tags"),
    "chunks": (lambda k: Tagger("chunk", k, n_models=1, max_iter=2), "chunks"),
    "iobes": (lambda k: Tagger("ner", k, n_models=1, scheme="iobes", max_iter=2), "chunks"),
}


@pytest.mark.parametrize(
    ("name", "learner"),
    [(name, learner) for name in TAGGERS for learner in LEARNERS]
    + [("tags", "hmm"), ("chunks", "hmm")],
)
def test_labellings(name, learner):
    make, column = TAGGERS[name]
    tagger = Tagger(learner="hmm") if learner == "hmm" else make(learner)
    rows = [[s.words, s.tags, *([s.chunks] if column == "chunks" else [])] for s in BANK]
    tagger.fit([list(zip(*row, strict=True)) for row in rows])
    words = [["the", "fish"], ["fish"]]
    given = [[(w, "N") for w in s] for s in words] if column == "chunks" else words
    temperature = tagger.model_.temperature or 1.0
    for ranked, marginals in zip(
        tagger.predict_kbest(given, ALL), tagger.predict_marginals(given), strict=True
    ):
        assert_list(ranked)
        for t, token in enumerate(marginals):
            expected = Counter()
            for share, (_, labels) in zip(shares(ranked, temperature), ranked, strict=True):
                expected[labels[t]] += share
            assert_marginals(token, expected)
    assert [ranked[0][1] for ranked in tagger.predict_kbest(given, 1)] == tagger.predict(given)


@pytest.mark.parametrize("learner", LEARNERS)
def test_segmentations(learner):
    rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]
    tagger = SegmentTagger(learner=learner, n_models=1, max_iter=2, max_length=3).fit(rows)
    given = [[("the", "DET"), ("fish", "NOUN"), ("sleep", "VERB")], [("fish", "NOUN")]]
    temperature = tagger.model_.temperature or 1.0
    lists = tagger.predict_kbest(given, ALL)
    for ranked, marginals in zip(lists, tagger.predict_marginals(given, least=0.0), strict=True):
        assert_list(ranked)
        expected = Counter()
        for share, (_, labels) in zip(shares(ranked, temperature), ranked, strict=True):
            for segment in segments(labels):
                expected[segment] += share
        assert_marginals(marginals, expected)
    assert [ranked[0][1] for ranked in lists] == tagger.predict(given)


def segments(labels):
    """Return (start, end, type) of labels in IOB2, words outside as segments of their own."""
    starts = [t for t, label in enumerate(labels) if label[0] != "I"]
    ends = [*starts[1:], len(labels)]
    return [(a, b, labels[a][2:] or "O") for a, b in zip(starts, ends, strict=True)]


# -- arcs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "options"),
    [(learner, {"order": 1}) for learner in LEARNERS]
    + [("crf", {"order": 1, "projective": True}), ("crf", {"projective": True})]
    + [("passive-aggressive", {"projective": True}), ("passive-aggressive", {})],
)
def test_trees_of_arcs(learner, options):
    rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
    parser = DependencyParser(
        learner=learner, gold_tags=True, hash_bits=12, max_iter=2, least_share=1e-9, **options
    ).fit(rows)
    given = [[("the", "DET"), ("fish", "NOUN"), ("sleep", "VERB")], [("fish", "NOUN")]]
    lists = parser.predict_kbest(given, ALL)
    marginals = parser.predict_marginals(given, least=0.0)
    for sentence, ranked, words in zip(given, lists, marginals, strict=True):
        assert_list(ranked)
        trees = [tree for _, tree in ranked]
        p = parser.predict_proba([sentence] * len(trees), trees)
        assert sum(p) == pytest.approx(1.0, abs=1e-7)
        for m, word in enumerate(words):
            expected = Counter()
            for share, tree in zip(p, trees, strict=True):
                expected[tuple(tree[m])] += share
            assert_marginals(word, expected)


# -- constituents ---------------------------------------------------------------------------------


def all_trees(words, tags, chains):
    """Return every tree whose nodes have one of these chains of labels, words bare or labelled."""

    def under(chain, children):
        for label in reversed(chain):
            children = [Tree(label, children)]
        return children[0]

    def rows(i, j, whole):
        """Return the rows of children that cover i..j, at least two where they are the whole."""
        if i == j:
            return [[]]
        return [
            [child, *others]
            for end in range(i + 1, j + (not whole))
            for child in nodes(i, end)
            for others in rows(end, j, False)
        ]

    def nodes(i, j):
        if j - i == 1:
            word = Tree(tags[i], (), words[i])
            return [word, *(under(chain, [word]) for chain in chains if chain != ("",))]
        return [under(chain, row) for chain in chains for row in rows(i, j, True)]

    found = nodes(0, len(words))
    return [Tree("", [tree]) if tree.word is not None else tree for tree in found]


TREEBANKS = {
    "bare words": [
        "(NP (VP (V a) (N e)) (N c))", "(VP (V d) (NP (V b)))", "(VP (NP (N b)) (V e))", "(V a)",
    ],
    "nameless roots": ["( (NP (N a)) (V b))", "( (N a) (V b) (N c))", "(NP (N a) (N b))", "(V a)"],
    "only words": ["(V a)", "(N b)"],
    "nameless nodes": ["(S ( (V a)) (N b))", "(S ( (N a) (N b)) (V c))", "(S (S (V a)))"],
}  # fmt: skip
#: Words with their tags, one of them unknown.
SENTENCES = [[("a", "V")], [("a", "V"), ("c", "N")], [("b", "V"), ("x", "N"), ("a", "X")]]


@pytest.mark.parametrize("name", TREEBANKS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_trees_of_spans(name, learner):
    parser = ConstituencyParser(learner, gold_tags=True, min_count=1, max_iter=2)
    parser.fit(TREEBANKS[name] * 2)
    chains = parser.model_.labels[1:]
    given = SENTENCES[: 2 if len(chains) > 4 else 3]
    lists = parser.predict_kbest(given, ALL)
    for sentence, ranked in zip(given, lists, strict=True):
        assert_list(ranked)
        words, tags = zip(*sentence, strict=True)
        expected = all_trees(words, tags, chains)
        assert {str(tree) for _, tree in ranked} == {str(tree) for tree in expected}
        assert_distribution(parser, sentence, ranked)
    assert [ranked[0][1] for ranked in lists] == parser.predict(given)


def assert_distribution(parser, sentence, ranked):
    """Compare every query with the list of all trees, at several temperatures."""
    inputs = parser._inputs([sentence])
    for at in (0.3, 1.0, 3.0):
        p = dict(zip((str(tree) for _, tree in ranked), shares(ranked, at), strict=True))
        top = ranked[0][0]
        total = top + at * math.log(sum(math.exp((s - top) / at) for s, _ in ranked))
        assert inputs.log_partition(at) == [pytest.approx(total, abs=1e-6)]
        trees = [tree for _, tree in ranked[:50]]
        given = [sentence] * len(trees)
        assert parser.predict_proba(given, trees, temperature=at) == pytest.approx(
            [p[str(tree)] for tree in trees], rel=1e-6, abs=1e-12
        )
        nats = -sum(share * math.log(share) for share in p.values() if share > 0)
        assert parser.entropy([sentence], temperature=at) == [pytest.approx(nats, abs=1e-6)]
        spans = Counter()
        for _, tree in ranked:
            for span in {s for s in tree.spans() if s[2]}:
                spans[span] += p[str(tree)]
        (marginals,) = parser.predict_marginals([sentence], least=0.0, temperature=at)
        assert_marginals(marginals, spans)
        n = 3000
        (drawn,) = parser.sample([sentence], n, random_state=0, temperature=at)
        often = Counter(map(str, drawn))
        assert often.keys() <= p.keys()
        for tree, share in p.items():
            spread = 5 * math.sqrt(share * (1 - share) / n) + 2e-3
            assert often[tree] / n == pytest.approx(share, abs=spread)
    # Each labelled span of the best tree is as certain as its marginal.
    at = parser.temperature_ or 1.0
    marginals = parser.predict_marginals([sentence], least=0.0, temperature=at)[0]
    solved = inputs.solve().outputs
    spans = parser._parts_of(inputs, 0, solved[0])
    assert inputs.certainties(solved, at)[0] == pytest.approx([marginals[s] for s in spans])
    assert set(spans) == {s for s in ranked[0][1].spans() if s[2]}


@pytest.mark.parametrize(
    ("vertical", "horizontal", "twice"),
    [(v, h, False) for v in (1, 2) for h in (0, 1, 2)] + [(2, 1, True), (3, 0, True)],
)
def test_trees_of_a_grammar(vertical, horizontal, twice):
    """Against trees listed one by one, with probabilities counted by hand.

    ``twice``: with chains in which a category comes twice, which count once in marginals.
    """
    bank = [
        "(S (NP (N a)) (VP (V b) (NP (N c) (N d))))", "(S (NP (NP (N a)) (N b)) (VP (V c)))",
        "(S (NP (N a) (N b)) (VP (V b)))", "(NP (N a) (N b) (N c))", "(S (VP (V b)))",
    ]  # fmt: skip
    if twice:
        bank += ["(S (NP (NP (N a))) (VP (V b)))", "(S (NP (NP (N a) (N b))) (VP (VP (V b))))"]
    parser = ConstituencyParser("pcfg", gold_tags=True, vertical=vertical, horizontal=horizontal)
    parser.fit(bank)
    trees = [parse_brackets(text)[0] for text in bank]
    rules = Counter(rule for tree in trees for rule in events(tree, vertical, horizontal))
    heads = Counter()
    for (head, _), times in rules.items():
        heads[head] += times

    def probability(tree):
        used = events(tree, vertical, horizontal)
        return math.prod(rules[rule] / heads[rule[0]] if rule in rules else 0.0 for rule in used)

    chains = [("S",), ("NP",), ("VP",), ("S", "VP")]  # others are impossible
    if twice:
        chains += [(k,) * n for k in ("NP", "VP") for n in (2, 3)] + [("S", "VP", "VP")]
    sentences = (["N", "V"], ["N", "N", "V"], ["N", "V", "N"], ["N", "N", "N"])
    for tags in sentences[: 2 if twice else 4]:  # with such chains there are very many trees
        words = list("xyz")[: len(tags)]
        sentence = list(zip(words, tags, strict=True))
        listed = {str(t): probability(t) for t in all_trees(words, tags, chains)}
        listed = {tree: p for tree, p in listed.items() if p > 0}
        (ranked,) = parser.predict_kbest([sentence], ALL)
        assert_list(ranked)
        if not listed:  # the flat tree is a makeshift
            assert [score for score, _ in ranked] == [-math.inf]
            continue
        assert {str(tree) for _, tree in ranked} == listed.keys()
        for score, tree in ranked:
            assert math.exp(score) == pytest.approx(listed[str(tree)], rel=1e-9)
        assert_distribution(parser, sentence, ranked)


def test_a_makeshift_tree_has_no_forbidden_span():
    parser = ConstituencyParser("pcfg", gold_tags=True).fit(["(S (NP (N a)) (VP (V b)))"])
    known, unknown = [("a", "N"), ("b", "V")], [("a", "V"), ("b", "V")]
    with pytest.raises(InfeasibleError, match="input 1: no legal output"):
        parser.predict_kbest([known, known], 1, forbidden=[[], [(0, 2, "S")]])
    (flat,), (first,) = parser.predict_kbest([unknown, known], 1, forbidden=[[], []])
    assert flat[0] == -math.inf
    assert first[0] > -math.inf


def test_an_unknown_tag_makes_no_second_derivation():
    bank = ["(S (NP (N a)) (VP (V b)))", "(S (NP (M a)) (VP (V b)))", "(S (NP (N a) (N b)))",
            "(S (NP (M a) (N b)))", "(S (NP (M a) (NP (N b))))",
            "(S (VP (V a) (NP (N b))))"]  # fmt: skip
    parser = ConstituencyParser("pcfg", gold_tags=True).fit(bank)
    given = [[("x", "?"), ("y", "V")], [("x", "?"), ("y", "N")], [("x", "M"), ("y", "?")]]
    lists = parser.predict_kbest(given, ALL)
    assert max(map(len, lists)) > 1
    for sentence, ranked in zip(given, lists, strict=True):
        assert_list(ranked)
        assert_distribution(parser, sentence, ranked)
    assert [ranked[0][1] for ranked in lists] == parser.predict(given)


def events(tree, vertical, horizontal):
    """Return the choices that make a tree, as (what is given, what is chosen)."""
    found = [("root", tree.label)]

    def visit(node, above):
        given = (node.label, *above[: vertical - 1])
        names = [
            child.label
            if child.word is not None
            else (child.label, *(node.label, *above)[: vertical - 1])
            for child in node.children
        ]
        if len(names) == 1:
            found.append((given, ("one", names[0])))
        for k in range(len(names) - 1):
            before = [child.label for child in node.children[:k]]
            kept = tuple(before[len(before) - horizontal :] if horizontal else [])
            head = given if k == 0 else (given, "rest", kept)
            last = k == len(names) - 2
            found.append((head, ("two", names[k], names[k + 1] if last else "more")))
        for child in node.children:
            if child.word is None:
                visit(child, (node.label, *above))

    visit(tree, ())
    return found
