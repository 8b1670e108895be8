"""What a dependency parser is made of."""

from __future__ import annotations

from .model import ParserModel


def parser_facts(model: ParserModel) -> list[tuple[str, str]]:
    """Return what a model scores, and how good its passes were."""
    training = model.training
    weights = memoryview(model.arrays["weights"]).cast("B").cast("f")
    facts = [
        ("order", f"{model.order}, {'projective' if model.projective else 'any'} trees"),
        (
            "pruner",
            f"at most {model.most} heads per word, each with at least {model.least:g} times the "
            "probability of the best one",
        ),
        ("weights", f"{sum(map(bool, weights)):,} of {len(weights):,} are not 0"),
        ("taggers", ", ".join(t.target_name for t in model.taggers) or "none (gold tags)"),
        (f"{len(model.labels)} relations", " ".join(model.labels)),
    ]
    for record in training.get("history", []):
        if "dev_las" in record:
            run = f"run {record['run']}, " if training.get("n_models", 1) > 1 else ""
            facts.append((f"{run}pass {record['pass']}", f"dev LAS {100 * record['dev_las']:.2f}"))
    return facts
