"""The tour of ``structlearn demo``: text, learning, a look inside one prediction, and trees."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .datasets import make_treebank
from .estimators import CRF, HMM, StructuredPerceptron, StructuredSVM
from .exceptions import ConvergenceWarning
from .losses import Hamming, hinge_loss
from .metrics import chunk_f1
from .printing import UnreadError, visible
from .structures import Chain, trellis

#: Ambiguous words: each occurrence has another meaning.
_TEXT = "I left my left glove on the left. They can fish in the can."


def word_features(words: Sequence[str]) -> list[list[str]]:
    """Return the features of each word in the tour: itself, its neighbours, endings, case."""
    lower = ["<s>", *(w.lower() for w in words), "</s>"]
    return [
        [
            f"word={lower[i + 1]}",
            f"before={lower[i]}",
            f"after={lower[i + 2]}",
            f"ends={lower[i + 1][-2:]}",
            f"ends={lower[i + 1][-3:]}",
            f"before ends={lower[i][-3:]}",
            f"after ends={lower[i + 2][-3:]}",
            f"capital={w[0].isupper()}",
            "always",
        ]
        for i, w in enumerate(words)
    ]


class _Output(Console):
    """Standard output; a closed pipe raises ``UnreadError``."""

    def on_broken_pipe(self) -> None:
        raise UnreadError


def run(
    *,
    sentences: int = 1500,
    random_state: int = 0,
    text: str | None = None,
    console: Console | None = None,
) -> None:
    """Print the tour.

    Parameters
    ----------
    sentences : int
        Size of the synthetic treebank; a fifth is held out.
    random_state : int
        Seed.
    text : path, optional
        A file of English text, for the end; by default a built-in paragraph.
    console : rich Console, optional
        Where to print; default standard output.
    """
    out = console or _Output(highlight=False)
    out.rule("[bold]structlearn: the tour")
    _show_text(out, text)
    bank = make_treebank(sentences, random_state=random_state)
    cut = sentences * 4 // 5
    words = [list(s.words) for s in bank]
    chunks = [list(s.chunks) for s in bank]
    features = [word_features(w) for w in words]
    svm = _show_learning(out, words, features, chunks, cut, random_state)
    _look_inside(out, svm, words[cut:], features[cut:], chunks[cut:])
    _show_trees(out, bank[:cut], bank[cut:], random_state)
    out.print(
        "\nNext: [bold]structlearn demo --files data[/] writes small files to train on, "
        "[bold]structlearn workbench[/] shows the algorithms step by step."
    )
    out.print()


# -- learning --------------------------------------------------------------------------------------


def _show_learning(
    out: Console, words: Any, features: Any, chunks: Any, cut: int, random_state: int
) -> Any:
    """Learn phrases by several models, from poor to rich; return the SVM."""
    alone = [[row[:1] for row in sentence] for sentence in features]
    rule = sorted(_impossible_pairs({k for row in chunks for k in row}))
    settings: dict[str, Any] = {"C": 0.1, "max_iter": 32, "tol": 0.05, "random_state": random_state}
    svm = StructuredSVM(**settings)
    ways: list[tuple[str, Any, Any]] = [
        ("each word alone", CRF(Chain(order=0), boundaries=False), alone),
        ("+ order of labels: HMM", HMM(), words),
        ("each word alone, with its context", CRF(Chain(order=0), boundaries=False), features),
        ("both: perceptron", StructuredPerceptron(random_state=random_state), features),
        ("both: SVM", svm, features),
        ("both: CRF", CRF(C=1.0, tol=1e-3), features),
        ("both, and a rule: SVM", StructuredSVM(forbid={"transition": rule}, **settings), features),
    ]
    example = " ".join(
        f"{w}/{k}" for w, k in zip(words[cut], chunks[cut], strict=True) if len(words[cut]) < 99
    )
    out.print(
        f"\n[bold]2. Learning to find phrases[/bold]: from {cut} made sentences such as\n\n   "
        f"[italic]{example}[/italic]\n\nB-NP begins a noun phrase, I-NP continues it; the label "
        f"of a word depends on its neighbours' labels. Tested on {len(words) - cut} other "
        "sentences.\n"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("how")
    for head in ("phrases right (F1 %)", "impossible labels", "training s"):
        table.add_column(head, justify="right")
    rows = [(name, *_measure(out, model, X, chunks, cut)) for name, model, X in ways]
    best = max(row[1] for row in rows)
    for name, f1, impossible, seconds in rows:
        style = "bold green" if f1 == best else ""
        cells = (f"{100 * f1:.1f}", str(impossible), f"{seconds:.2f}")
        table.add_row(Text(name), Text(cells[0], style), *map(Text, cells[1:]))
    out.print(table)
    out.print(
        "\nF1: how many phrases are found and right, 100 if all are. Impossible: an I- label with "
        "no phrase to continue.\n\nAn HMM knows the order of labels, and of each word the word "
        "alone; perceptron, SVM and CRF may look at anything: endings, neighbours, capitals. They "
        "score whole sentences and find the best one exactly. A rule is kept always."
    )
    return svm


def _impossible_pairs(labels: set[str]) -> list[tuple[str, str]]:
    return [(a, b) for a in labels for b in labels if b.startswith("I-") and a[1:] != b[1:]]


def _measure(
    out: Console, model: Any, X: list[Any], y: list[Any], cut: int
) -> tuple[float, int, float]:
    """Train and test; return the F1 of phrases, the number of impossible labels, and seconds."""
    begin = time.perf_counter()
    with warnings.catch_warnings(), out.status(f"training {type(model).__name__} …"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # a tour, not a proof
        model.fit(X[:cut], y[:cut])
    seconds = time.perf_counter() - begin
    predicted = [row.tolist() for row in model.predict(X[cut:])]
    pairs = (pair for row in predicted for pair in zip(["O", *row], row, strict=False))
    impossible = sum(b.startswith("I-") and a[1:] != b[1:] for a, b in pairs)
    return chunk_f1(y[cut:], predicted), impossible, seconds


# -- one prediction --------------------------------------------------------------------------------


def _look_inside(
    out: Console, model: Any, words: list[Any], features: list[Any], tags: list[Any]
) -> None:
    """Show a sentence's trellis, and the effect of the cost in training."""
    i, scores = _telling_sentence(model, features, tags)
    names = model.classes_
    index = {k: n for n, k in enumerate(names.tolist())}
    gold = np.array([index[k] for k in tags[i]])
    plain = trellis(**scores)
    cost, _ = Hamming().parts(Chain(), gold, **scores)
    augmented_scores = {**scores, "label": scores["label"] + cost["label"]}
    augmented = trellis(**augmented_scores)
    out.print(
        "\n[bold]3. Inside one prediction[/bold] of the SVM. A column for each word, a row for "
        "each label. A number is the score of the best labelling of the words up to there that "
        "ends with this label, and ‹ the label before it; the best path is marked ●.\n"
    )
    rows = _rows_to_show(scores, [plain.path, augmented.path, gold])
    out.print(_draw(words[i], names, rows, plain, "bold green"))
    chain = Chain()
    out.print(
        f"\nBest path, score {chain.score(plain.path, **scores):.2f}: "
        f"[bold green]{' '.join(names[plain.path])}[/]"
        + (" — the gold one." if (plain.path == gold).all() else f"; gold: {' '.join(tags[i])}")
    )
    out.print(
        "\nTraining asks for more: the right path must win by as many points as another has wrong "
        "labels. So 1 is added to the cell of every wrong label, and the search runs again:\n"
    )
    out.print(_draw(words[i], names, rows, augmented, "bold red"))
    value, _ = hinge_loss()(chain, gold, **scores)
    out.print(
        f"\nNow [bold red]{' '.join(names[augmented.path])}[/] wins: score "
        f"{chain.score(augmented.path, **scores):.2f} + "
        f"{Hamming()(gold, augmented.path):.0f} wrong, against {chain.score(gold, **scores):.2f} "
        f"for the right path. The difference, {value:.2f}, is what training pays for this "
        "sentence (the slack ξ)."
    )


def _telling_sentence(
    model: Any, features: list[Any], tags: list[Any]
) -> tuple[int, dict[str, Any]]:
    """Return a short sentence, right as it stands, whose loss-augmented search goes astray."""
    index = {k: n for n, k in enumerate(model.classes_.tolist())}
    problem = model._inputs(features).problem
    fallback = 0
    for i in range(problem.n_examples):
        scores = problem.scores(i, model._weights)
        gold = np.array([index.get(k, 0) for k in tags[i]])
        if not 4 <= len(gold) <= 7 or not np.array_equal(Chain().argmax(**scores), gold):
            continue
        fallback = i
        if hinge_loss()(Chain(), gold, **scores)[0] > 0:
            return i, scores
    return fallback, problem.scores(fallback, model._weights)


def _rows_to_show(scores: dict[str, Any], paths: list[Any], most: int = 7) -> list[int]:
    """Return the labels of the paths and the next most probable ones."""
    wanted = sorted({int(k) for path in paths for k in path})
    p = Chain().marginals(**scores)["label"].max(axis=0)
    for k in np.argsort(-p):
        if len(wanted) >= most:
            break
        if int(k) not in wanted:
            wanted.append(int(k))
    return wanted


def _draw(words: list[str], names: Any, shown: list[int], table: Any, style: str) -> Table:
    drawing = Table(box=None, pad_edge=False, header_style="bold")
    drawing.add_column("")
    for word in words:
        drawing.add_column(word, justify="right")
    for k in shown:
        cells = [Text(str(names[k]), "bold")]
        for t in range(len(words)):
            on_path = table.path[t] == k
            source = "" if table.back[t, k] < 0 else f" ‹{names[table.back[t, k]]}"
            cells.append(
                Text(
                    f"{'●' if on_path else ' '}{table.alpha[t, k]:.1f}{source}",
                    style if on_path else "dim",
                )
            )
        drawing.add_row(*cells)
    return drawing


# -- trees ----------------------------------------------------------------------------------------

#: Sentences that the parsers learn from and are tested on, at most: a tour, not a course.
_TREES, _TESTED = 300, 100
_SMALL: dict[str, Any] = {"folds": 2, "max_iter": 3}


def _show_trees(out: Console, train: Any, test: Any, random_state: int) -> None:
    """Train both parsers and show their trees of one sentence."""
    from .tasks import ConstituencyParser, DependencyParser

    train, test = list(train)[:_TREES], list(test)[:_TESTED]
    out.print(
        f"\n[bold]4. Trees[/bold]: the same sentences come with trees. Two parsers learn from "
        f"{len(train)} of them, tags included, and are tested on {len(test)}: of the first, how "
        "many words hang on the right word; of the second, how many brackets are found and right.\n"
    )
    learned: list[Any] = []
    seconds = []
    for parser, trees in (
        (DependencyParser(hash_bits=18, **_SMALL, random_state=random_state), map(_rows, train)),
        (ConstituencyParser(**_SMALL, random_state=random_state), (s.brackets for s in train)),
    ):
        begin = time.perf_counter()
        with out.status(f"training {type(parser).__name__} …"):
            learned.append(parser.fit(list(trees)))
        seconds.append(time.perf_counter() - begin)
    arcs, spans = learned
    scores = arcs.evaluate(list(map(_rows, test)))
    brackets = spans.evaluate([s.brackets for s in test])
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("parser", "what", "right %", "training s"):
        table.add_column(title, justify="left" if title in ("parser", "what") else "right")
    heads, relations = (f"{100 * scores[name]:.1f}" for name in ("uas", "las"))
    table.add_row("dependencies", "heads", heads, f"{seconds[0]:.2f}")
    table.add_row("", "heads with relations", relations, "")
    table.add_row(
        "constituents", "brackets (F1)", f"{100 * brackets['f1']:.1f}", f"{seconds[1]:.2f}"
    )
    out.print(table)
    example = next((s for s in test if 5 <= len(s.words) <= 9), test[0])
    tree = arcs.predict([list(example.words)])[0]
    words = ["ROOT", *example.words]
    right = list(zip(example.heads, example.deprels, strict=True))
    out.print(Text(f"\n{' '.join(example.words)}\n", "bold"))
    drawing = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("", "word", "relation", "head"):
        drawing.add_column(title, justify="left" if title else "right")
    for m, (head, relation) in enumerate(tree, 1):
        good = (head, relation) == right[m - 1]
        gold_head, gold_relation = right[m - 1]
        note = "" if good else f"   (gold: {gold_relation} of {words[gold_head]})"
        drawing.add_row(
            Text(str(m)),
            Text(words[m]),
            Text(f"←{relation}—", "green" if good else "bold red"),
            Text(f"{words[head]}{note}"),
        )
    out.print(drawing)
    out.print()
    out.print(Text(_indented(spans.predict([list(example.words)])[0])))


def _show_text(out: Console, path: str | None) -> None:
    """Annotate a text, if the English model is installed: words by themselves, and together."""
    from .exceptions import FileError
    from .loading import load
    from .text.files import read_bytes

    text = _TEXT if path is None else read_bytes(path).decode("utf-8-sig")
    try:
        nlp = load("english")
    except FileError:
        if path is not None:
            raise
        return  # without the package the tour begins with learning
    doc = nlp(text)
    out.print("\n[bold]1. Text in, analysis out[/bold], by the English model in models/english:\n")
    out.print(Text(f"   {visible(text.strip()[:2000], lines=True)}\n", "italic"))
    sentences = doc.sentences[:10]
    alone = nlp.annotate([[token.text] for sentence in sentences for token in sentence])
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("word", "tag, the word alone", "tag, in its sentence", "lemma", "relation"):
        table.add_column(title)
    changed = n = 0
    for sentence in sentences:
        table.add_row()
        for token in sentence:
            single = alone[n]
            n, other = n + 1, single.upos != token.upos
            changed += other
            head = "" if token.head in (None, token) else f" of {token.head}"
            cells = (token.text, single.upos, token.upos, token.lemma, token.relation + head)
            styles = ("", "bold red" if other else "", "bold green" if other else "", "", "")
            table.add_row(
                *(Text(visible(c), style) for c, style in zip(cells, styles, strict=True))
            )
    out.print(table)
    out.print(
        f"\nRead one by one, {changed} of these {n} words get another tag than in their sentence: "
        "what surrounds a word decides. The tag is the part of speech; the relation says which "
        "word it depends on. Your text: [bold]structlearn annotate english FILE[/]"
    )


def _rows(sentence: Any) -> list[tuple[Any, ...]]:
    """Return a sentence as training data for a dependency parser."""
    columns = (sentence.words, sentence.tags, sentence.heads, sentence.deprels)
    return list(zip(*columns, strict=True))


def _indented(tree: Any, depth: int = 0) -> str:
    """Return brackets, with a line for each node that contains another."""
    if tree.word is not None or all(child.word is not None for child in tree.children):
        return "  " * depth + str(tree)
    inner = "\n".join(_indented(child, depth + 1) for child in tree.children)
    return f"{'  ' * depth}({tree.label}\n{inner})"
