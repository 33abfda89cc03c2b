"""Class counts and weights; the expected weights are worked out by hand."""

from __future__ import annotations

import types

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds.sampling import class_balance as cb


def _info(**metadata: object) -> types.SimpleNamespace:
    return types.SimpleNamespace(metadata=metadata)


def _examples(labels: list[int]) -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices({"label": np.array(labels, np.int64)})


def test_counts_come_from_the_metadata() -> None:
    counts = cb.class_counts(_info(class_counts={"train": [3, 0, 1]}), "train")
    assert counts.dtype == np.int64
    assert counts.tolist() == [3, 0, 1]


def test_counts_of_a_data_set_and_of_a_source() -> None:
    counts = cb.class_counts(_examples([0, 2, 2, 149]))
    assert len(counts) == 150
    assert (counts[0], counts[2], counts[149], counts.sum()) == (1, 2, 1, 4)
    source = types.SimpleNamespace(column=lambda name: [1, 1, 0] if name == "label" else None)
    assert cb.class_counts(source, num_classes=3).tolist() == [1, 2, 0]
    assert len(cb.class_counts(source)) == 150


def test_counts_of_an_info_have_the_length_asked_for() -> None:
    info = _info(class_counts={"train": [3, 0, 1]})
    assert cb.class_counts(info, "train", num_classes=5).tolist() == [3, 0, 1, 0, 0]
    with pytest.raises(ValueError, match="for another class table give num_classes"):
        cb.class_counts(info, "train", num_classes=2)


def test_labels_without_a_weight_are_named_in_a_graph_too() -> None:
    labels = tf.data.Dataset.from_tensor_slices([[0, 1], [1, 2], [-1, 0]])
    weighted = labels.map(lambda batch: cb.example_weights(batch, {0: 2.0, 1: 0.5}))
    assert next(iter(weighted)).numpy().tolist() == [2.0, 0.5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="a weight for each label.*are 2"):
        list(weighted)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a weight for each label"):
        cb.example_weights(tf.constant([-1, 0]), {0: 2.0, 1: 0.5})


def test_balanced_equals_scikit_learns() -> None:
    # sklearn.utils.class_weight.compute_class_weight("balanced", classes=[0, 2, 3],
    # y=[0] * 6 + [2] * 3 + [3]) is [10/18, 10/9, 10/3].
    weights = cb.class_weights([6, 0, 3, 1])
    assert weights == pytest.approx({0: 10 / 18, 1: 1.0, 2: 10 / 9, 3: 10 / 3})


def test_square_root_scheme() -> None:
    # 1/3 and 1/2 on 9 and 4 examples: scaled by 13 / (9/3 + 4/2) = 13/5.
    assert cb.class_weights([9, 4], scheme="sqrt") == pytest.approx({0: 13 / 15, 1: 13 / 10})


def test_effective_scheme() -> None:
    # beta = 1/2: (1/2)/(1 - 1/4) = 2/3 for two, (1/2)/(1/2) = 1 for one; scaled by 3 / (4/3 + 1).
    weights = cb.class_weights([2, 1], scheme="effective", beta=0.5)
    assert weights == pytest.approx({0: 6 / 7, 1: 9 / 7})
    assert cb.class_weights([2, 1], scheme="effective", beta=0.0) == {0: 1.0, 1: 1.0}


@pytest.mark.parametrize("scheme", cb.SCHEMES)
def test_mean_weight_over_the_examples_is_one(scheme: str) -> None:
    counts = np.array([700, 14, 0, 350, 1])
    weights = cb.class_weights(counts, scheme=scheme)
    total = sum(weights[label] * count for label, count in enumerate(counts))
    assert total == pytest.approx(counts.sum())
    assert list(weights) == [0, 1, 2, 3, 4]
    assert all(type(weight) is float for weight in weights.values())


def test_weights_from_an_info() -> None:
    info = _info(class_counts={"train": [1, 3]})
    assert cb.class_weights(info, "train") == pytest.approx({0: 2.0, 1: 2 / 3})


def test_example_weights_of_arrays_and_tensors() -> None:
    weights = {0: 2.0, 1: 0.5, 2: 1.0}
    assert cb.example_weights(np.array([1, 0]), weights).tolist() == [0.5, 2.0]
    assert cb.example_weights(tf.constant([1, 0]), weights).numpy().tolist() == [0.5, 2.0]
    soft = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], np.float32)
    assert cb.example_weights(soft, weights).tolist() == [1.25, 1.0]
    assert cb.example_weights(tf.constant(soft), weights).numpy().tolist() == [1.25, 1.0]


def test_weighted_batches_train_a_keras_model() -> None:
    images = np.zeros((4, 2), np.float32)
    labels = tf.one_hot([0, 1, 1, 0], 2)
    batches = tf.data.Dataset.from_tensor_slices((images, labels)).batch(2)
    weighted = batches.map(cb.add_weights({0: 3.0, 1: 1.0}))
    assert [w.numpy().tolist() for _, _, w in weighted] == [[3.0, 1.0], [1.0, 3.0]]
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, activation="softmax")])
    model.compile(loss="categorical_crossentropy")
    history = model.fit(weighted, verbose=0)
    # The network's first answer to all zeros is 1/2 each; Keras divides the sum by the batch size.
    assert history.history["loss"][0] == pytest.approx((3 + 1) / 2 * np.log(2), rel=0.01)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cb.class_counts(_info(class_counts={"train": [1]})), "split=None"),
        (lambda: cb.class_counts(_info(class_counts={"train": [1]}), "test"), "split='test'"),
        (lambda: cb.class_counts(types.SimpleNamespace(metadata=None), "train"), "train"),
        (lambda: cb.class_counts(_examples([3]), num_classes=3), "from 3 to 3"),
        (lambda: cb.class_counts([1, 2]), "list"),
        (lambda: cb.class_weights([0, 0]), "all 0"),
        (lambda: cb.class_weights([1.5]), "counts must be int"),
        (lambda: cb.class_weights([-1, 2]), "counts must be int"),
        (lambda: cb.class_weights([1], scheme="log"), "scheme='log'"),
        (lambda: cb.class_weights([1], scheme="effective", beta=1.0), "beta"),
        (lambda: cb.add_weights({1: 1.0}), "each label from 0"),
        (lambda: cb.example_weights(np.zeros((2, 3)), {0: 1.0}), "3 classes in the labels"),
        (lambda: cb.example_weights(np.array([0, 4]), {0: 1.0}), "up to 4"),
        (
            lambda: cb.class_counts(tf.data.Dataset.from_tensors((1, 2))),
            "without as_supervised=True",
        ),
    ],
)
def test_bad_arguments_are_named(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
