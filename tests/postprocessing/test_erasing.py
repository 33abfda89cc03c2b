"""Random erasing."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing import erasing
from kfood_tfds.postprocessing.ops import example_key


def mapper(op, image):
    """Returns a function from a name and an epoch to the op's result, traced once."""
    traced = tf.function(
        lambda name, epoch: op({"image": tf.constant(image), "seed": example_key(0, epoch, name)})[
            "image"
        ]
    )
    return lambda name, epoch=0: traced(tf.constant(name), tf.constant(epoch)).numpy()


def rectangle(changed):
    """Returns (y, x, height, width) of a boolean mask after checking that it is one rectangle."""
    ys, xs = np.nonzero(changed)
    height, width = np.ptp(ys) + 1, np.ptp(xs) + 1
    assert changed.sum() == height * width
    return ys.min(), xs.min(), height, width


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_rectangles_have_the_drawn_area_and_aspect(dtype):
    image = np.full((80, 120, 3), 50, dtype)
    erase = mapper(pp.RandomErasing(1.0, (0.1, 0.3), (0.5, 2.0), value=(1, 2, 3)), image)
    boxes = []
    for index in range(150):
        result = erase(f"{index}")
        assert result.dtype == dtype
        boxes.append(rectangle((result != image).all(-1)))
        y, x, height, width = boxes[-1]
        inside = result[y : y + height, x : x + width]
        np.testing.assert_array_equal(inside, np.full_like(inside, (1, 2, 3)))
    y, x, height, width = np.array(boxes).T
    area, aspect = height * width / 9600, height / width
    assert 0.095 < area.min() < 0.12 and 0.28 < area.max() < 0.31
    assert 0.47 < aspect.min() < 0.6 and 1.6 < aspect.max() < 2.1
    assert abs(np.median(aspect) - 1) < 0.25
    # Every place can be hit, the edges included.
    assert (y == 0).any() and (x == 0).any()
    assert (y + height == 80).any() and (x + width == 120).any()


def test_probability():
    image = np.full((20, 20, 3), 50, np.uint8)
    erase = mapper(pp.RandomErasing(0.25, value=0), image)
    changed = sum((erase(f"{index}") != image).any() for index in range(200))
    assert 30 <= changed <= 70
    never = mapper(pp.RandomErasing(0.0), image)
    assert all((never(f"{index}") == image).all() for index in range(20))


def test_noise_covers_all_levels():
    image = np.full((64, 64, 3), 50, np.uint8)
    result = mapper(pp.RandomErasing(1.0, (0.9, 0.9), (1.0, 1.0)), image)("a")
    noise = result[(result != 50).any(-1)]
    assert 3000 < len(noise) <= 61 * 61
    assert noise.min() == 0 and noise.max() == 255
    assert abs(noise.mean() - 127.5) < 3
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.1
    as_float = mapper(pp.RandomErasing(1.0, (0.9, 0.9), (1.0, 1.0)), image.astype(np.float32))("a")
    np.testing.assert_array_equal(as_float, result)


def test_a_rectangle_that_never_fits_is_cut():
    image = np.full((10, 40, 3), 50, np.uint8)
    result = mapper(pp.RandomErasing(1.0, (0.5, 0.5), (50.0, 50.0), 0), image)("a")
    # 200 pixels of aspect 50 would be 100 high and 2 wide.
    assert rectangle((result != image).all(-1))[2:] == (10, 2)
    whole = mapper(pp.RandomErasing(1.0, (1.0, 1.0), (1.0, 1.0), 0), np.ones((9, 9, 3), np.uint8))
    assert (whole("a") == 0).all()


def test_erase_by_hand():
    image = np.arange(4 * 5 * 3).reshape(4, 5, 3).astype(np.uint8)
    expected = image.copy()
    expected[1:3, 2:5] = 200
    patch = tf.fill([2, 3, 3], tf.constant(200, tf.uint8))
    np.testing.assert_array_equal(erasing.erase(tf.constant(image), [1, 2], patch), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("op", [pp.RandomErasing(0.8), pp.RandomErasing(0.8, value=7)])
def test_same_at_any_parallelism(op, dtype):
    images = np.random.default_rng(0).integers(0, 256, (12, 24, 31, 3)).astype(dtype)
    ids = [f"{i}" for i in range(12)]
    ds = tf.data.Dataset.from_tensor_slices({"image": images, "id": ids})
    serial = [e["image"].numpy() for e in ds.map(op, num_parallel_calls=1)]
    parallel = [e["image"].numpy() for e in ds.map(op, num_parallel_calls=8)]
    np.testing.assert_array_equal(serial, parallel)
    assert serial[0].dtype == dtype
    assert ds.map(op).element_spec["image"].shape == (24, 31, 3)
    eager = op({"image": tf.constant(images[5]), "id": tf.constant("5")})["image"]
    np.testing.assert_array_equal(eager, serial[5])


def test_differs_between_epochs_and_ids():
    image = np.full((40, 40, 3), 50, np.uint8)
    erase = mapper(pp.RandomErasing(1.0, value=0), image)
    np.testing.assert_array_equal(erase("a"), erase("a"))
    assert (erase("a") != erase("a", 1)).any()
    assert (erase("a") != erase("b")).any()


def test_json_round_trip():
    ops = (pp.RandomErasing(), pp.RandomErasing(0.1, (0.1, 0.2), (1.0, 2.0), (1, 2, 3), seed=9))
    pipeline = pp.Pipeline(ops)
    assert pp.Pipeline.from_json(pipeline.to_json()) == pipeline
    assert pipeline.evaluation() == pp.Pipeline(())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"probability": 1.5}, "probability=1.5"),
        ({"area": (0.0, 0.5)}, "each bound of area=0.0"),
        ({"area": (0.5, 0.2)}, r"area=\(0.5, 0.2\)"),
        ({"aspect": 2.0}, "aspect=2.0"),
        ({"value": "grey"}, "value='grey'"),
        ({"value": (1, 2, 300)}, "value=300"),
        ({"value": None}, "value=None"),
    ],
)
def test_bad_fields_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"Received: {message}"):
        pp.RandomErasing(**arguments)


def test_a_rectangle_is_drawn_again_until_it_fits():
    image = np.full((40, 80, 3), 50, np.uint8)
    erase = mapper(pp.RandomErasing(1.0, (0.5, 0.5), (0.2, 5.0), 0), image)
    areas = [(erase(f"{index}") != image).all(-1).mean() for index in range(100)]
    # One draw in 2.3 fits; cut to the image, the others would lose area.
    assert sum(0.48 < area < 0.52 for area in areas) >= 95
