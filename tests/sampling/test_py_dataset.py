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
        images, labels = data[step % 2]
        np.testing.assert_allclose(images, reference[step][0], atol=1e-6)
        np.testing.assert_array_equal(labels, reference[step][1])
        if step == 1:
            data.on_epoch_end()


def test_trains_with_threads(source: Any) -> None:
    data = sampling.PyDataset(source, sampling.Random(source), corner, 8, workers=2)
    history = _model().fit(data, epochs=2, verbose=0).history
    assert len(history["loss"]) == 2


def test_pickles_for_worker_processes(source: Any) -> None:
    for transform in (corner, pp.eval_pipeline(8, one_hot=False)):
        data = sampling.PyDataset(source, sampling.Sequential(source), transform, 8)
        expected = data[1]
        copied = pickle.loads(pickle.dumps(data))[1]
        np.testing.assert_array_equal(copied[0], expected[0])
        np.testing.assert_array_equal(copied[1], expected[1])


@pytest.mark.slow
def test_trains_on_the_torch_backend_without_tensorflow(source: Any) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
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
print(keras.backend.backend(), len(history["loss"]), "tensorflow" in sys.modules)
"""
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "KERAS_BACKEND": "torch", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[-3:] == ["torch", "2", "False"]


def test_no_full_batch_is_an_error(source: Any) -> None:
    with pytest.raises(ValueError, match="40 indices make no batch"):
        sampling.PyDataset(source, sampling.Random(source), corner, 50, drop_remainder=True)
