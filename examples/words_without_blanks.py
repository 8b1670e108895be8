r"""
Words without blanks
====================

Japanese and Chinese are written without blanks between words. A chain over characters finds them:
each character :math:`i` begins a word, :math:`y_i = 1`, or goes on, and

.. math:: s(y) = \sum_i y_i \, \langle w, \phi(x, i) \rangle + \sum_i t_{y_i y_{i+1}} ,

where :math:`\phi` are the characters near the place, their kinds, and the words of the training
text that begin, end or run over it. Sentences of a made treebank will do, once their blanks are
left out.
"""

# %%
# A model learns from sentences that are cut, and cuts others.

from structlearn.datasets import make_treebank
from structlearn.tasks import WordSegmenter

sentences = [[word.lower() for word in s.words] for s in make_treebank(1000, random_state=0)]
train, test = sentences[:900], sentences[900:]
segmenter = WordSegmenter(learner="crf").fit(train)
texts = ["".join(words) for words in test]
print(texts[0], "→", " ".join(segmenter.predict(texts[:1])[0]))
scores = segmenter.evaluate(test)
print(f"F1 of words {scores['f1']:.3f}")

# %%
# A dictionary needs no training: its words are words wherever they stand, and the cut is the best
# of all that have them.

text = texts[0]
name = text[2:6]
print("with", name, "→", " ".join(segmenter.predict([text], dictionary=[name])[0]))

# %%
# The model knows how sure it is. Bars are probabilities that a word begins at a character; lines
# are where words begin in the treebank. A search engine takes all words that are likely.

import matplotlib.pyplot as plt

chances = segmenter.boundaries([text])[0]
likely = segmenter.likely_words([text], 0.02)[0]
begins = {sum(map(len, test[0][:i])) for i in range(len(test[0]))}
places = range(len(text))
fig, (above, below) = plt.subplots(2, 1, figsize=(9, 5), layout="constrained", sharex=True)
above.bar(places, chances, color="#4c72b0", label="probability that a word begins")
for k, place in enumerate(sorted(begins)):
    above.axvline(place - 0.5, color="black", linestyle=":", label="word begins" if not k else None)
above.set(ylabel="probability", ylim=(0, 1.05))
above.legend(loc="lower right")
for row, (begin, end, p) in enumerate(sorted(likely)):
    below.barh(-row, end - begin, left=begin - 0.5, height=0.8, color=plt.cm.cividis(1 - p))
    below.text(end - 0.4, -row, f"{text[begin:end]} {p:.2f}", va="center", fontsize=8)
below.set(xticks=list(places), xticklabels=list(text), yticks=[], title="words that are likely")
plt.show()
