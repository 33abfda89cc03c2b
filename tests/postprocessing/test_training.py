"""model.fit: epochs, a killed and restarted training, both backends, averaged crops."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from kfood_tfds import postprocessing as pp

# Trains for four epochs; dies in the third if told so, and writes each batch's loss as it goes.
TRAIN = """
import json, os, signal, sys
import keras
from kfood_tfds import postprocessing as pp

folder, kill_at = sys.argv[1], sys.argv[2]
keras.utils.set_random_seed(1)
model = keras.Sequential(
    [keras.Input((8, 8, 3)), keras.layers.Flatten(), keras.layers.Dense(150, "softmax")]
)
model.compile(keras.optimizers.Adam(0.01), "categorical_crossentropy")
train = pp.train_pipeline(8, augment=(pp.MixUp(),)).batches(pp.fake_examples(20), 6, seed=5)

class Log(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch
    def on_train_batch_end(self, batch, logs=None):
        with open(f"{folder}/losses.jsonl", "a") as file:
            file.write(json.dumps([self.epoch, batch, float(logs["loss"])]) + "\\n")
        if kill_at == f"{self.epoch}.{batch}":
            os.kill(os.getpid(), signal.SIGKILL)

backup = keras.callbacks.BackupAndRestore(f"{folder}/backup")
model.fit(train, epochs=4, verbose=0, callbacks=[backup, pp.AlignEpochs(train), Log()])
"""


def run(folder: Path, kill_at: str, backend: str = "tensorflow") -> int:
    folder.mkdir(exist_ok=True)
    env = {
        "PYTHONPATH": ":".join(sys.path),
        "CUDA_VISIBLE_DEVICES": "-1",
        "KERAS_BACKEND": backend,
        "KERAS_HOME": str(folder),
    }
    command = [sys.executable, "-c", TRAIN, str(folder), kill_at]
    return subprocess.run(command, env=env, stderr=subprocess.DEVNULL).returncode


def losses(folder: Path) -> dict[tuple[int, int], list[float]]:
    found: dict[tuple[int, int], list[float]] = {}
    for line in (folder / "losses.jsonl").read_text().splitlines():
        epoch, batch, loss = json.loads(line)
        found.setdefault((epoch, batch), []).append(loss)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_a_killed_training_goes_on_exactly(tmp_path: Path, backend: str) -> None:
    if not importlib.util.find_spec(backend):
        pytest.skip(f"{backend} is not installed")
    assert run(tmp_path / "whole", "never", backend) == 0
    assert run(tmp_path / "killed", "2.1", backend) == -signal.SIGKILL
    assert run(tmp_path / "killed", "never", backend) == 0
    whole, killed = losses(tmp_path / "whole"), losses(tmp_path / "killed")
    assert sorted(whole) == sorted(killed) == [(e, b) for e in range(4) for b in range(4)]
    # What came before the kill, and what was done again after it, equals the undisturbed run.
    assert len(killed[2, 0]) == len(killed[2, 1]) == 2
    for step, values in killed.items():
        assert values == pytest.approx(whole[step] * len(values), rel=1e-5)


def model_of(size: int, classes: int) -> Any:
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [keras.Input((size, size, 3)), keras.layers.Flatten(), keras.layers.Dense(classes)]
    )
    model.compile("sgd", keras.losses.CategoricalCrossentropy(from_logits=True))
    return model


@pytest.mark.slow
def test_fit_takes_each_epoch_once_and_knows_its_length() -> None:
    train = pp.train_pipeline(8).batches(pp.fake_examples(10), 4)
    history = model_of(8, 150).fit(
        train,
        validation_data=pp.eval_pipeline(8).batches(pp.fake_examples(4), 4),
        epochs=3,
        verbose=0,
        class_weight=dict.fromkeys(range(150), 1.0),
    )
    assert len(history.history["val_loss"]) == 3
    # Three steps in each of three epochs; the batch that Keras builds the model with isn't counted.
    assert int(train.position) == 9


def test_fit_on_one_long_data_set() -> None:
    train = pp.train_pipeline(8).batches(pp.fake_examples(10), 4, epochs=3)
    history = model_of(8, 150).fit(train, epochs=3, steps_per_epoch=3, verbose=0)
    assert len(history.history["loss"]) == 3


@pytest.mark.slow
def test_align_epochs_starts_where_fit_starts() -> None:
    def first_batches(initial_epoch: int) -> list[np.ndarray]:
        train = pp.train_pipeline(8).batches(pp.fake_examples(10), 4)
        align = pp.AlignEpochs(train)
        align.on_epoch_begin(initial_epoch)
        return [images.numpy() for images, _ in train]

    long = pp.train_pipeline(8).batches(pp.fake_examples(10), 4, epochs=3)
    expected = [images.numpy() for images, _ in long]
    for epoch in (0, 2):
        found = first_batches(epoch)
        assert all(map(np.array_equal, found, expected[3 * epoch : 3 * epoch + 3]))


def test_align_epochs_needs_what_batches_returned() -> None:
    ds = pp.fake_examples(4)
    for wrong in (
        ds,
        pp.eval_pipeline(8).batches(ds, 2),
        pp.train_pipeline(8).batches(ds, 2, epochs=2),
    ):
        with pytest.raises(ValueError, match="AlignEpochs needs the data set that batches"):
            pp.AlignEpochs(wrong)


@pytest.mark.slow
def test_average_crops() -> None:
    pipeline = pp.Pipeline((pp.CropToBox(), pp.MultiCrop(), pp.Resize(8), pp.Scale()))
    ((images, _),) = pipeline.batches(pp.fake_examples(3), 3)
    model = model_of(8, 4)
    expected = np.mean([model.predict(images[:, crop], verbose=0) for crop in range(5)], axis=0)
    result = pp.average_crops(model).predict(images, verbose=0)
    np.testing.assert_allclose(result, expected, atol=1e-5)
