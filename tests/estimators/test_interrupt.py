"""Ctrl-C ends a fit soon, and leaves a model that can be used."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest

#: Seconds from the signal to the exception; a native loop looks for it every 50 ms.
SOON = 3.0

PROGRAM = """
import sys, time
import numpy as np
from structlearn.estimators import CRF, AdaGrad, StructuredPerceptron, StructuredSVM
from structlearn.learners.cutting_planes import NSlack
from structlearn.learners.frank_wolfe import FrankWolfe
from structlearn.learners.lbfgs import LBFGS
from structlearn.learners.one_slack import OneSlack
from structlearn.learners.online import Online
from structlearn.structures import Chain, Exhaustive

rng = np.random.default_rng(0)
n, length, d, K = SIZE
X = [rng.normal(size=(length, d)) for _ in range(n)]
y = [rng.integers(0, K, size=length).tolist() for _ in X]
X[1], y[1] = X[0], [1 - min(k, 1) for k in y[0]]  # no weights get both right
model = MODEL


def tell(run):
    # A signal before learning itself begins is Python's own business.

    def told(*arguments, **options):
        print("ready", flush=True)
        return run(*arguments, **options)

    return told


for learner in (LBFGS, Online, FrankWolfe, NSlack, OneSlack):
    learner.run = tell(learner.run)
try:
    model.fit(X, y)
except KeyboardInterrupt as error:
    print(time.time(), flush=True)
    print(error, flush=True)
    predicted = model.predict(X[:3])
    assert [len(p) for p in predicted] == [length] * 3
    assert model.score(X[:3], y[:3]) >= 0
    assert all(np.isfinite(block).all() for block in model.coef_.values())
else:
    sys.exit("the fit ended by itself")
"""

LONG = (3000, 30, 40, 20)  # a pass takes seconds
SHORT = (4, 3, 3, 2)  # a pass takes microseconds: the signal arrives between two of them
CASES = {
    "perceptron, long passes": ("StructuredPerceptron(max_iter=10**6)", LONG),
    "crf, long passes": ("CRF(tol=0, max_iter=10**6, C=1e6)", LONG),
    "crf, threads": ("CRF(tol=0, max_iter=10**6, C=1e6, n_jobs=2)", LONG),
    "perceptron, short passes": ("StructuredPerceptron(max_iter=10**9)", SHORT),
    "crf, short passes": ("CRF(solver='sgd', tol=0, max_iter=10**9)", SHORT),
    "svm, long passes": ("StructuredSVM(tol=0, max_iter=10**6, C=1e3)", LONG),
    "cutting planes": ("StructuredSVM(tol=0, max_iter=10**6, solver='n-slack', C=1e3)", LONG),
    "joint cutting planes": ("StructuredSVM(tol=0, max_iter=10**6, solver='one-slack')", LONG),
    "adagrad, long passes": ("AdaGrad(max_iter=10**6)", LONG),
    "in Python": ("StructuredPerceptron(Exhaustive(Chain()), max_iter=10**9)", SHORT),
}


@pytest.mark.parametrize("case", CASES)
def test_interrupt(case):
    model, size = CASES[case]
    program = textwrap.dedent(PROGRAM).replace("SIZE", repr(size)).replace("MODEL", model)
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.4)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 0, err
    raised, message = out.splitlines()
    assert float(raised) - sent < SOON
    assert message == "training was interrupted; the model holds the weights reached so far"
