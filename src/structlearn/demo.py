"""The tour: learners on built-in data, a look inside one prediction, and trees."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .datasets import load_digit_words, make_treebank
from .estimators import CRF, HMM, StructuredPerceptron, StructuredSVM
from .exceptions import ConvergenceWarning
from .losses import Hamming, hinge_loss
from .printing import UnreadError, visible
from .structures import Chain, trellis

__all__ = ["run", "word_features"]


def word_features(words: Sequence[str]) -> list[list[str]]:
    """Return for each word the features of the tour: itself, neighbours, ending, case."""
    lower = ["<s>", *(w.lower() for w in words), "</s>"]
    return [
        [
            f"word={lower[i + 1]}",
            f"before={lower[i]}",
            f"after={lower[i + 2]}",
            f"suffix2={w[-2:].lower()}",
            f"suffix3={w[-3:].lower()}",
            f"capital={w[0].isupper()}",
            "always",
        ]
        for i, w in enumerate(words)
    ]


#: What is annotated at the end.
_PARAGRAPH = (
    "Dr. Smith didn't reply. She'd already left for New York, where it's cheaper to fly than to "
    'drive! "I can\'t wait," she wrote to us@example.com.'
)


class _Output(Console):
    """Standard output; whoever closes the pipe has seen enough."""

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
        Size of the made treebank; a fifth is held out.
    random_state : int
        Seed.
    text : path, optional
        A file of English text, for the end; by default a paragraph of ours.
    console : rich Console, optional
        Where to print; default standard output.
    """
    out = console or _Output(highlight=False)
    out.rule("[bold]structlearn: the tour")
    bank = make_treebank(sentences, random_state=random_state)
    cut = sentences * 4 // 5
    words = [list(s.words) for s in bank]
    tags = [list(s.tags) for s in bank]
    features = [word_features(w) for w in words]
    out.print(
        f"\n[bold]1. Tagging[/bold]: {cut} made sentences to learn from, {sentences - cut} to "
        f"test, {len({t for row in tags for t in row})} tags. Each learner scores words and tag "
        "pairs jointly and finds the best sequence by Viterbi; they differ in how the weights are "
        "learned.\n"
    )
    learners = _learners(random_state)
    rows, fitted = [], {}
    for name, model in learners.items():
        inputs = words if isinstance(model, HMM) else features
        row, fitted[name] = _measure(out, model, inputs, tags, cut)
        rows.append((name, *row))
    _print_table(out, rows)

    digits = [
        load_digit_words(400, subset="train", random_state=random_state),
        load_digit_words(400, subset="test", random_state=random_state),
    ]
    X = [x for part in digits for x in part.X]
    y = [z for part in digits for z in part.y]
    out.print(
        "\n[bold]2. Reading digits[/bold]: words of handwritten digits under noise, 400 to learn "
        "from and 400 to test, no image in both. Digits follow each other by habit, so that "
        "neighbours help.\n"
    )
    rows = []
    alone = CRF(Chain(order=0), C=1.0, boundaries=False)
    for name, model in {"one by one (no chain)": alone, **_learners(random_state)}.items():
        row, _ = _measure(out, model, X, y, len(digits[0].X))
        rows.append((name, *row))
    _print_table(out, rows)

    _look_inside(out, fitted["SVM"], words[cut:], features[cut:], tags[cut:])
    _show_trees(out, bank[:cut], bank[cut:], random_state)
    _show_text(out, text)
    out.print()


def _learners(random_state: int) -> dict[str, Any]:
    return {
        "HMM": HMM(),
        "perceptron": StructuredPerceptron(average=False, random_state=random_state),
        "perceptron, averaged": StructuredPerceptron(random_state=random_state),
        "SVM": StructuredSVM(C=0.1, max_iter=32, tol=0.05, random_state=random_state),
        "CRF": CRF(C=1.0, tol=1e-3),
    }


def _measure(
    out: Console, model: Any, X: list[Any], y: list[Any], cut: int
) -> tuple[tuple[float, float, float], Any]:
    """Train and test; return error rates in per cent, seconds, and the model."""
    begin = time.perf_counter()
    with warnings.catch_warnings(), out.status(f"training {type(model).__name__} …"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # a tour, not a proof
        model.fit(X[:cut], y[:cut])
    seconds = time.perf_counter() - begin
    predicted = model.predict(X[cut:])
    wrong = [np.asarray(p) != np.asarray(g) for p, g in zip(predicted, y[cut:], strict=True)]
    labels = 100 * float(np.concatenate(wrong).mean())
    whole = 100 * float(np.mean([w.any() for w in wrong]))
    return (labels, whole, seconds), model


def _print_table(out: Console, rows: list[tuple[str, float, float, float]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("method")
    for head in ("label error %", "sequence error %", "training s"):
        table.add_column(head, justify="right")
    best = min(row[1] for row in rows)
    for name, labels, whole, seconds in rows:
        style = "bold green" if labels == best else ""
        table.add_row(
            Text(name), Text(f"{labels:.2f}", style), Text(f"{whole:.1f}"), Text(f"{seconds:.2f}")
        )
    out.print(table)


# -- one prediction --------------------------------------------------------------------------------


def _look_inside(
    out: Console, model: Any, words: list[Any], features: list[Any], tags: list[Any]
) -> None:
    """Show a sentence's trellis, and what the cost does to it in training."""
    i, scores = _telling_sentence(model, features, tags)
    names = model.classes_
    index = {k: n for n, k in enumerate(names.tolist())}
    gold = np.array([index[k] for k in tags[i]])
    plain = trellis(**scores)
    cost, _ = Hamming().parts(Chain(), gold, **scores)
    augmented_scores = {**scores, "label": scores["label"] + cost["label"]}
    augmented = trellis(**augmented_scores)
    out.print(
        "\n[bold]3. Inside one prediction[/bold] of the SVM. The trellis: in each cell the score "
        "α of the best prefix that ends there, and the tag it comes from; the best path is "
        "marked ●.\n"
    )
    shown = _rows_to_show(scores, [plain.path, augmented.path, gold])
    out.print(_draw(words[i], names, shown, plain, "bold green"))
    chain = Chain()
    out.print(
        f"\nBest path, score {chain.score(plain.path, **scores):.2f}: "
        f"[bold green]{' '.join(names[plain.path])}[/]"
        + (" — the gold one." if (plain.path == gold).all() else f"; gold: {' '.join(tags[i])}")
    )
    out.print(
        "\nTraining asks for more: the gold path must win by the number of wrong tags. Loss "
        "augmentation adds 1 to every wrong tag's cell and searches again:\n"
    )
    out.print(_draw(words[i], names, shown, augmented, "bold red"))
    value, _ = hinge_loss()(chain, gold, **scores)
    out.print(
        f"\nNow [bold red]{' '.join(names[augmented.path])}[/] wins: score "
        f"{chain.score(augmented.path, **scores):.2f} + "
        f"{Hamming()(gold, augmented.path):.0f} wrong, against {chain.score(gold, **scores):.2f} "
        f"for the gold path: slack ξ = {value:.2f}."
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
    """Learn both parsers and show what they make of one sentence."""
    from .tasks import ConstituencyParser, DependencyParser

    train, test = list(train)[:_TREES], list(test)[:_TESTED]
    out.print(
        f"\n[bold]4. Trees[/bold]: the same sentences come with dependencies and brackets. Two "
        f"parsers learn from {len(train)} of them, tags included, and are tested on {len(test)}.\n"
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
    found = arcs.evaluate(list(map(_rows, test)))
    brackets = spans.evaluate([s.brackets for s in test])
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("parser", "what", "right %", "training s"):
        table.add_column(title, justify="left" if title in ("parser", "what") else "right")
    heads, relations = (f"{100 * found[name]:.1f}" for name in ("uas", "las"))
    table.add_row("dependencies", "heads", heads, f"{seconds[0]:.2f}")
    table.add_row("", "heads with relations", relations, "")
    table.add_row(
        "constituents", "brackets (F1)", f"{100 * brackets['f1']:.1f}", f"{seconds[1]:.2f}"
    )
    out.print(table)
    chosen = next((s for s in test if 5 <= len(s.words) <= 9), test[0])
    tree = arcs.predict([list(chosen.words)])[0]
    words = ["ROOT", *chosen.words]
    right = list(zip(chosen.heads, chosen.deprels, strict=True))
    out.print(Text(f"\n{' '.join(chosen.words)}\n", "bold"))
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
    out.print(Text(_indented(spans.predict([list(chosen.words)])[0])))


def _show_text(out: Console, path: str | None) -> None:
    """Annotate a paragraph, if the English model is installed."""
    from .exceptions import FileError
    from .loading import load
    from .text.files import read_bytes

    text = _PARAGRAPH if path is None else read_bytes(path).decode("utf-8-sig")
    try:
        nlp = load("english")
    except FileError:
        if path is not None:
            raise
        return  # without the package the tour ends here
    doc = nlp(text)
    out.print(
        "\n[bold]5. From running text[/bold]: the English model finds sentences, tokens, tags, "
        "lemmas and trees.\n"
    )
    out.print(Text(visible(text.strip()[:2000], lines=True), "italic"))
    for sentence in doc.sentences[:10]:
        out.print()
        table = Table(box=None, pad_edge=False, header_style="bold")
        for title in ("", "word", "lemma", "tag", "relation", "head"):
            table.add_column(title, justify="left" if title else "right")
        words = ["ROOT", *(token.text for token in sentence)]
        for token in sentence:
            cells = (str(token.id), token.text, token.lemma, token.upos)
            arc = (f"←{token.relation}—", words[token.head_id or 0])
            table.add_row(*(Text(visible(cell)) for cell in (*cells, *arc)))
        out.print(table)
    out.print("\nThe same for your text: structlearn annotate english FILE (- for what you type)")


def _rows(sentence: Any) -> list[tuple[Any, ...]]:
    """Return a sentence as a dependency parser learns from it."""
    columns = (sentence.words, sentence.tags, sentence.heads, sentence.deprels)
    return list(zip(*columns, strict=True))


def _indented(tree: Any, depth: int = 0) -> str:
    """Return brackets, a line for each node that holds another."""
    if tree.word is not None or all(child.word is not None for child in tree.children):
        return "  " * depth + str(tree)
    inner = "\n".join(_indented(child, depth + 1) for child in tree.children)
    return f"{'  ' * depth}({tree.label}\n{inner})"
