"""MixUp and CutMix."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing.ops import example_key

BOTH = [pp.MixUp(), pp.CutMix()]


def batch_of(size, dtype=np.float32, height=24, width=30, names=None):
    """Returns a batch whose examples have one label each."""
    rng = np.random.default_rng(size)
    names = names or [f"{i}" for i in range(size)]
    return {
        "image": tf.constant(rng.integers(0, 256, (size, height, width, 3)).astype(dtype)),
        "label": tf.one_hot(tf.range(size), size),
        "category": tf.one_hot(tf.range(size) // 2, size),
        "sample_weight": tf.constant(rng.uniform(0.5, 2, size), tf.float32),
        "id": tf.constant(names),
        "seed": example_key(0, 0, tf.constant(names)),
    }


def shares_and_partners(labels):
    """Returns what each example kept of its label, and whose label it got besides."""
    labels = np.array(labels)
    own = np.diag(labels)
    return own, (labels - np.diag(own)).argmax(1)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_mix_up_blends_images_as_labels(dtype):
    batch = batch_of(6, dtype)
    mixed = pp.MixUp(1.0)(batch)
    share, partner = shares_and_partners(mixed["label"])
    assert len(set(share.tolist())) == 6
    assert (partner != np.arange(6)).all()
    images = batch["image"].numpy().astype(np.float64)
    weight = share[:, None, None, None]
    expected = weight * images + (1 - weight) * images[partner]
    assert mixed["image"].dtype == batch["image"].dtype
    tolerance = 0.501 if dtype == np.uint8 else 1e-3
    np.testing.assert_allclose(mixed["image"].numpy(), expected, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_cut_mix_pastes_the_area_that_labels_say(dtype):
    batch = batch_of(16, dtype)
    images = batch["image"].numpy()
    mixed = pp.CutMix()(batch)
    share, partner = shares_and_partners(mixed["label"])
    assert mixed["image"].dtype == batch["image"].dtype
    assert len(set(share.round(4).tolist())) > 10
    for index, result in enumerate(mixed["image"].numpy()):
        pasted = (result != images[index]).any(-1)
        np.testing.assert_array_equal(result[pasted], images[partner[index]][pasted])
        # Two pixels of noise are equal once in 16 million.
        assert 1 - pasted.mean() == pytest.approx(share[index], abs=1e-5)
        ys, xs = np.nonzero(pasted)
        if ys.size:
            assert (np.ptp(ys) + 1) * (np.ptp(xs) + 1) == pasted.sum()


@pytest.mark.parametrize("op", [pp.MixUp(1.0), pp.CutMix()])
def test_labels_categories_and_weights_are_mixed_alike(op):
    batch = batch_of(8)
    mixed = op(batch)
    share, partner = shares_and_partners(mixed["label"])
    for key in ("label", "category", "sample_weight"):
        values = batch[key].numpy()
        part = share.reshape([-1] + [1] * (values.ndim - 1))
        np.testing.assert_allclose(
            mixed[key], part * values + (1 - part) * values[partner], atol=1e-6
        )
    np.testing.assert_allclose(tf.reduce_sum(mixed["label"], 1), np.ones(8), atol=1e-6)
    np.testing.assert_allclose(tf.reduce_sum(mixed["category"], 1), np.ones(8), atol=1e-6)
    np.testing.assert_array_equal(mixed["id"], batch["id"])


@pytest.mark.parametrize("op", BOTH)
def test_integer_categories_stay(op):
    batch = batch_of(4) | {"category": tf.constant([5, 6, 7, 8])}
    np.testing.assert_array_equal(op(batch)["category"], [5, 6, 7, 8])


@pytest.mark.parametrize("alpha", [0.2, 1.0, 8.0])
def test_shares_are_beta_distributed(alpha):
    batch = batch_of(1500, height=1, width=1)
    share, _ = shares_and_partners(pp.MixUp(alpha)(batch)["label"])
    # Variance of Beta(a, a): 1 / (4 (2 a + 1)).
    variance = 1 / (4 * (2 * alpha + 1))
    assert share.mean() == pytest.approx(0.5, abs=4 * np.sqrt(variance / 1500))
    assert share.var() == pytest.approx(variance, rel=0.12)


def test_the_least_alpha_takes_one_example_or_the_other():
    batch = batch_of(400, height=2, width=2)
    share, _ = shares_and_partners(pp.MixUp(0.01)(batch)["label"])
    assert ((share < 0.01) | (share > 0.99)).mean() > 0.9
    assert 0.4 < share.mean() < 0.6


def test_rectangles_lie_everywhere_and_keep_the_aspect():
    batch = batch_of(200, height=40, width=20)
    batch["image"] = tf.random.stateless_uniform(batch["image"].shape, [1, 2])
    changed = (pp.CutMix()(batch)["image"].numpy() != batch["image"].numpy()).any(-1)
    hits = changed.mean(0)
    assert hits.min() > 0.1 and hits.max() < 0.75
    # Corners are hit less than the middle, on both sides alike.
    assert hits[0, 0] < hits[20, 10] and hits[-1, -1] < hits[20, 10]
    assert abs(hits[:20].mean() - hits[20:].mean()) < 0.1
    heights, widths = changed.any(2).sum(1), changed.any(1).sum(1)
    inside = (heights > 8) & ~changed[:, [0, -1]].any((1, 2)) & ~changed[:, :, [0, -1]].any((1, 2))
    assert inside.sum() > 5
    assert (np.abs(heights[inside] - 2 * widths[inside]) <= 2).all()


@pytest.mark.parametrize("op", BOTH)
def test_one_example_alone_stays(op):
    batch = batch_of(1)
    mixed = op(batch)
    for key in ("image", "label", "sample_weight"):
        np.testing.assert_allclose(mixed[key], batch[key], rtol=1e-6)


@pytest.mark.parametrize("op_class", [pp.MixUp, pp.CutMix])
def test_probability(op_class):
    batch = batch_of(400, height=16, width=16)
    share, _ = shares_and_partners(op_class(1.0, 0.25)(batch)["label"])
    assert 60 <= (share < 1).sum() <= 130
    untouched = op_class(1.0, 0.0)(batch)
    np.testing.assert_array_equal(untouched["label"], batch["label"])
    np.testing.assert_array_equal(untouched["image"], batch["image"])


@pytest.mark.parametrize("op", BOTH)
@pytest.mark.parametrize("label", [tf.constant([1, 2, 3]), tf.constant([1.0, 2.0, 3.0])])
def test_labels_must_be_vectors(op, label):
    batch = batch_of(3) | {"label": label}
    with pytest.raises(ValueError, match="needs labels as vectors: put OneHot before it"):
        op(batch)
    with pytest.raises(ValueError, match="needs labels as vectors"):
        tf.data.Dataset.from_tensors(batch).map(op)


@pytest.mark.parametrize("op", BOTH)
def test_partners_vary_between_batches(op):
    apart = set()
    for index in range(40):
        names = [f"{index}/{i}" for i in range(4)]
        mixed = op(batch_of(4, names=names))["label"].numpy()
        share, partner = shares_and_partners(mixed)
        apart |= {(p - i) % 4 for i, p in enumerate(partner) if share[i] < 0.99}
    assert apart == {1, 2, 3}


@pytest.fixture
def examples():
    rng = np.random.default_rng(0)
    return tf.data.Dataset.from_tensor_slices(
        {
            "image": rng.integers(0, 256, (18, 12, 14, 3)).astype(np.uint8),
            "label": np.arange(18) % 5,
            "category": np.arange(18) % 3,
            "weight": np.linspace(1, 2, 18),
            "id": [f"{i}" for i in range(18)],
        }
    )


@pytest.mark.parametrize("op", BOTH)
def test_in_a_pipeline(examples, op):
    pipeline = pp.Pipeline((pp.Resize(8), pp.RandomFlip(), pp.Scale(), pp.OneHot(5), op))

    def batches(calls, epochs=2):
        ds = pipeline.batches(
            examples,
            4,
            epochs=epochs,
            labels="both",
            sample_weights="weight",
            num_parallel_calls=calls,
            shuffle=False,
        )
        return [tf.nest.map_structure(np.array, batch) for batch in ds]

    serial, parallel = batches(1), batches(8)
    tf.nest.map_structure(np.testing.assert_array_equal, serial, parallel)
    assert len(serial) == 10
    first, again = serial[0], serial[5]
    assert (first[0] != again[0]).any() and (first[1]["label"] != again[1]["label"]).any()
    for images, labels, weights in serial:
        assert images.dtype == np.float32 and images.shape[1:] == (8, 8, 3)
        assert images.min() >= 0 and images.max() <= 1
        np.testing.assert_allclose(labels["label"].sum(1), 1, atol=1e-6)
        np.testing.assert_allclose(labels["category"].sum(1), 1, atol=1e-6)
        assert ((weights >= 1) & (weights <= 2)).all()
    assert any((weights != 1).any() for _, _, weights in serial)


def test_json_round_trip():
    pipeline = pp.Pipeline((pp.OneHot(5), pp.MixUp(0.4, 0.5, seed=3), pp.CutMix()))
    assert pp.Pipeline.from_json(pipeline.to_json()) == pipeline
    assert pipeline.evaluation() == pp.Pipeline((pp.OneHot(5),))


@pytest.mark.parametrize("op_class", [pp.MixUp, pp.CutMix])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0.001}, "alpha=0.001"),
        ({"alpha": "1"}, "alpha='1'"),
        ({"probability": 2}, "probability=2"),
        ({"seed": 2**31}, "seed=2147483648"),
    ],
)
def test_bad_fields_are_refused(op_class, arguments, message):
    with pytest.raises(ValueError, match=f"Received: {message}"):
        op_class(**arguments)
