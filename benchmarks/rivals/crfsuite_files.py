"""A script that runs CRFsuite as its users do, from file to model and from file to labels.

    python crfsuite_files.py train FILE MODEL PASSES          # sentence by sentence
    python crfsuite_files.py train_at_once FILE MODEL PASSES  # read all, all features, append all
    python crfsuite_files.py tag MODEL FILE OUTPUT
    python crfsuite_files.py one MODEL FILE

The first way keeps as little as possible in Python; the second is that of tutorials.
"""

import sys


def read(path):
    """Yield sentences, each a list of token tuples."""
    sentence = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip()
            if line:
                sentence.append(line.split(" "))
            elif sentence:
                yield sentence
                sentence = []
    if sentence:
        yield sentence


def features(sentence):
    """Return the features of CRFsuite's chunking tutorial, token by token."""
    n = len(sentence)
    words = ["w=" + token[0] for token in sentence]
    tags = ["p=" + token[1] for token in sentence]
    rows = []
    for i in range(n):
        row = []
        for o in (-2, -1, 0, 1, 2):
            if 0 <= i + o < n:
                row.append(f"{o}{words[i + o]}")
                row.append(f"{o}{tags[i + o]}")
        if i > 0:
            row.append(f"-1|0{words[i - 1]}|{words[i]}")
            row.append(f"-1|0{tags[i - 1]}|{tags[i]}")
        if i + 1 < n:
            row.append(f"0|1{words[i]}|{words[i + 1]}")
            row.append(f"0|1{tags[i]}|{tags[i + 1]}")
        if i > 1:
            row.append(f"-2|-1{tags[i - 2]}|{tags[i - 1]}")
            row.append(f"-2|0{tags[i - 2]}|{tags[i - 1]}|{tags[i]}")
        if i + 2 < n:
            row.append(f"1|2{tags[i + 1]}|{tags[i + 2]}")
            row.append(f"0|2{tags[i]}|{tags[i + 1]}|{tags[i + 2]}")
        if 0 < i < n - 1:
            row.append(f"-1|1{tags[i - 1]}|{tags[i]}|{tags[i + 1]}")
        if i == 0:
            row.append("BOS")
        if i == n - 1:
            row.append("EOS")
        rows.append(row)
    return rows


def train(path, model, passes):
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": int(passes)})
    for sentence in read(path):
        trainer.append(features(sentence), [token[-1] for token in sentence])
    trainer.train(model)


def train_at_once(path, model, passes):
    import pycrfsuite

    sentences = list(read(path))
    rows = [features(sentence) for sentence in sentences]
    labels = [[token[-1] for token in sentence] for sentence in sentences]
    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": int(passes)})
    for x, y in zip(rows, labels, strict=True):
        trainer.append(x, y)
    trainer.train(model)


def tag(model, path, output):
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    with open(output, "w", encoding="utf-8") as file:
        for sentence in read(path):
            for token, label in zip(sentence, tagger.tag(features(sentence)), strict=True):
                file.write(f"{token[0]} {token[1]} {label}\n")
            file.write("\n")


def one(model, path):
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    for sentence in read(path):
        print(*tagger.tag(features(sentence)))


if __name__ == "__main__":
    COMMANDS = {"train": train, "train_at_once": train_at_once, "tag": tag, "one": one}
    COMMANDS[sys.argv[1]](*sys.argv[2:])
