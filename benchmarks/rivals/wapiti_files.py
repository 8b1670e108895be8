"""A script that runs Wapiti from file to model and from file to labels.

python wapiti_files.py train FILE PATTERNS MODEL ITERATIONS RHO1 RHO2
python wapiti_files.py label MODEL FILE OUTPUT
"""

import sys

import wapiti


def read(path):
    """Yield sentences as text."""
    with open(path, encoding="utf-8") as file:
        for sentence in file.read().split("\n\n"):
            if sentence.strip():
                yield sentence


def train(path, patterns, output, iterations, rho1, rho2):
    with open(patterns, encoding="utf-8") as file:
        model = wapiti.Model(
            patterns=file.read(), nthread=1, maxiter=int(iterations),
            rho1=float(rho1), rho2=float(rho2), stopwin=1000,
        )  # fmt: skip
    for sentence in read(path):
        model.add_training_sequence(sentence)
    model.train()
    model.save(output)


def label(path, source, output):
    model = wapiti.Model(model=path)
    with open(output, "wb") as file:
        for sentence in read(source):
            file.write(model.label_sequence(sentence, include_input=True) + b"\n")


if __name__ == "__main__":
    COMMANDS = {"train": train, "label": label}
    COMMANDS[sys.argv[1]](*sys.argv[2:])
