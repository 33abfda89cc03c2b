"""Rotation, shears and translation."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing import geometry
from kfood_tfds.postprocessing.ops import example_key


@pytest.fixture
def noise() -> np.ndarray:
    return np.random.default_rng(0).integers(1, 256, (33, 46, 3)).astype(np.uint8)


@pytest.fixture
def smooth() -> np.ndarray:
    y, x = np.mgrid[:60, :80]
    channels = [127 + 100 * np.sin(x / 9), 127 + 100 * np.cos(y / 7), x + y]
    return np.stack(channels, -1).astype(np.uint8)


def one(op, image, name="a", epoch=0):
    return op({"image": tf.constant(image), "seed": example_key(0, epoch, name)})["image"].numpy()


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
@pytest.mark.parametrize("side", [32, 33])
def test_quarter_turns_are_exact(side, interpolation):
    image = np.random.default_rng(1).integers(0, 256, (side, side, 3)).astype(np.uint8)
    for turns in (-1, 0, 1, 2):
        actual = geometry.rotate(tf.constant(image), 90.0 * turns, interpolation=interpolation)
        np.testing.assert_array_equal(actual, np.rot90(image, turns))


@pytest.mark.parametrize("degrees", [-30, 7, 45, 135])
def test_nearest_rotation_is_pillows(noise, degrees):
    actual = geometry.rotate(tf.constant(noise), float(degrees), fill=9).numpy()
    expected = np.array(Image.fromarray(noise).rotate(degrees, fillcolor=(9, 9, 9)))
    assert (actual == expected).all(-1).mean() > 0.99


@pytest.mark.parametrize("degrees", [-30, 7, 45])
def test_bilinear_rotation_is_pillows(smooth, degrees):
    actual = geometry.rotate(tf.constant(smooth), float(degrees), 0, "bilinear").numpy()
    expected = np.array(Image.fromarray(smooth).rotate(degrees, Image.Resampling.BILINEAR))
    inside = np.array(Image.new("L", (76, 56), 1).rotate(degrees)) > 0
    difference = np.abs(actual.astype(int) - expected)[2:-2, 2:-2][inside]
    assert difference.max() <= 1


@pytest.mark.parametrize("factor", [-0.7, 0.3])
def test_shears_are_pillows(noise, factor):
    picture = Image.fromarray(noise)
    for shear, matrix in (
        (geometry.shear_x, (1, factor, 0, 0, 1, 0)),
        (geometry.shear_y, (1, 0, 0, factor, 1, 0)),
    ):
        expected = np.array(picture.transform(picture.size, Image.Transform.AFFINE, matrix))
        actual = shear(tf.constant(noise), factor).numpy()
        assert (actual == expected).all(-1).mean() > 0.99


@pytest.mark.parametrize(("down", "right"), [(0, 0), (3, 0), (0, -5), (-4, 6), (40, 0), (0, -99)])
def test_translation(noise, down, right):
    expected = np.full((133, 246, 3), (1, 2, 3), np.uint8)
    at = np.clip([50 + down, 100 + right], 0, [100, 200])
    expected[at[0] : at[0] + 33, at[1] : at[1] + 46] = noise
    actual = geometry.translate(tf.constant(noise), down, right, (1, 2, 3))
    np.testing.assert_array_equal(actual, expected[50:83, 100:146])


def test_fill_by_channel(noise):
    for dtype in (np.uint8, np.float32):
        result = one(pp.RandomRotation((45, 45), fill=(10, 20, 30)), noise.astype(dtype))
        np.testing.assert_allclose(result[0, 0], [10, 20, 30], atol=1e-3)
        np.testing.assert_allclose(result[-1, -1], [10, 20, 30], atol=1e-3)
    grey = one(pp.RandomRotation((45, 45), fill=77), noise)
    np.testing.assert_array_equal(grey[0, 0], [77, 77, 77])


def test_random_angle_lies_within_the_bounds():
    image = np.zeros((101, 101, 3), np.uint8)
    image[46:55, 90:99] = 255
    angles = []
    for index in range(60):
        ys, xs = np.nonzero(one(pp.RandomRotation(20), image, f"{index}")[..., 0] > 128)
        angles.append(np.degrees(np.arctan2(50 - ys.mean(), xs.mean() - 50)))
    assert -20.5 < min(angles) < -14 and 14 < max(angles) < 20.5
    ys, xs = np.nonzero(one(pp.RandomRotation((30, 30)), image)[..., 0] > 128)
    assert np.degrees(np.arctan2(50 - ys.mean(), xs.mean() - 50)) == pytest.approx(30, abs=0.5)


def test_no_angle_changes_nothing(noise):
    for dtype in (np.uint8, np.float32):
        image = noise.astype(dtype)
        np.testing.assert_array_equal(one(pp.RandomRotation(0), image), image)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_same_at_any_parallelism(noise, dtype, interpolation):
    op = pp.RandomRotation(40, interpolation=interpolation)
    images = np.stack([np.roll(noise, i, 0) for i in range(12)]).astype(dtype)
    ids = [f"{i}" for i in range(12)]
    ds = tf.data.Dataset.from_tensor_slices({"image": images, "id": ids})
    serial = [e["image"].numpy() for e in ds.map(op, num_parallel_calls=1)]
    parallel = [e["image"].numpy() for e in ds.map(op, num_parallel_calls=8)]
    np.testing.assert_array_equal(serial, parallel)
    assert serial[0].dtype == dtype
    assert ds.map(op).element_spec["image"].shape == (33, 46, 3)
    eager = op({"image": tf.constant(images[3]), "id": tf.constant("3")})["image"]
    np.testing.assert_allclose(np.float32(eager), np.float32(serial[3]), atol=1)


def test_differs_between_epochs_and_ids(noise):
    first = one(pp.RandomRotation(), noise)
    assert (first != one(pp.RandomRotation(), noise, epoch=1)).any()
    assert (first != one(pp.RandomRotation(), noise, "b")).any()


def test_json_round_trip():
    pipeline = pp.Pipeline((pp.RandomRotation((-5, 10), fill=(1, 2, 3)), pp.RandomRotation()))
    assert pp.Pipeline.from_json(pipeline.to_json()) == pipeline
    assert pipeline.evaluation() == pp.Pipeline(())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"degrees": 181}, "degrees=181"),
        ({"degrees": (10, -10)}, r"degrees=\(10, -10\)"),
        ({"fill": 256}, "fill=256"),
        ({"fill": (1, 2)}, r"fill=\(1, 2\)"),
        ({"fill": "black"}, "fill='black'"),
        ({"interpolation": "cubic"}, "interpolation='cubic'"),
    ],
)
def test_bad_fields_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"Received: {message}"):
        pp.RandomRotation(**arguments)
