"""Learning while one works, and what cross-validation says of it."""

import threading

import pytest

from structlearn.labelling import learning
from structlearn.labelling.learning import LiveTagger, learned, stepped
from structlearn.labelling.quality import FEWEST, Quality, cross_validated
from structlearn.tasks import Tagger

from .addresses import make_addresses
from .conftest import KINDS

PARAMETERS = {"features": "auto", "learner": "crf", "scheme": "bio"}


@pytest.fixture(scope="module")
def answers():
    kind = KINDS["spans"]()
    return [kind.examples({"text": t, "spans": s}) for t, s in make_addresses(150)]


def flat(answers):
    return [sentence for one in answers for sentence in one]


def right(tagger, sentences):
    words = [[w for w, _ in s] for s in sentences]
    return sum(
        p == [k for _, k in s] for p, s in zip(tagger.predict(words), sentences, strict=True)
    )


def test_steps_learn_an_answer_and_keep_what_was_known(answers):
    before = learned(PARAMETERS, flat(answers[:60]))
    new = [("Zoe", "B-NAME"), ("gives", "O"), ("Ann", "B-PET"), ("Lang", "I-PET")]
    after = stepped(before, PARAMETERS, [new])
    assert after.predict([[w for w, _ in new]]) == [[k for _, k in new]]
    held = flat(answers[60:])
    assert right(after, held) >= right(before, held) - 5
    assert set(after.classes_) == {*before.classes_, "B-PET", "I-PET"}


def test_a_tagger_needs_two_labels():
    assert learned(PARAMETERS, []) is None
    assert learned(PARAMETERS, [[("a", "O"), ("b", "_")]]) is None


def test_every_answer_is_known_soon_and_the_whole_is_learned_in_the_end(answers):
    told, lock, wholes = [], threading.Lock(), []

    def examples():
        with lock:
            return flat(told)

    live = LiveTagger(PARAMETERS, examples, wholes.append)
    live.start()
    for number, one in enumerate(answers[:60], 1):
        with lock:
            told.append(one)
        live.tell(one)
        assert live.wait(number, 30)
    with live._changed:  # nobody answers any more: all is learned from scratch
        assert live._changed.wait_for(lambda: not live._since and not live._waiting, 60)
    live.stop()
    assert live.error == ""
    direct = Tagger(**PARAMETERS).fit(flat(answers[:60]))
    words = [[w for w, _ in s] for s in flat(answers)]
    assert live.tagger.predict_marginals(words, temperature=1.0) == direct.predict_marginals(
        words, temperature=1.0
    )


def test_answers_during_the_whole_learning_are_not_lost(answers, monkeypatch):
    """The whole is learned without an answer that comes meanwhile: steps add it."""
    told, at_work, go_on = answers[:40], threading.Event(), threading.Event()
    real = learning.learned

    def slow(parameters, sentences):
        found = real(parameters, sentences)
        at_work.set()
        go_on.wait(30)
        return found

    monkeypatch.setattr(learning, "learned", slow)
    live = LiveTagger(PARAMETERS, lambda: flat(told))
    live.tagger = real(PARAMETERS, flat(answers[:30]))
    live.told = live.known = 40
    live.start()
    assert at_work.wait(30)
    new = [[("Qq", "B-NEW"), ("Ww", "I-NEW")]]
    live.tell(new)
    assert live.wait(41, 30)
    go_on.set()
    with live._changed:
        assert live._changed.wait_for(lambda: live.tagger is not None and not live._waiting, 30)
    live.stop()
    assert live.tagger.predict([["Qq", "Ww"]]) == [["B-NEW", "I-NEW"]]


def test_what_goes_wrong_is_said_and_learning_goes_on(answers):
    told = answers[:40]
    live = LiveTagger({**PARAMETERS, "features": "no such file"}, lambda: flat(told))
    live.start()
    with live._changed:
        assert live._changed.wait_for(lambda: bool(live.error), 30)
    live.forget(PARAMETERS)
    assert live.wait(live.told, 30)
    with live._changed:
        assert live._changed.wait_for(lambda: live.tagger is not None, 30)
    live.stop()


def test_no_answer_waits_for_the_steps_of_a_tagger_that_takes_over(answers, monkeypatch):
    """One comes in while the new tagger catches up: it is caught up with, and then they swap."""
    live = LiveTagger(PARAMETERS, lambda: flat(answers[:40]))
    live.tell(answers[40])
    live._whole_due, seen = True, []

    def catching_up(tagger, parameters, sentences):
        assert live._stepping.acquire(blocking=False), "the steps hold what answers wait for"
        live._stepping.release()
        seen.append(sentences)
        if len(seen) == 1:
            live.tell(answers[41])
        return stepped(tagger, parameters, sentences)

    def learned_meanwhile(parameters, sentences):
        live.tell(answers[42])
        return learned(parameters, sentences)

    monkeypatch.setattr(learning, "stepped", catching_up)
    monkeypatch.setattr(learning, "learned", learned_meanwhile)
    live._whole()
    assert seen == [answers[42], answers[41]]
    assert live.known == live.told == 3
    assert live._waiting == []
    # Answers that never stop are left to the steps.
    endless = iter(answers[50:])

    def never_ending(tagger, parameters, sentences):
        live.tell(next(endless))
        return tagger

    monkeypatch.setattr(learning, "stepped", never_ending)
    monkeypatch.setattr(learning, "learned", learned_meanwhile)
    live._whole_due = True
    live._whole()
    assert len(live._waiting) == 1
    assert live.known == live.told - 1


def test_cross_validation_says_what_a_held_out_file_says(answers):
    found = cross_validated(PARAMETERS, answers[:100])
    tagger = Tagger(**PARAMETERS).fit(flat(answers[:80]))
    f1 = tagger.evaluate(flat(answers[100:]))["f1"]
    last = found.points[-1]
    assert found.metric == "F1"
    assert last["low"] <= last["value"] <= last["high"]
    assert abs(last["value"] - f1) < 0.06
    assert found.points[0]["value"] < last["value"]
    labels = [one["labels"] for one in found.points]
    assert labels == sorted(labels)
    assert found.gain["value"] == pytest.approx(last["value"] - found.points[-2]["value"])
    assert found == cross_validated(PARAMETERS, answers[:100])
    assert cross_validated(PARAMETERS, answers[: FEWEST - 1]) is None
    assert cross_validated(PARAMETERS, answers, lambda: True) is None


def test_labels_by_chance_say_that_more_do_not_pay():
    """All words are of one label: the first quarter knows all there is."""
    plain = [[[("a", "A"), ("b", "B")]] for _ in range(60)]
    found = cross_validated({"features": "pos", "learner": "crf"}, plain)
    assert found.metric == "accuracy"
    assert found.points[-1]["value"] == 1
    assert not found.pays
    assert "hardly pay" in found.said


def test_classes_are_counted_by_text():
    """Short texts are clear, and long ones, which have nine tokens in ten, are a coin's throw."""
    clear = [[[("a", "A")]] for _ in range(40)]
    answers = clear + [[[("b", "BC"[i % 2])] * 20] for i in range(20)]
    parameters = {"features": "pos", "learner": "crf", "order": 0}
    by_token, by_text = (cross_validated(parameters, answers, whole=w) for w in (False, True))
    assert by_token.points[-1]["value"] < 0.65
    assert by_text.points[-1]["value"] == pytest.approx(5 / 6, abs=0.09)
    assert by_text.points[-1]["labels"] == 48  # texts of four folds of five


@pytest.mark.parametrize(
    ("gain", "said"),
    [((0.05, 0.02, 0.08), "more labels pay"), ((0.01, -0.05, 0.07), "too few labels"),
     ((0.001, -0.002, 0.004), "hardly pay")],
)  # fmt: skip
def test_the_advice(gain, said):
    value, low, high = gain
    found = Quality(50, "F1", [], {"value": value, "low": low, "high": high})
    assert said in found.said
