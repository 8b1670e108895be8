"""Predicted dependency trees against gold ones: attachment, tags, speed, significance."""

from __future__ import annotations

import time
from typing import Any

from ...metrics import confusion
from ...metrics.accuracy import token_counts
from ...metrics.attachment import attachment_interval, attachment_report
from ...metrics.significance import significance
from ...printing import joined_lines
from ...text.corpus import Corpus
from ...text.dependency_treebank import gold_trees
from .tags import TAG_COLUMNS, Tags, tag_names


class Comparison:
    """The trees that a parser finds for a corpus, beside the corpus's own.

    Parameters
    ----------
    parser : DependencyParser
    corpus : Corpus
        Of CoNLL-U, with trees.
    gold_tags : bool or None
        Read the tags instead of predicting them; None: as the parser was trained.
    """

    def __init__(self, parser: Any, corpus: Corpus, gold_tags: bool | None) -> None:
        self.corpus = corpus
        self.gold_tags = gold_tags
        self.gold = gold_trees(corpus)
        begin = time.perf_counter()
        _, tags = tagged = parser._tagged(corpus, gold_tags)
        self.trees, self.exact = parser._fitted().parse_corpus(*tagged, parser.n_threads)
        self.seconds = time.perf_counter() - begin
        self.report = attachment_report(self.gold, self.trees)
        self.tags = None if tags[0] is None else tag_accuracies(corpus, tags)

    def _other(self, against: Any) -> Any:
        return None if against is None else against.predict(self.corpus, gold_tags=self.gold_tags)

    def as_dict(self, intervals: bool, against: Any) -> dict[str, Any]:
        """Return the scores by name."""
        result = self.report.as_dict()
        result["tokens_per_second"] = round(self.corpus.n_tokens / max(self.seconds, 1e-9))
        result["proven"] = self.exact / len(self.corpus)
        if self.tags is not None:
            result["tags"] = self.tags
        if intervals or against is not None:
            other = self._other(against)
            for name, view in (("uas", _heads), ("las", list)):
                found = significance(
                    list(map(view, self.gold)),
                    list(map(view, self.trees)),
                    ["token_accuracy"],
                    intervals=intervals,
                    other=None if other is None else list(map(view, other)),
                )
                for kind, values in found.items():
                    result.setdefault(kind, {})[name] = values["token_accuracy"]
        return result

    def text(self, intervals: bool, confusions: int, against: Any) -> str:
        """Return a table of scores, overall and by relation."""
        lines = self.report.text().rstrip().split("\n")
        lines.append(f"trees proven the best: {self.exact} of {len(self.corpus)}")
        if self.tags is not None:
            right = ", ".join(f"{name} {100 * share:.2f}" for name, share in self.tags.items())
            lines.append(f"predicted tags: {right or 'the file has none to compare with'}")
        if intervals:
            lines += [
                str(attachment_interval(self.gold, self.trees, labelled=x, random_state=0))
                for x in (False, True)
            ]
        if confusions:
            both = (self.gold, self.trees)
            labels = ([[label for _, label in tree] for tree in trees] for trees in both)
            lines += ["", *confusion(*labels).text(confusions).rstrip().split("\n")]
        if against is not None:
            tested = significance(
                self.gold,
                self.trees,
                ["token_accuracy"],
                intervals=False,
                other=self._other(against),
            )
            lines += ["", f"LAS differs with p = {tested['p_values']['token_accuracy']:.4g}"]
        return joined_lines(lines)


def tag_accuracies(corpus: Corpus, tags: Tags) -> dict[str, float]:
    """Return the share of predicted tags that are right, by column where there are gold ones.

    Words without a gold tag are left out; those without features, "_", have none.
    """
    hits = tag_hits(corpus, tags)
    return {name: right / known for name, (right, known) in hits.items() if known}


def tag_hits(corpus: Corpus, tags: Tags) -> dict[str, tuple[int, int]]:
    """Return how many predicted tags are right, and of how many, by column."""
    found = dict.fromkeys(TAG_COLUMNS, (0, 0))
    for c, name in enumerate(TAG_COLUMNS):
        if corpus.counts(name).keys() != {"_"}:
            gold = corpus.labels(corpus.find_column(name), "" if name == "feats" else "_")
            right, known = zip(*token_counts(gold, tag_names(corpus, tags, c)), strict=True)
            found[name] = sum(right), sum(known)
    return found


def _heads(tree: list[tuple[int, str]]) -> list[int]:
    return [head for head, _ in tree]
