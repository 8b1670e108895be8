"""The Learning lab: steps in the plane, cutting planes, the loss family, dual ascent."""

from __future__ import annotations

import itertools
import math
import warnings
from functools import lru_cache
from typing import Any

import numpy as np

from ... import traces
from ...estimators import CRF, StructuredPerceptron, StructuredSVM
from ...losses import StructuredLoss
from ...structures import Chain, Multiclass
from ..formulas import added, number
from ..requests import Refused, Request
from .sequence import Sequence, literal

LEADS = np.linspace(-3.0, 3.0, 61).tolist()
MOST_POINTS, MOST_CLASSES, MOST_PASSES = 40, 4, 20


def answer(request: Request) -> dict[str, Any]:
    """Return the content of the lab."""
    topic = request.choice("topic", ("plane", "planes", "family", "dual"))
    lab = {"plane": _plane, "planes": _planes, "family": _family, "dual": _dual}[topic]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few passes are intended
        return {"topic": topic, **lab(request)}


# -- perceptron and subgradients in the plane ---------------------------------------------------


def _points(request: Request) -> tuple[Any, list[int]]:
    points = request.values.get("points")
    if not isinstance(points, list) or not 2 <= len(points) <= MOST_POINTS:
        raise Refused(f"points must be 2 to {MOST_POINTS} triples: x, y, class")
    table = request.scores("points", (len(points), 3))
    classes = table[:, 2]
    whole = (classes == np.rint(classes)) & (classes >= 0) & (classes < MOST_CLASSES)
    if not whole.all() or not np.isfinite(table).all():
        raise Refused(f"the class of a point is a whole number from 0 to {MOST_CLASSES - 1}")
    if len(set(classes.tolist())) < 2:
        raise Refused("points of at least two classes are needed")
    return np.column_stack([table[:, :2], np.ones(len(table))]), classes.astype(int).tolist()


def _plane(request: Request) -> dict[str, Any]:
    X, y = _points(request)
    algorithm = request.choice("algorithm", ("perceptron", "subgradient", "crf"))
    passes = request.whole("passes", 5, 1, MOST_PASSES)
    C = request.number("C", 1.0, 0.001, 1000.0)
    average = request.flag("average")
    model: Any
    if algorithm == "perceptron":
        model = StructuredPerceptron("multiclass", max_iter=passes, average=average, shuffle=False)
        arguments = f"'multiclass', max_iter={passes}, average={average}, shuffle=False"
    else:
        kind: Any = StructuredSVM if algorithm == "subgradient" else CRF
        model = kind(
            "multiclass", C=C, solver="sgd", max_iter=passes, average=average, shuffle=False, tol=0
        )
        arguments = f"'multiclass', C={C:g}, solver='sgd', max_iter={passes}, "
        arguments += f"average={average}, shuffle=False, tol=0"
    trace = traces.online_steps(model, X, y)
    classes = trace.about["classes"]
    steps: list[dict[str, Any]] = []
    mistakes = 0
    for step in trace.steps:
        i, gold = step["example"], step["gold"]
        before = np.asarray(step["before"]["label"])
        after = np.asarray(step["after"]["label"])
        scores = before @ X[i]
        guess = classes[int(np.argmax(scores))] if algorithm == "crf" else step["guess"]
        wrong = gold != guess
        mistakes += wrong
        margin = [float(c != gold) for c in classes] if algorithm == "subgradient" else None
        terms = [
            f"{_class(c)}: {number(float(s))}" + (f" + {number(m)}" if margin else "")
            for c, s, m in zip(classes, scores, margin or [0.0] * len(classes), strict=True)
        ]
        point = f"({number(X[i, 0], 2)}, {number(X[i, 1], 2)})"
        lines = [
            f"x = {point}, gold {_class(gold)};  "
            + ("w·φ(x, k) + 1[k ≠ gold]: " if margin else "w·φ(x, k): ")
            + ",  ".join(terms),
            f"argmax = {_class(guess)}"
            + (" ≠ gold: update" if wrong else " = gold: nothing to learn"),
        ]
        if algorithm == "crf":
            p = np.exp(scores - scores.max())
            p /= p.sum()
            shares = [f"{_class(c)} {number(float(q))}" for c, q in zip(classes, p, strict=True)]
            t = len(steps) + 1
            lines[1] = "P(k) = exp(w·φ(x, k)) / Σ: " + ",  ".join(shares) + ": always something"
            lines.append(f"w ← (1 − 1/{t}) w + (C·N/{t}) (φ(x, {_class(gold)}) − Σ P(k) φ(x, k))")
        elif algorithm == "perceptron" and wrong:
            lines.append(f"w ← w + φ(x, {_class(gold)}) − φ(x, {_class(guess)})")
        elif algorithm != "perceptron":
            t = len(steps) + 1
            lines.append(
                f"w ← (1 − 1/{t}) w"
                + (f" + (C·N/{t}) (φ(x, {_class(gold)}) − φ(x, {_class(guess)}))" if wrong else "")
            )
        say = f"Pass {step['iteration']}, point {i + 1}: guess {_class(guess)}, gold {_class(gold)}"
        steps.append(
            {"kind": "example", "example": i, "wrong": bool(wrong), "before": before,
             "after": after, "formula": lines,
             "say": say + (", a mistake." if wrong else ", right.")}
        )  # fmt: skip
    final = np.asarray(trace.answer["label"])
    predicted = [classes[k] for k in np.argmax(X @ final.T, axis=1)]
    wrong_at_end = sum(a != b for a, b in zip(predicted, y, strict=True))
    python = [
        "import numpy as np",
        f"from structlearn import {type(model).__name__}, traces",
        "",
        f"X = {literal(X)}  # the last column is 1, for an intercept",
        f"y = {y!r}",
        f"model = {type(model).__name__}({arguments})",
        "print(model.fit(X, y).coef_)",
        "trace = traces.online_steps(model, X, y)  # the steps",
    ]
    return {
        "algorithm": trace.algorithm,
        "classes": classes,
        "steps": steps,
        "final": final,
        "updates": mistakes,
        "wrong": wrong_at_end,
        "python": "\n".join(python) + "\n",
    }


def _class(k: int) -> str:
    return "ABCD"[k]


# -- cutting planes -----------------------------------------------------------------------------


def _planes(request: Request) -> dict[str, Any]:
    C = request.number("C", 1.0, 0.01, 100.0)
    tolerance = request.number("tolerance", 0.1, 0.0, 2.0)
    gold = request.labels("gold", 2, 2) or [0, 1]
    names = "NV"
    X, y = [[["Fish", "Start"], ["Sleep"]]], [[names[k] for k in gold]]
    # Both labels must exist, whatever the gold ones are.
    if len(set(gold)) < 2:
        raise Refused("the lectures' gold output has both labels: choose (N, V) or (V, N)")
    model = StructuredSVM(
        C=C, solver="n-slack", violation_tol=tolerance, tol=0, boundaries=False,
        all_possible_states=True, max_iter=50,
    )  # fmt: skip
    trace = traces.cutting_planes(model, X, y)
    steps = []
    for step in trace.steps:
        [rows] = step["tables"]
        slack = step["slack"][0]
        for row in rows:
            row["named"] = ", ".join(row["output"])
            row["in_set"] = any(c["output"] == row["output"] for c in step["working_set"])
            row["added"] = any(c["output"] == row["output"] for c in step["added"])
        working = ", ".join(f"({', '.join(c['output'])})" for c in step["working_set"]) or "∅"
        lines = [
            f"round {step['iteration']}: solve with W = {{ {working} }}"
            if working != "∅"
            else f"round {step['iteration']}: W = ∅, so w = 0",
            f"½‖w‖² + C·ξ = {number(step['dual'])} with slack ξ = {number(slack)}; the true "
            f"objective there is {number(step['primal'])}",
        ]
        if step["added"]:
            worst = step["added"][0]
            row = next(r for r in rows if r["output"] == worst["output"])
            lines.append(
                f"most violated: ({row['named']}) by loss − slack − lead = {number(row['loss'])} − "
                f"{number(slack)} − {added([row['lead']])} = {number(row['violation'])} > ε = "
                f"{number(tolerance)}: add it"
            )
            say = f"Round {step['iteration']}: ({row['named']}) is violated by "
            say += f"{number(row['violation'])} and joins the working set."
        else:
            worst_row = max(rows, key=lambda r: r["violation"])
            lines.append(
                f"nothing is violated by more than ε = {number(tolerance)} (most: "
                f"({worst_row['named']}) by {number(worst_row['violation'])}): done"
            )
            say = f"Round {step['iteration']}: nothing is violated by more than ε. Done."
        steps.append(
            {"kind": "round", "rows": rows, "slack": slack, "primal": step["primal"],
             "dual": step["dual"], "formula": lines, "say": say}
        )  # fmt: skip
    arguments = f"C={C:g}, solver='n-slack', violation_tol={tolerance:g}, tol=0, boundaries=False, "
    python = [
        "from structlearn import StructuredSVM, traces",
        "",
        f"X, y = {X!r}, {y!r}",
        f"model = StructuredSVM({arguments}all_possible_states=True, max_iter=50).fit(X, y)",
        "for r in model.rounds_:",
        "    print(r.n_constraints, r.slack, r.primal, r.dual, r.constraints)",
        "trace = traces.cutting_planes(model, X, y)  # the tables",
    ]
    return {
        "algorithm": trace.algorithm,
        "steps": steps,
        "C": C,
        "slice": _slice(trace, C),
        "python": "\n".join(python) + "\n",
    }


def _slice(trace: traces.Trace, C: float) -> dict[str, Any]:
    """Return the objective between each round's weights and the next, and its lower bound.

    Between two rounds all leads are linear, so each constraint's slack is linear too. At x = r are
    the weights of round r, where the bound of its working set has its minimum.
    """
    rounds = trace.steps if len(trace.steps) > 1 else [trace.steps[0]] * 2
    xs, bases, slacks = [], [], []
    for r, (first, two) in enumerate(itertools.pairwise(rounds), 1):
        v = np.concatenate([np.ravel(a) for a in first["weights"].values()])
        w = np.concatenate([np.ravel(a) for a in two["weights"].values()])
        last = r == len(rounds) - 1
        for a in np.linspace(0.0, 1.5 if last else 1.0, 31)[: None if last else -1]:
            xs.append(r + a)
            bases.append(0.5 * float((((1 - a) * v + a * w) ** 2).sum()))
            rows = zip(first["tables"][0], two["tables"][0], strict=True)
            slacks.append([p["loss"] - (1 - a) * p["lead"] - a * q["lead"] for p, q in rows])
    base, needed = np.array(bases), np.maximum(0.0, np.array(slacks))
    names = [tuple(row["output"]) for row in trace.steps[0]["tables"][0]]
    models = []
    for step in trace.steps:
        working = [names.index(tuple(c["output"])) for c in step["working_set"]]
        most = needed[:, working].max(axis=1) if working else np.zeros(len(xs))
        models.append(base + C * most)
    demands = np.array(slacks).T
    return {"x": xs, "objective": base + C * needed.max(axis=1), "models": models,
            "names": [", ".join(name) for name in names], "demands": demands}  # fmt: skip


# -- the loss family ----------------------------------------------------------------------------


def _family(request: Request) -> dict[str, Any]:
    gamma = request.number("margin", 1.0, 0.0, 3.0)
    epsilon = request.number("temperature", 0.0, 0.0, 3.0)
    sequence = Sequence(request)
    if sequence.gold is None:
        raise Refused("a loss needs a gold output")
    L, K = len(sequence.words), len(sequence.labels)
    if K**L > 64:
        raise Refused(f"the loss family is shown for at most 64 outputs, these are {K**L:,}")
    every = [list(y) for y in itertools.product(range(K), repeat=L)]
    rows = [sequence.described(y) for y in every]
    total = np.array([r["score"] + gamma * r["cost"] for r in rows])
    if epsilon > 0:
        weight = np.exp((total - total.max()) / epsilon)
        p = weight / weight.sum()
    else:
        p = (np.arange(len(total)) == int(np.argmax(total))).astype(float)
    loss, gradient = StructuredLoss(margin=gamma, temperature=epsilon)(
        Chain(), sequence.gold, **sequence.given
    )
    for row, t, share in zip(rows, total, p, strict=True):
        row["total"], row["p"] = float(t), float(share)
    name = _family_name(gamma, epsilon)
    steps = _family_steps(sequence, rows, total, (gamma, epsilon), loss, gradient["label"])
    curves = {
        "now": (gamma, epsilon),
        "perceptron": (0.0, 0.0),
        "SVM": (1.0, 0.0),
        "CRF": (0.0, 1.0),
        "softmax-margin": (1.0, 1.0),
    }
    drawn = {title: _curve(*place) for title, place in curves.items()}
    python = [
        "import numpy as np",
        "from structlearn.losses import StructuredLoss",
        "from structlearn.structures import Chain",
        "",
        "scores = dict(",
        *[f"    {name_}={literal(a)}," for name_, a in sequence.given.items()],
        ")",
        f"loss = StructuredLoss(margin={gamma:g}, temperature={epsilon:g})",
        f"value, gradient = loss(Chain(), {sequence.gold!r}, **scores)",
        "print(value, gradient['label'])",
    ]
    ranked = sorted(rows, key=lambda r: -r["total"])
    return {
        "algorithm": name,
        "steps": steps,
        "loss": loss,
        "gradient": gradient["label"],
        "outputs": ranked,
        "best": ranked[0],
        "runner_up": ranked[1] if len(ranked) > 1 else None,
        "gold": sequence.described(sequence.gold),
        "curves": {"d": LEADS, **drawn},
        "python": "\n".join(python) + "\n",
    }


@lru_cache(maxsize=256)
def _curve(gamma: float, epsilon: float) -> list[float]:
    """Return the loss as a function of gold's lead over its only rival."""
    loss = StructuredLoss(margin=gamma, temperature=epsilon)
    return [loss(Multiclass(), 0, label=np.array([x, 0.0]))[0] for x in LEADS]


def _family_steps(
    sequence: Sequence, rows: list[dict[str, Any]], total: Any, at: tuple[float, float],
    loss: float, gradient: Any,
) -> list[dict[str, Any]]:  # fmt: skip
    """Return the loss in four steps: scores, costs, one value for all outputs, the gradient."""
    gamma, epsilon = at
    terms = [f"({' '.join(r['named'])}) {number(r['score'])}" for r in rows[:8]]
    ellipsis = f", and {len(rows) - 8} more" if len(rows) > 8 else ""
    gold = Chain().score(np.array(sequence.gold), **sequence.given)
    formulas = [["score(y):  " + ",  ".join(terms) + ellipsis]]
    costs = [
        f"({' '.join(r['named'])}) {number(r['score'])} + {number(gamma)}·{number(r['cost'])} = "
        f"{number(r['total'])}"
        for r in rows[:8]
    ]
    formulas.append(["score(y) + γ·cost(y):", *costs, *([ellipsis[2:]] if ellipsis else [])])
    if epsilon > 0:
        formulas.append([
            "L = ε log Σ exp((score + γ·cost)/ε) − score(gold)",
            f"= {number(loss + gold)} − {number(gold)} = {number(loss)}",
        ])  # fmt: skip
        last = "∇L = p − gold:  move away from what is likely, towards gold"
    else:
        best = rows[int(np.argmax(total))]
        formulas.append([
            "L = max(score + γ·cost) − score(gold)",
            f"= {number(best['score'])} + {number(gamma)}·{number(best['cost'])} − "
            f"{number(gold)} = {number(loss)}",
        ])  # fmt: skip
        last = "∇L = μ(ŷ) − μ(gold):  away from the one best output, towards gold"
    lines = [last]
    for t, word in enumerate(sequence.words):
        each = zip(sequence.labels, gradient[t], strict=True)
        lines.append(f"{word}: " + ",  ".join(f"{k} {number(float(x))}" for k, x in each))
    formulas.append(lines)
    name = _family_name(gamma, epsilon)
    says = [
        "Every output has a score.",
        f"Wrong outputs get γ = {number(gamma)} for each wrong label.",
        f"{name}: the loss is {number(loss)}.",
        "The gradient says which scores to lower (positive) and which to raise (negative).",
    ]
    return [
        {"kind": "loss", "formula": formula, "say": say}
        for formula, say in zip(formulas, says, strict=True)
    ]


def _family_name(gamma: float, epsilon: float) -> str:
    if gamma == 0:
        return "perceptron" if epsilon == 0 else "CRF" if epsilon == 1 else "CRF, tempered"
    if epsilon == 0:
        return "structured SVM"
    return "softmax-margin" if gamma == epsilon == 1 else "between SVM and CRF"


# -- dual ascent --------------------------------------------------------------------------------


def _dual(request: Request) -> dict[str, Any]:
    C = request.number("C", 1.0, 0.01, 10.0)
    passes = request.whole("passes", 10, 1, MOST_PASSES)
    X = [[["Fish"], ["Sleep"]], [["Monsters"], ["eat"], ["Fish"]], [["Sleep"], ["tasty"], ["Fish"]]]
    y = [["N", "V"], ["N", "V", "N"], ["V", "A", "N"]]
    model = CRF(C=C, solver="dual", max_iter=passes, tol=1e-6, all_possible_states=True)
    trace = traces.dual_ascent(model, X, y)
    steps = []
    for step in trace.steps:
        lines = [f"pass {step['iteration']}: dual D = {number(step['dual'], 5)} ≤ optimum"]
        if "objective" in step:
            lines.append(
                f"primal = {number(step['objective'], 5)} ≥ optimum; gap {number(step['gap'], 6)}"
            )
        say = f"Pass {step['iteration']}: the dual is {number(step['dual'], 4)}."
        steps.append(
            {"kind": "pass", "dual": step["dual"], "primal": step.get("objective"),
             "formula": lines, "say": say}
        )  # fmt: skip
    python = [
        "from structlearn import CRF, traces",
        "",
        f"X = {X!r}",
        f"y = {y!r}",
        f"model = CRF(C={C:g}, solver='dual', max_iter={passes}, tol=1e-6,",
        "            all_possible_states=True)",
        "print(model.fit(X, y).objective_, model.duality_gap_)",
        "trace = traces.dual_ascent(model, X, y)  # the passes",
    ]
    value = trace.value if trace.value is not None else math.nan
    return {
        "algorithm": trace.algorithm,
        "steps": steps,
        "objective": value,
        "gap": trace.about["gap"],
        "python": "\n".join(python) + "\n",
    }
