"""RandAugment and TrivialAugmentWide."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image, ImageEnhance, ImageOps

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing.ops import example_key

AFFINE = Image.Transform.AFFINE
BOTH = [pp.RandAugment(), pp.TrivialAugmentWide()]


@pytest.fixture
def photo() -> np.ndarray:
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:70, :90]
    waves = np.stack([np.sin(x / 7 + y / 19), np.cos(y / 11), np.sin((x - y) / 13)], -1)
    return (125 + 70 * waves + rng.normal(0, 8, waves.shape)).clip(12, 240).astype(np.uint8)


def mapper(op, image):
    """Returns a function from a name to the op's result, traced once."""
    traced = tf.function(
        lambda name: op({"image": tf.constant(image), "seed": example_key(0, 0, name)})["image"]
    )
    return lambda name: traced(tf.constant(name)).numpy()


def results_at_the_top(image, shear, shifts, degrees, enhancement, bits):
    """What Pillow makes of the image, operation by operation, at the highest magnitude."""
    picture = Image.fromarray(image)
    size, fill = picture.size, (0, 0, 0)
    results = {
        "identity": picture,
        "posterize": ImageOps.posterize(picture, bits),
        "solarize": ImageOps.invert(picture),
        "autocontrast": ImageOps.autocontrast(picture),
        "equalize": ImageOps.equalize(picture),
    }
    for sign in (-1, 1):
        by = sign * shear
        results["shear x", sign] = picture.transform(size, AFFINE, (1, by, 0, 0, 1, 0))
        results["shear y", sign] = picture.transform(size, AFFINE, (1, 0, 0, by, 1, 0))
        right, down = (sign * shift for shift in shifts)
        results["translate x", sign] = picture.rotate(0, translate=(right, 0), fillcolor=fill)
        results["translate y", sign] = picture.rotate(0, translate=(0, down), fillcolor=fill)
        results["rotate", sign] = picture.rotate(sign * degrees)
        for name in ("Brightness", "Color", "Contrast", "Sharpness"):
            enhancer = getattr(ImageEnhance, name)(picture)
            results[name, sign] = enhancer.enhance(1 + sign * enhancement)
    return {name: np.array(result) for name, result in results.items()}


def nearest_match(result, expected):
    shares = {name: (result == image).all(-1).mean() for name, image in expected.items()}
    name = max(shares, key=shares.get)
    # TensorFlow and Pillow break ties between two source pixels in different ways.
    assert shares[name] > 0.98, shares
    return name


@pytest.mark.slow
def test_rand_augment_does_the_operations_of_the_paper(photo):
    shifts = (round(90 * 150 / 331), round(70 * 150 / 331))
    expected = results_at_the_top(photo, 0.3, shifts, 30, 0.9, 4)
    augment = mapper(pp.RandAugment(num_ops=1, magnitude=30), photo)
    seen = [nearest_match(augment(f"{index}"), expected) for index in range(300)]
    assert set(seen) == set(expected)
    # 300 draws out of 14: about 21 each, whose standard deviation is 4.5.
    assert all(seen.count(name) >= 5 for name in ("identity", "equalize", "solarize"))


@pytest.mark.slow
def test_trivial_augment_does_the_operations_of_the_paper(photo):
    expected = results_at_the_top(photo, 0.99, (32, 32), 135, 0.99, 2)
    augment = mapper(pp.TrivialAugmentWide(num_magnitude_bins=2), photo)
    seen = [nearest_match(augment(f"{index}"), expected) for index in range(400)]
    assert set(seen) == set(expected)
    # Half of the draws have magnitude 0, which is the identity but for two operations.
    assert 140 <= seen.count("identity") <= 240


def test_magnitudes_in_between(photo):
    augment = mapper(pp.RandAugment(num_ops=1, magnitude=15), photo)
    results = [augment(f"{index}") for index in range(150)]
    picture = Image.fromarray(photo)
    for expected in (
        ImageEnhance.Brightness(picture).enhance(1.45),
        ImageOps.posterize(picture, 6),
        ImageOps.solarize(picture, 128),
        picture.rotate(15),
        picture.rotate(0, translate=(round(90 * 75 / 331), 0)),
    ):
        shares = [(result == np.array(expected)).all(-1).mean() for result in results]
        assert max(shares) > 0.98


def test_magnitude_0_changes_nothing():
    # Every level equally often: nothing to stretch or to equalize.
    levels = np.repeat(np.arange(256), 8)
    channels = [np.random.default_rng(seed).permutation(levels) for seed in range(3)]
    image = np.stack(channels, -1).reshape(32, 64, 3).astype(np.uint8)
    augment = mapper(pp.RandAugment(num_ops=3, magnitude=0), image)
    for index in range(40):
        np.testing.assert_array_equal(augment(f"{index}"), image)
    none = mapper(pp.RandAugment(num_ops=0), image)
    np.testing.assert_array_equal(none("a"), image)


@pytest.mark.slow
def test_operations_follow_one_another(photo):
    once = mapper(pp.RandAugment(num_ops=1, magnitude=20), photo)
    first = once("b")
    # The first of two operations has the seed of the only one.
    twice = mapper(pp.RandAugment(num_ops=2, magnitude=20), photo)
    assert (twice("b") != first).any()


@pytest.mark.slow
def test_fill_by_channel(photo):
    op = pp.TrivialAugmentWide(num_magnitude_bins=2, fill=(200, 1, 99))
    augment = mapper(op, photo)
    corners = [tuple(augment(f"{index}")[0, 0].tolist()) for index in range(100)]
    assert corners.count((200, 1, 99)) >= 5
    smooth = mapper(pp.TrivialAugmentWide(num_magnitude_bins=2, interpolation="bilinear"), photo)
    nearest = mapper(pp.TrivialAugmentWide(num_magnitude_bins=2), photo)
    assert any((smooth(f"{index}") != nearest(f"{index}")).any() for index in range(60))


@pytest.mark.slow
@pytest.mark.parametrize("op", BOTH)
def test_same_at_any_parallelism(photo, op):
    images = np.stack([np.roll(photo, i, 0) for i in range(12)])
    ids = [f"{i}" for i in range(12)]
    ds = tf.data.Dataset.from_tensor_slices({"image": images, "id": ids})
    mapped = ds.map(op, num_parallel_calls=1)
    assert mapped.element_spec["image"] == tf.TensorSpec((70, 90, 3), tf.uint8)
    serial = [e["image"].numpy() for e in mapped]
    parallel = [e["image"].numpy() for e in ds.map(op, num_parallel_calls=8)]
    np.testing.assert_array_equal(serial, parallel)
    for index in range(2):
        example = {"image": tf.constant(images[index]), "id": tf.constant(ids[index])}
        np.testing.assert_array_equal(op(example)["image"], serial[index])


@pytest.mark.slow
@pytest.mark.parametrize("op", BOTH)
def test_floats_give_what_bytes_give(photo, op):
    as_bytes, as_floats = mapper(op, photo), mapper(op, photo.astype(np.float32) + 0.3)
    for index in range(8):
        np.testing.assert_array_equal(as_bytes(f"{index}"), as_floats(f"{index}"))


@pytest.mark.parametrize("op", BOTH)
def test_differs_between_epochs_and_ids(photo, op):
    def results(epoch, names):
        image = tf.constant(photo)
        return [
            op({"image": image, "seed": example_key(0, epoch, name)})["image"].numpy()
            for name in names
        ]

    first, names = results(0, "abcd"), "abcd"
    np.testing.assert_array_equal(first, results(0, names))
    assert (np.array(first) != np.array(results(1, names))).any()
    assert (np.array(first) != np.array(results(0, "efgh"))).any()


@pytest.mark.parametrize("op", [pp.RandAugment(2, 15), pp.TrivialAugmentWide()])
@pytest.mark.parametrize("shape", [(1, 30, 3), (30, 1, 3), (1, 1, 3)])
def test_narrow_images_keep_their_shape(op, shape):
    pixels = np.full(shape, 90, np.uint8)
    for number in range(40):
        given = {"image": tf.constant(pixels), "id": tf.constant(f"a{number}")}
        assert op(given)["image"].shape == shape


def test_json_round_trip():
    pipeline = pp.Pipeline((*BOTH, pp.RandAugment(1, 5, 11, fill=(1, 2, 3), seed=4)))
    assert pp.Pipeline.from_json(pipeline.to_json()) == pipeline
    assert pipeline.evaluation() == pp.Pipeline(())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_ops": -1}, "num_ops=-1"),
        ({"num_ops": 1.5}, "num_ops=1.5"),
        ({"magnitude": 31}, "magnitude=31"),
        ({"magnitude": -1}, "magnitude=-1"),
        ({"num_magnitude_bins": 1}, "num_magnitude_bins=1"),
        ({"fill": -1}, "fill=-1"),
        ({"interpolation": "area"}, "interpolation='area'"),
    ],
)
def test_bad_fields_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"Received: {message}"):
        pp.RandAugment(**arguments)


def test_bad_bins_are_refused():
    with pytest.raises(ValueError, match="Received: num_magnitude_bins=True"):
        pp.TrivialAugmentWide(num_magnitude_bins=True)
