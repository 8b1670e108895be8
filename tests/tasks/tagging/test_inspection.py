"""What inspection says is what the weights say."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from structlearn.estimators import HMM
from structlearn.structures import Chain
from structlearn.tasks import Tagger
from structlearn.tasks.inspection import inspect_task, task_facts
from structlearn.text import FeatureTemplates
from structlearn.text.phrases import Phrases
from tests.tasks.tagging.tagger_data import (
    TEMPLATES,
    chunked,
    explained_decisions,
    feature_lists,
    label_numbers,
    labels_of,
    score_blocks,
    sequence_score,
    table_of,
    tagged,
    weights_by_name,
)


def templates(more=""):
    return FeatureTemplates.parse(TEMPLATES + more)


@pytest.fixture(scope="module")
def tagger():
    return Tagger(templates(), max_iter=3).fit(tagged(60))


def heaviest(tagger, n):
    """(name, weight) of the heaviest features, by label."""
    found = {}
    for row in tagger.top_features(n=n):
        found.setdefault(row["label"], []).append((row["feature"], row["weight"]))
    return found


def inspect_text(tagger, **options):
    return inspect_task(tagger, **options)


def inspect_html(tagger, **options):
    return inspect_task(tagger, page=True, **options)


# -- summaries ------------------------------------------------------------------------------------


def test_top_features(tagger):
    top = 6
    found = heaviest(tagger, top)
    weights = weights_by_name(tagger.model_)
    assert list(found) == tagger.model_.labels
    for label, shown in found.items():
        for name, w in shown:
            assert weights[name, label] == w
        assert len({name for name, _ in shown}) == len(shown)
        mine = sorted((abs(w) for (_, k), w in weights.items() if k == label), reverse=True)
        assert [abs(w) for _, w in shown] == mine[:top]
    assert any(w < 0 for shown in found.values() for _, w in shown)


def test_transitions(tagger):
    found = {(row["before"], row["after"]): row["weight"] for row in tagger.transitions()}
    model = tagger.model_
    for a, row in zip(model.labels, table_of(model, "transition1"), strict=True):
        assert [found[a, b] for b in model.labels] == row.tolist()
    assert [found["(start)", k] for k in model.labels] == table_of(model, "start").tolist()
    assert [found[k, "(end)"] for k in model.labels] == table_of(model, "end").tolist()


def test_one_label(tagger):
    assert {row["label"] for row in tagger.top_features("NN")} == {"NN"}
    for shown in (tagger.top_features, lambda label: inspect_task(tagger, labels=[label])):
        with pytest.raises(ValueError, match="no label 'QQ'"):
            shown("QQ")


def test_facts(tagger):
    facts = dict(task_facts(tagger))
    seen = {name for rows in feature_lists(tagged(60)) for row in rows for name in row}
    weights = len(weights_by_name(tagger.model_))
    assert facts["features"] == f"{len(seen):,}; {weights:,} weights other than 0"
    assert facts["trained on"].startswith("60 sentences")
    assert facts["trained on"].endswith("3 passes")


def test_a_hidden_markov_model_shows_its_words():
    sentences, test = tagged(60), tagged(10, seed=1)
    tagger = Tagger(learner="hmm").fit(sentences)
    hmm = HMM().fit([[word for word, _ in s] for s in sentences], labels_of(sentences))
    words = sorted({word for sentence in sentences for word, _ in sentence})
    scores = hmm.emissions_.scores(words)
    for k, shown in enumerate(heaviest(tagger, 4).values()):
        assert [w for _, w in shown] == pytest.approx(sorted(scores[:, k])[:-5:-1], abs=1e-5)
        for name, w in shown:
            at = words.index(name.removeprefix("word="))
            assert w == pytest.approx(scores[at, k], abs=1e-5)
    facts = dict(task_facts(tagger))
    assert facts["words"].startswith(f"{len(words):,};")
    assert "pass" not in facts["trained on"]
    given = {k: i for i, k in enumerate(map(str, hmm.classes_))}
    for sentence, decisions in zip(test, explained_decisions(tagger, test), strict=True):
        rows = hmm.emissions_.scores([word for word, _ in sentence])
        for row, d in zip(rows, decisions, strict=True):
            found = dict(d.contributions)
            assert d.margin == pytest.approx(sum(found.values()))
            assert found[f"word given {d.label}"] == pytest.approx(row[given[d.label]], abs=1e-5)


# -- explanations ---------------------------------------------------------------------------------


def explained(tagger, sentences, blocks, order=1):
    """Check every decision against the scores of whole labellings."""
    model = tagger.model_
    shown = np.array(model.shown)
    n_checked = 0
    numbers = label_numbers(model, tagger._read_input(sentences))
    predicted = tagger.predict(sentences)
    for s, (decisions, theta) in enumerate(
        zip(explained_decisions(tagger, sentences), blocks, strict=True)
    ):
        y = numbers[s]
        value = sequence_score(theta, y, order)
        assert [d.label for d in decisions] == predicted[s]
        for t, decision in enumerate(decisions):
            masked = {**theta, "label": np.array(theta["label"])}
            # The best labelling that is written otherwise here.
            masked["label"][t, shown == decision.label] = -np.inf
            best = Chain(order=order).solve(**masked)
            assert decision.runner_up == shown[best.output[t]] != decision.label
            assert decision.margin == pytest.approx(value - best.value, abs=1e-6)
            if np.isfinite(decision.margin):
                total = sum(d for _, d in decision.contributions)
                assert total == pytest.approx(decision.margin, abs=1e-6)
            sizes = [abs(d) for _, d in decision.contributions]
            assert sizes == sorted(sizes, reverse=True)
            n_checked += 1
    return n_checked


def blocks_of(tagger, sentences):
    return [score_blocks(tagger.model_, rows) for rows in feature_lists(sentences)]


@pytest.mark.parametrize("options", [{}, {"order": 2}, {"order": 3}])
def test_contributions_add_up_to_the_margin(options):
    coarse = [[(w, k[0] if k[0] in "NVD" else "X") for w, k in s] for s in tagged(40)]
    tagger = Tagger(templates(), max_iter=3, **options).fit(coarse)
    test = tagged(10, seed=1)
    order = options.get("order", 1)
    assert explained(tagger, test, blocks_of(tagger, test), order) > 50


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
def test_forbidden_labels_are_no_runners_up(scheme):
    tagger = Tagger(templates(), max_iter=3, scheme=scheme).fit(chunked(40))
    test = chunked(10, seed=1)
    assert explained(tagger, test, blocks_of(tagger, test)) > 50


def test_chunks_are_shown_in_the_scheme_of_the_file():
    """A model of IOBES speaks of the labels that it writes, S- and B- as one."""
    tagger = Tagger(templates(), max_iter=3, scheme="iobes").fit(chunked(40))
    model, test = tagger.model_, chunked(10, seed=1)
    within, written = set(model.labels), set(tagger.classes_)
    assert {"S-NP", "E-NP"} <= within - written
    for sentence, p in zip(tagger.explain(test), tagger.predict_marginals(test), strict=True):
        for d in sentence:
            assert {d["label"], d["runner_up"]} <= written
            assert d["probability"] == pytest.approx(p[d["position"]][d["label"]], abs=1e-9)
            names = " ".join(name for name, _ in d["contributions"] if name.startswith("label"))
            assert not re.search(r"\b[SE]-", names)
    weights = weights_by_name(model)
    rows = tagger.top_features("B-NP", 6)
    assert {row["label"] for row in rows} == {"B-NP"}
    for row in rows:
        inner, name = re.fullmatch(r"as ([BS]-NP): (.*)", row["feature"]).groups()
        assert row["weight"] == weights[name, inner]
    both = [w for (_, k), w in weights.items() if k in ("B-NP", "S-NP")]
    assert [r["weight"] for r in rows if r["weight"] > 0] == sorted(both, reverse=True)[:6]
    assert {row["label"] for row in tagger.top_features()} == written
    with pytest.raises(ValueError, match="no label 'S-NP'"):
        tagger.top_features("S-NP")
    facts = dict(task_facts(tagger))
    assert facts["labels"].startswith(f"{len(written)}, learned as {len(within)} of IOBES")
    text = inspect_text(tagger, X=test)
    assert not re.search(r"not [SE]-", text)
    assert "B-NP" in inspect_text(tagger, labels=["B-NP"])


def test_labels_that_repeat_around_a_token():
    """In a chain of order 2 three label windows hold a token; all three count."""
    train = [[(w, k) for w, k in zip("abcabc", "XXYXXX", strict=True)]] * 2
    train += [[(w, k) for w, k in zip("aaaab", "XXXXX", strict=True)], [("c", "Y"), ("b", "X")]]
    tagger = Tagger(templates(), order=2, max_iter=4).fit(train)
    test = [[(w, "X") for w in "aaaaaa"], [(w, "X") for w in "abcabcc"]]
    assert explained(tagger, test, blocks_of(tagger, test), 2) == 13


def test_probabilities_and_labels_are_the_predicted_ones(tagger):
    test = tagged(10, seed=1)
    marginals = tagger.predict_marginals(test)
    decisions = explained_decisions(tagger, test)
    assert [[d.label for d in s] for s in decisions] == tagger.predict(test)
    for tokens, sentence in zip(marginals, decisions, strict=True):
        for p, d in zip(tokens, sentence, strict=True):
            assert d.probability == pytest.approx(p[d.label], abs=1e-12)
    assert [[d.token for d in s] for s in decisions] == [[(w,) for w, _ in s] for s in test]


def test_features_of_label_pairs_count():
    tagger = Tagger(templates("transition: word[0]\n"), max_iter=3).fit(tagged(40))
    model = tagger.model_
    test = tagged(6, seed=1)
    pairs = weights_by_name(model, "pair")
    blocks = blocks_of(tagger, test)
    for theta, sentence in zip(blocks, test, strict=True):
        table = np.repeat(theta["transition"][None], len(sentence) - 1, axis=0)
        for (name, (a, b)), w in pairs.items():
            for t in range(1, len(sentence)):
                if name == f"transition: word[0]={sentence[t][0]}":
                    table[t - 1, a, b] += w
        theta["transition"] = table
    assert explained(tagger, test, blocks) > 30


def test_without_names():
    tagger = Tagger(templates(), max_iter=2, hash_bits=10).fit(tagged(20))
    assert "feature " in inspect_text(tagger)
    test = tagged(3, seed=1)
    (first, *_) = explained_decisions(tagger, test)
    for d in first:
        assert sum(x for _, x in d.contributions) == pytest.approx(d.margin, abs=1e-6)


def test_one_label_only_has_no_runner_up():
    tagger = Tagger("pos", max_iter=1).fit([[("a", "X"), ("b", "X")]])
    assert "X" in inspect_text(tagger)
    assert isinstance(inspect_text(tagger, X=[["a", "b"]]), str)
    page = Page(inspect_html(tagger, X=[["a", "b"]]))
    assert "b" in page.texts  # its label is shown, without reasons
    assert "details" not in page.tags


# -- text -----------------------------------------------------------------------------------------


def test_text(tagger):
    text, said = inspect_text(tagger, top=3), Phrases(tagger.model_.templates)
    for label in tagger.model_.labels:
        assert re.search(rf"^{re.escape(label)}$", text, flags=re.MULTILINE)
    for shown in heaviest(tagger, 3).values():
        for name, weight in shown:
            assert f"{weight:+.3f}  {said(name)}" in text
    why = inspect_text(tagger, X=[["The", "dog", "sleeps"]], top=2)
    (decisions,) = explained_decisions(tagger, [["The", "dog", "sleeps"]])
    for d in decisions:
        assert f"not {d.runner_up}: ahead by {d.margin:.3f}" in why
        name, value = d.contributions[0]
        assert f"{value:+.3f}  {said(name)}" in why
    assert sum(line.startswith(" ") for line in why.splitlines()) == 2 * len(decisions)


# -- pages ----------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Collects text and attributes, and insists that tags are closed in order."""

    EMPTY = ("meta", "br", "link", "img", "input", "hr")

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.attributes, self.tags = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_page_is_self_contained(tagger):
    text = inspect_html(tagger, top=4, X=[["The", "dog", "sleeps", "."]])
    page = Page(text)
    assert "http" not in text
    assert "url(" not in text
    assert "@import" not in text
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert not [a for a in page.attributes if a[1] in ("src", "href", "srcset", "data")]
    assert not [a for a in page.attributes if a[1].startswith("on")]
    assert ("meta", "charset", "utf-8") in page.attributes


def test_page_has_what_the_text_has(tagger):
    page = Page(inspect_html(tagger, top=4, X=[["The", "dog", "sleeps", "."]]))
    said = Phrases(tagger.model_.templates)
    for label in tagger.model_.labels:
        assert label in page.texts
    for shown in heaviest(tagger, 4).values():
        for name, weight in shown:
            assert said(name) in page.texts
            assert ("td", "title", name) in page.attributes  # the name that data has
            assert f"{weight:+.3f}" in page.texts
    for word in ("The", "dog", "sleeps", "."):
        assert word in page.texts


def test_page_escapes():
    bad = ["<script>alert(1)</script>", "a&amp;b", 'say"', "it's", "</style>", "<!--"]
    train = [[(w, f"L{w}") for w in bad], [("x", "plain")]]
    tagger = Tagger(FeatureTemplates.parse("word"), "crf", max_iter=3).fit(train)
    page = Page(inspect_html(tagger, X=[[(w,) for w in bad]]))
    joined = "\n".join(page.texts)
    for word in bad:
        assert f'the word is "{word}"' in page.texts
        assert f"L{word}" in joined
    assert "script" not in page.tags


def test_page_of_constraints():
    tagger = Tagger(templates(), max_iter=2, scheme="iobes").fit(chunked(20))
    text = inspect_html(tagger, X=chunked(3, seed=1))
    page = Page(text)
    forbidden = ~np.isfinite(table_of(tagger.model_, "transition1"))
    forbidden_ends = ~np.isfinite(
        [table_of(tagger.model_, "start"), table_of(tagger.model_, "end")]
    )
    assert page.texts.count("✕") == forbidden.sum() + forbidden_ends.sum()
    assert "nan" not in text
    assert labels_of(chunked(3, seed=1))[0][0] in page.texts
