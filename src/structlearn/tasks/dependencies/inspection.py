"""Looking at a dependency parser: what it is, and what decided the arcs of a sentence."""

from __future__ import annotations

from typing import Any

from ...text.corpus import Corpus
from .parser import gold_tree
from .tags import column_tags, predicted_tags

__all__ = ["explain_sentence", "inspect_parser", "inspect_parser_html"]

#: Sentences of a file that are explained.
_MOST_SENTENCES = 20


def explain_sentence(parser: Any, corpus: Corpus, sentence: int) -> list[dict[str, Any]]:
    """Return, word by word, the arc of the best tree, its best rival, and the reasons.

    Returns
    -------
    list of dict
        head, label and score of the arc; rival_head, rival_label and rival_score of the best other
        arc into the word where the pruner left one; reasons: (template, weight for the arc less
        weight for the rival). Scores of pairs of arcs (order 2) come on top of them and can turn
        the balance.
    """
    model = parser._fitted()
    tags = predicted_tags(model.taggers, corpus) if model.taggers else column_tags()
    found: list[dict[str, Any]] = model.core.explain(corpus._core, tags, model.lemmas, sentence)
    return found


def inspect_parser(parser: Any, top: int = 10, sentences: Any = None) -> str:
    """Return what a parser is as text; with sentences, what decided their arcs.

    Parameters
    ----------
    top : int
        Reasons a word.
    sentences : path, Corpus or list of sentences, optional
    """
    if sentences is None:
        return _summary(parser)
    corpus = parser._corpus(sentences)
    lines = []
    for number in range(min(len(corpus), _MOST_SENTENCES)):
        words = ["ROOT", *corpus.cells(number, "form")]
        lines.append(" ".join(words[1:]))
        for m, word in enumerate(explain_sentence(parser, corpus, number), 1):
            head = words[word["head"]]
            line = f"{m:>4} {words[m]}  <-{word['label']}-  {word['head']} {head}"
            line += f"  {word['score']:+.3f}"
            if "rival_head" in word:
                rival = words[word["rival_head"]]
                line += f"   rather than <-{word['rival_label']}- {word['rival_head']} {rival}"
                line += f"  {word['rival_score']:+.3f}"
            lines.append(line)
            strongest = sorted(word["reasons"], key=lambda r: (-abs(r[1]), r[0]))[:top]
            lines += [f"       {weight:+.3f}  {name}" for name, weight in strongest if weight]
        lines.append("")
    return "\n".join(lines).rstrip()


def inspect_parser_html(parser: Any, top: int = 10, sentences: Any = None) -> str:
    """Return a page: the parser, and pictures of the trees of sentences with the reasons."""
    from html import escape

    from ...drawing.arcs import draw_arcs

    parts = [f"<h1>Dependency parser</h1><pre>{escape(_summary(parser))}</pre>"]
    if sentences is not None:
        corpus = parser._corpus(sentences)
        trees = parser.predict(corpus)
        for number in range(min(len(corpus), _MOST_SENTENCES)):
            words = corpus.cells(number, "form")
            picture = draw_arcs(words, trees[number], gold_tree(corpus, number))
            parts.append(f'<div class="tree">{picture.svg}</div>')
        text = inspect_parser(parser, top, corpus)
        parts.append(f"<h2>What decided</h2><pre>{escape(text)}</pre>")
    style = "body{font-family:sans-serif;margin:2em}.tree{overflow-x:auto;margin:1em 0}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Dependency parser</title>'
        f"<style>{style}</style><body>{''.join(parts)}</body></html>\n"
    )


def _summary(parser: Any) -> str:
    model = parser._fitted()
    training = model.training
    kind = "projective" if model.projective else "any"
    weights = memoryview(model.arrays["weights"]).cast("B").cast("f")
    used = sum(1 for w in weights if w)
    lines = [
        f"order {model.order}, {kind} trees, learned by {training.get('learner')}"
        f" from {training.get('sentences')} sentences, {training.get('tokens')} words",
        f"at most {model.most} heads a word, of at least {model.least:g} of the best one's"
        " probability",
        f"{used} of {len(weights)} weights are not 0",
        f"taggers: {', '.join(t.target_name for t in model.taggers) or 'none (gold tags)'}",
        f"{len(model.labels)} relations: {' '.join(model.labels)}",
    ]
    for record in training.get("history", []):
        if "dev_las" in record:
            name = f"pass {record['pass']}" if "pass" in record else f"{record['seeds']} seeds"
            uas, las = 100 * record["dev_uas"], 100 * record["dev_las"]
            lines.append(f"{name}: dev UAS {uas:.2f}, LAS {las:.2f}")
    return "\n".join(lines)
