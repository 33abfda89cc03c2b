"""keras.utils.PyDataset over a source."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import keras
import numpy as np
import pytest

from kfood_tfds import postprocessing as pp
from kfood_tfds import sampling
from kfood_tfds.sampling.keras_data import dataset


def corner(example: dict[str, Any]) -> tuple[np.ndarray, int]:
    return example["image"][:4, :4].astype(np.float32), example["label"]


def _model() -> keras.Model:
    layers = [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(3, activation="softmax")]
    model = keras.Sequential(layers)
    model.compile(loss="sparse_categorical_crossentropy")
    return model


def test_batches_follow_the_sampler_and_its_epochs(source: Any) -> None:
    sampler = sampling.Random(source, seed=2)
    data = sampling.PyDataset(source, sampler, corner, 16)
    assert len(data) == 3
    for epoch in range(2):
        data.on_epoch_begin()
        order = sampler.indices(epoch)
        images = np.concatenate([data[step][0] for step in range(3)])
        np.testing.assert_array_equal(
            images[:, 0, 0, 0], [source[int(i)]["image"][0, 0, 0] for i in order]
        )
        data.on_epoch_end()
    assert len(sampling.PyDataset(source, sampler, corner, 16, drop_remainder=True)) == 2


def test_pipeline_gives_what_the_tf_data_set_gives(source: Any) -> None:
    pipeline = pp.train_pipeline(8, num_classes=3)
    sampler = sampling.Balanced(source, per_class=12)
    data = sampling.PyDataset(source, sampler, pipeline, 18, seed=4)
    reference = list(dataset(source, sampler, pipeline, 18, seed=4, epochs=2))
    for step in range(4):
        data.on_epoch_begin()
        images, labels = data[step % 2]
        np.testing.assert_allclose(images, reference[step][0], atol=1e-6)
        np.testing.assert_array_equal(labels, reference[step][1])
        if step == 1:
            data.on_epoch_end()


def test_trains_with_threads(source: Any) -> None:
    data = sampling.PyDataset(source, sampling.Random(source), corner, 8, workers=2)
    history = _model().fit(data, epochs=2, verbose=0).history
    assert len(history["loss"]) == 2


class _Noted(keras.callbacks.Callback):
    """Notes the red of the images of each batch trained on, which is the example's number."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[list[float]] = []

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.seen.append([])


class _Noting(keras.Sequential):
    noted: _Noted

    def train_step(self, data: Any) -> Any:
        self.noted.seen[-1].extend(data[0][:, 0, 0, 0].numpy().tolist())
        return super().train_step(data)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(("size", "steps"), [(8, None), (40, None), (8, 2)])
def test_training_sees_the_sampler_s_epochs_from_the_first_on(
    source: Any, workers: int, size: int, steps: int | None
) -> None:
    sampler = sampling.Random(source, seed=2)
    data = sampling.PyDataset(source, sampler, corner, size, workers=workers)
    model = _Noting([keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(3)])
    model.compile(loss=keras.losses.SparseCategoricalCrossentropy(True), run_eagerly=True)
    model.noted = _Noted()
    arguments = {"shuffle": False, "verbose": 0, "callbacks": [model.noted]}
    model.fit(data, epochs=5 if steps else 2, steps_per_epoch=steps, **arguments)
    seen = sum(model.noted.seen, [])
    expected = [
        source[int(index)]["image"][0, 0, 0]
        for epoch in range(3)
        for index in sampler.indices(epoch)
    ]
    assert seen == expected[: len(seen)]
    # Keras leaves its own epoch of two steps when the data's five are over.
    assert len(seen) == (72 if steps else 80)
    if steps is None:
        # What a second call goes on with, after an evaluation by other data.
        model.evaluate(sampling.PyDataset(source, sampler, corner, size), verbose=0)
        model.fit(data, epochs=1, **arguments)
        assert model.noted.seen[-1] == expected[80:]


def test_evaluation_in_between_keeps_to_its_own_epochs(source: Any) -> None:
    data = sampling.PyDataset(source, sampling.Random(source), corner, 8)
    held_out = sampling.PyDataset(source, sampling.Sequential(source), corner, 8)
    model = _model()
    history = model.fit(data, validation_data=held_out, epochs=3, verbose=0).history
    assert model.evaluate(held_out, verbose=0) == pytest.approx(history["val_loss"][-1], rel=1e-5)
    assert len(model.predict(held_out, verbose=0)) == 40


def test_pickles_for_worker_processes(source: Any) -> None:
    for transform in (corner, pp.eval_pipeline(8, one_hot=False)):
        data = sampling.PyDataset(source, sampling.Sequential(source), transform, 8)
        expected = data[1]
        copied = pickle.loads(pickle.dumps(data))[1]
        np.testing.assert_array_equal(copied[0], expected[0])
        np.testing.assert_array_equal(copied[1], expected[1])


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_trains_on_other_backends_without_tensorflow(source: Any, backend: str) -> None:
    pytest.importorskip(backend, reason=f"{backend} is not installed")
    code = f"""
import sys
import keras
import numpy as np
from kfood_tfds import sampling, sources

def corner(example):
    return example["image"][:4, :4].astype(np.float32), example["label"]

source = sources.RandomAccess({source.directory!r}, "train")
layers = [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(3, activation="softmax")]
model = keras.Sequential(layers)
model.compile(loss="sparse_categorical_crossentropy")
data = sampling.PyDataset(source, sampling.Balanced(source), corner, 8, workers=2)
history = model.fit(data, epochs=2, verbose=0).history
assert data._epoch == 2, data._epoch
print(keras.backend.backend(), len(history["loss"]), "tensorflow" in sys.modules)
"""
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "KERAS_BACKEND": backend, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[-3:] == [backend, "2", "False"]


def test_no_full_batch_is_an_error(source: Any) -> None:
    with pytest.raises(ValueError, match="40 indices make no batch"):
        sampling.PyDataset(source, sampling.Random(source), corner, 50, drop_remainder=True)
