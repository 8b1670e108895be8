"""Training a tagger goes on from a checkpoint, dev scores and all."""

import pytest

from structlearn import cli
from structlearn.fitting import checkpoint as module
from structlearn.fitting.dev_monitor import Watch
from structlearn.tasks import Tagger
from tests.tasks.tagging.tagger_data import chunked, tagged


class Killed(Exception):
    pass


@pytest.fixture(autouse=True)
def at_every_iteration(monkeypatch):
    monkeypatch.setattr(module, "EVERY", 0.0)
    monkeypatch.setattr(module, "SHARE", 1e9)


@pytest.fixture
def kill_at(monkeypatch):
    """Return a function that sets the iteration, and run, at which everything ends; 0: none."""
    look = Watch.__call__
    at = [0, 1]

    def watched(self, record):
        if [record["iteration"], self.run] == at:
            raise Killed
        return look(self, record)

    def kill(iteration, run=1):
        at[:] = iteration, run

    monkeypatch.setattr(Watch, "__call__", watched)
    return kill


def written(tagger, path):
    tagger.save(path)
    return path.read_bytes()


def history(tagger):
    return [{k: v for k, v in record.items() if k != "seconds"} for record in tagger.history_]


@pytest.mark.parametrize("dev", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"learner": "crf", "max_iter": 12},
        {"learner": "crf", "l1": 0.1, "max_iter": 12},
        {"learner": "svm", "max_iter": 6},
        {"learner": "arow", "max_iter": 6},
        {"learner": "perceptron", "n_models": 1, "max_iter": 6},
        {"learner": "perceptron", "n_models": 1, "max_iter": 6, "average": False},
        {"learner": "perceptron", "order": 2, "n_models": 1, "max_iter": 6, "patience": 2},
    ],
    ids=["crf", "l1", "svm", "arow", "perceptron", "last weights", "order 2"],
)
def test_goes_on_to_the_same_model(options, dev, tmp_path, kill_at):
    train, held_out = tagged(40), tagged(20, seed=1) if dev else None
    straight = Tagger("pos", **options).fit(train, dev=held_out)
    assert len(straight.history_) >= 3
    path = tmp_path / "training"
    for k in (3, len(straight.history_)):
        kill_at(k)
        with pytest.raises(Killed):
            Tagger("pos", checkpoint=path, **options).fit(train, dev=held_out)
        assert path.exists()
    kill_at(0)
    resumed = Tagger("pos", checkpoint=path, n_jobs=2, **options).fit(train, dev=held_out)
    assert history(resumed) == history(straight)
    assert written(resumed, tmp_path / "a") == written(straight, tmp_path / "b")
    assert not path.exists()


@pytest.mark.parametrize("dev", [False, True])
def test_goes_on_in_the_middle_of_several_models(dev, tmp_path, kill_at):
    train, held_out = tagged(40), tagged(20, seed=1) if dev else None
    options = {"n_models": 3, "max_iter": 4, "patience": 0}
    straight = Tagger("pos", **options).fit(train, dev=held_out)
    path = tmp_path / "training"
    for run, k in ((1, 3), (2, 2), (2, 4), (3, 3)):
        kill_at(k, run)
        with pytest.raises(Killed):
            Tagger("pos", checkpoint=path, **options).fit(train, dev=held_out)
    kill_at(0)
    resumed = Tagger("pos", checkpoint=path, n_jobs=2, **options).fit(train, dev=held_out)
    assert resumed.model_.training["n_models"] == 3
    assert history(resumed) == history(straight)
    assert written(resumed, tmp_path / "a") == written(straight, tmp_path / "b")
    assert list(tmp_path.glob("training*")) == []


def test_goes_on_with_a_stream(tmp_path, kill_at):
    text, path = tmp_path / "train.txt", tmp_path / "training"
    sentences = ("".join(f"{w} {t}\n" for w, t in sentence) for sentence in tagged(40))
    text.write_text("\n".join(sentences))
    straight = Tagger("pos", n_models=1, max_iter=5).fit_stream(text)
    kill_at(4)
    with pytest.raises(Killed):
        Tagger("pos", n_models=1, max_iter=5, checkpoint=path).fit_stream(text)
    kill_at(0)
    resumed = Tagger("pos", n_models=1, max_iter=5, checkpoint=path).fit_stream(text)
    assert history(resumed) == history(straight)
    assert written(resumed, tmp_path / "a") == written(straight, tmp_path / "b")


def test_command_line(tmp_path, kill_at, capsys):
    text = tmp_path / "train.txt"
    sentences = ("".join(f"{' '.join(t)}\n" for t in sentence) for sentence in chunked(40))
    text.write_text("\n".join(sentences))
    path = tmp_path / "training"

    def train(model, *more):
        return cli.run(
            ["train", "tagger", str(text), "--model", str(tmp_path / model), "--learner", "crf",
             "--max-iter", "8", "--quiet", *more]
        )  # fmt: skip

    assert train("straight") == 0
    kill_at(4)
    with pytest.raises(Killed):
        train("resumed", "--checkpoint", str(path))
    kill_at(0)
    assert train("resumed", "--checkpoint", str(path), "--C", "0.9") != 0
    assert (
        f"{path}: this is the checkpoint of another training run (C was 1.0"
        in capsys.readouterr().err
    )
    assert train("resumed", "--checkpoint", str(path)) == 0
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "straight").read_bytes()
    assert not path.exists()
