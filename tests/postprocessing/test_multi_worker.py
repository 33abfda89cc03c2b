"""Two processes that train one model together: every example once, the same weights in the end."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

NUMBER, EPOCHS = 22, 2
# What a user's script looks like, plus a note of the ids that each step saw.
TRAIN = """
import json, sys
import numpy as np
import tensorflow as tf
import keras
from kfood_tfds import postprocessing as pp

folder, number, epochs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
strategy = tf.distribute.MultiWorkerMirroredStrategy()

class Model(keras.Model):
    # Keras 3.15 fails where it averages a first batch, and the metrics, over processes:
    # https://github.com/keras-team/keras/issues/20585
    def _maybe_symbolic_build(self, iterator=None, data_batch=None):
        super()._maybe_symbolic_build(data_batch=(np.zeros((4, 8, 8, 3)), np.zeros((4, 150))))

    def train_step(self, data):
        # It takes a mean over the first axis of these, which they don't have.
        return {name: value[None] for name, value in super().train_step(data).items()}

def batches(context, **more):
    return pp.train_pipeline(8).batches(
        pp.fake_examples(number), 4, seed=3, epochs=epochs,
        num_input_pipelines=context.num_input_pipelines,
        input_pipeline_id=context.input_pipeline_id, **more)

worker = strategy.cluster_resolver.task_id
context = tf.distribute.InputContext(2, worker, 2)
keras.utils.set_random_seed(worker)  # The first worker's weights become everybody's.
with strategy.scope():
    inputs = keras.Input((8, 8, 3))
    model = Model(inputs, keras.layers.Dense(150, "softmax")(keras.layers.Flatten()(inputs)))
    model.compile(keras.optimizers.SGD(0.1), "categorical_crossentropy")

steps = int(batches(context).cardinality()) // epochs
first = [np.array(weight) for weight in model.get_weights()]
train = strategy.distribute_datasets_from_function(batches)
model.fit(train, epochs=epochs, steps_per_epoch=steps, verbose=0)
named = batches(context, with_ids=True).as_numpy_iterator()
ids = [[name.decode() for name in names] for _, _, names in named]
np.savez(f"{folder}/weights-{worker}.npz", *model.get_weights())
moved = max(float(np.abs(a - b).max()) for a, b in zip(first, model.get_weights()))
with open(f"{folder}/seen-{worker}.json", "w") as file:
    json.dump({"steps": steps, "ids": ids, "moved": moved}, file)
"""


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.mark.slow
def test_two_processes_train_on_every_example_once(tmp_path: Path) -> None:
    workers = [f"127.0.0.1:{port}" for port in _free_ports(2)]
    processes = []
    for index in range(2):
        task = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TF_CONFIG": json.dumps(task)}
        command = [sys.executable, "-c", TRAIN, str(tmp_path), str(NUMBER), str(EPOCHS)]
        processes.append(
            subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        )
    errors = [process.communicate(timeout=240)[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], errors[0][-9000:]
    seen = [json.loads((tmp_path / f"seen-{index}.json").read_text()) for index in range(2)]
    # 22 examples for two workers in batches of 4 are three steps an epoch for both.
    assert [one["steps"] for one in seen] == [3, 3]
    assert [len(one["ids"]) for one in seen] == [6, 6]
    for epoch in (slice(0, 3), slice(3, 6)):
        names = [name for one in seen for batch in one["ids"][epoch] for name in batch]
        assert len(names) == len(set(names)) == NUMBER
    assert all(one["moved"] > 0 for one in seen)
    weights = [np.load(tmp_path / f"weights-{index}.npz") for index in range(2)]
    for name in weights[0].files:
        np.testing.assert_array_equal(weights[0][name], weights[1][name])
