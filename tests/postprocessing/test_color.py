"""Colour jitter and greyscale."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing import color
from kfood_tfds.postprocessing.ops import example_key

# The FCC's NTSC matrix, from red, green, blue to Y, I, Q.
YIQ = np.array([[0.299, 0.587, 0.114], [0.5959, -0.2746, -0.3213], [0.2115, -0.5227, 0.3112]])
JITTER = pp.ColorJitter(0.3, 0.4, 0.5, 0.1)


@pytest.fixture
def noise() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (37, 41, 3)).astype(np.uint8)


def one(op, image, name="a", epoch=0):
    return op({"image": tf.constant(image), "seed": example_key(0, epoch, name)})["image"].numpy()


def sequential(image, brightness, contrast, saturation, hue):
    """The definition, step by step, in float64."""
    pixels = image.astype(np.float64) * brightness
    pixels = contrast * pixels + (1 - contrast) * (pixels @ YIQ[0]).mean()
    pixels = saturation * pixels + (1 - saturation) * (pixels @ YIQ[0])[..., None]
    y, i, q = np.moveaxis(pixels @ YIQ.T, -1, 0)
    angle = -2 * np.pi * hue
    turned = (i + 1j * q) * np.exp(1j * angle)
    pixels = np.stack([y, turned.real, turned.imag], -1) @ np.linalg.inv(YIQ).T
    return np.clip(pixels, 0, 255)


@pytest.mark.parametrize(
    "factors",
    [(1.2, 1, 1, 0), (1, 0.6, 1, 0), (1, 1, 1.5, 0), (1, 1, 1, 0.2), (0.7, 1.3, 0.5, -0.1)],
)
def test_fused_equals_sequential(noise, factors):
    image = noise.astype(np.float32)
    actual = color.adjust_color(tf.constant(image), *map(tf.constant, map(float, factors)))
    np.testing.assert_allclose(actual, sequential(image, *factors), atol=0.15)
    as_bytes = color.adjust_color(tf.constant(noise), *map(tf.constant, map(float, factors)))
    assert as_bytes.dtype == tf.uint8
    assert np.abs(as_bytes.numpy() - sequential(noise, *factors)).max() < 0.75


def test_parts_left_out_change_nothing(noise):
    image = tf.constant(noise, tf.float32)
    for name, value, neutral in (
        ("brightness", 1.3, (1.3, 1.0, 1.0, 0.0)),
        ("contrast", 0.7, (1.0, 0.7, 1.0, 0.0)),
        ("saturation", 0.2, (1.0, 1.0, 0.2, 0.0)),
        ("hue", 0.3, (1.0, 1.0, 1.0, 0.3)),
    ):
        alone = color.adjust_color(image, **{name: tf.constant(value)})
        np.testing.assert_allclose(
            alone, color.adjust_color(image, *map(tf.constant, neutral)), atol=1e-3
        )


def test_by_hand():
    grey = tf.constant([[[100.0] * 3, [200.0] * 3]])
    contrast = color.adjust_color(grey, contrast=tf.constant(0.5))
    np.testing.assert_allclose(contrast[0, :, 0], [125, 175], atol=1e-3)
    brightness = color.adjust_color(grey, brightness=tf.constant(1.5))
    np.testing.assert_allclose(brightness[0, :, 2], [150, 255], atol=1e-3)
    red = tf.constant([[[255.0, 0.0, 0.0]]])
    flat = color.adjust_color(red, saturation=tf.constant(0.0))
    np.testing.assert_allclose(flat[0, 0], [76.245] * 3, atol=0.01)


def test_positive_hue_turns_red_to_green():
    image = tf.constant([[[150.0, 100.0, 100.0]]])
    turned = color.adjust_color(image, hue=tf.constant(1 / 3)).numpy()[0, 0]
    assert turned.argmax() == 1
    assert turned @ YIQ[0] == pytest.approx(150 * 0.299 + 100 * 0.701, abs=0.05)


def test_mean_grey_weighs_channels(noise):
    expected = (noise.astype(np.float64) @ YIQ[0]).mean()
    assert float(color.mean_grey(tf.constant(noise, tf.float32))) == pytest.approx(
        expected, abs=0.01
    )


@pytest.mark.parametrize("low", [0, 250])
def test_mean_grey_of_bytes_is_exact(low):
    # More than 2^24 in total, where float32 no longer holds every whole number.
    levels = np.random.default_rng(0).integers(low, 256, (311, 307, 3))
    red, green, blue = (int(total) for total in levels.sum(axis=(0, 1)))
    exact = Fraction(19595 * red + 38470 * green + 7471 * blue, 65536 * 311 * 307)
    image = tf.constant(levels, tf.float32)
    for found in (color.mean_grey(image), tf.function(color.mean_grey)(image)):
        assert found.numpy() == np.float32(float(exact))


def test_jitter_draws_within_its_bounds():
    image = np.full((2, 2, 3), 100, np.float32)
    values = [one(pp.ColorJitter(brightness=0.2), image, f"{i}")[0, 0, 0] for i in range(200)]
    assert 80 <= min(values) < 84 and 116 < max(values) <= 120.001
    values = [one(pp.ColorJitter(brightness=(1.1, 1.2)), image, f"{i}")[0, 0, 0] for i in range(50)]
    assert min(values) >= 109.999 and max(values) <= 120.001


def test_four_factors_are_independent():
    image = np.random.default_rng(1).uniform(80, 120, (8, 8, 3)).astype(np.float32)
    bright, flat = [], []
    for index in range(200):
        jittered = one(pp.ColorJitter(0.2, 0.2), image, f"{index}")
        bright.append(jittered.mean())
        flat.append(jittered.std() / jittered.mean())
    assert abs(np.corrcoef(bright, flat)[0, 1]) < 0.2
    assert np.std(flat) > 0.05 * np.mean(flat)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("op", [JITTER, pp.Grayscale(0.5), pp.Grayscale()])
def test_same_at_any_parallelism(noise, op, dtype):
    images = np.stack([np.roll(noise, i, 0) for i in range(12)]).astype(dtype)
    ids = [f"{i}" for i in range(12)]
    ds = tf.data.Dataset.from_tensor_slices({"image": images, "id": ids})
    serial = [e["image"].numpy() for e in ds.map(op, num_parallel_calls=1)]
    parallel = [e["image"].numpy() for e in ds.map(op, num_parallel_calls=8)]
    np.testing.assert_array_equal(serial, parallel)
    assert serial[0].dtype == dtype
    assert ds.map(op).element_spec["image"].shape == (37, 41, 3)
    eager = [
        op({"image": tf.constant(image), "id": tf.constant(name)})["image"].numpy()
        for image, name in zip(images, ids, strict=True)
    ]
    np.testing.assert_allclose(np.float32(eager), np.float32(serial), atol=1e-3)


@pytest.mark.parametrize("shape", [(1, 1), (2, 13), (7, 11), (8, 5), (17, 19), (23, 23), (64, 48)])
def test_matrix_reaches_every_pixel_whatever_the_size(shape):
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 256, (*shape, 3))
    turn = tf.constant(0.2)
    matrix = color.color_matrix(tf.constant(0.9), tf.constant(0.7), turn).numpy()
    # On the grid of 1/4096 a product of bytes has no error, so whole numbers tell the exact pixels.
    grid = np.round(matrix.astype(np.float64) * 4096).astype(int)
    exact = np.clip((levels @ grid + 2048) // 4096, 0, 255)
    image = tf.constant(levels, tf.uint8)
    actual = color.adjust_color(image, tf.constant(0.9), saturation=tf.constant(0.7), hue=turn)
    np.testing.assert_array_equal(actual, exact)


def test_unknown_sizes_are_taken(noise):
    ds = tf.data.Dataset.from_generator(
        lambda: [{"image": noise, "id": "a"}],
        output_signature={
            "image": tf.TensorSpec((None, None, 3), tf.uint8),
            "id": tf.TensorSpec((), tf.string),
        },
    )
    result = next(iter(ds.map(JITTER)))["image"]
    np.testing.assert_array_equal(result, one_by_id(JITTER, noise, "a"))


def one_by_id(op, image, name):
    return op({"image": tf.constant(image), "id": tf.constant(name)})["image"].numpy()


def test_differs_between_epochs_ids_seeds_and_positions(noise):
    first = one(JITTER, noise)
    np.testing.assert_array_equal(first, one(JITTER, noise))
    assert (first != one(JITTER, noise, epoch=1)).any()
    assert (first != one(JITTER, noise, "b")).any()
    assert (first != one(pp.ColorJitter(0.3, 0.4, 0.5, 0.1, seed=1), noise)).any()
    example = {"image": tf.constant(noise), "seed": example_key(0, 0, "a")}
    assert (first != JITTER(example, 1)["image"].numpy()).any()


def test_neutral_bounds_change_nothing(noise):
    for op in (pp.ColorJitter(), pp.ColorJitter((1.0, 1.0), (1, 1), 0, (0, 0))):
        np.testing.assert_array_equal(one(op, noise), noise)


def test_values_stay_in_range(noise):
    op = pp.ColorJitter((3.0, 3.0), (2.0, 2.0), (2.0, 2.0))
    result = one(op, noise.astype(np.float32))
    assert result.min() == 0 and result.max() == 255


def test_grayscale_is_pillows(noise):
    expected = np.repeat(np.array(Image.fromarray(noise).convert("L"))[..., None], 3, -1)
    np.testing.assert_array_equal(one(pp.Grayscale(), noise), expected)
    as_float = one(pp.Grayscale(), noise.astype(np.float32))
    np.testing.assert_allclose(as_float, expected, atol=0.51)
    np.testing.assert_allclose(as_float[..., 0], noise @ YIQ[0], atol=0.02)


def test_grayscale_with_a_probability(noise):
    results = [one(pp.Grayscale(0.3), noise, f"{i}") for i in range(200)]
    grey = [bool((result[..., 0] == result[..., 1]).all()) for result in results]
    assert 40 <= sum(grey) <= 80
    assert all(g or (r == noise).all() for g, r in zip(grey, results, strict=True))


def test_only_certain_greyscale_stays_in_evaluation(noise):
    assert pp.Grayscale().evaluation() == (pp.Grayscale(),)
    assert pp.Grayscale(0.5).evaluation() == ()
    # So evaluation batches stay in order by default.
    assert not pp.Pipeline((pp.Grayscale(),)).random
    assert pp.Pipeline((pp.Grayscale(0.5),)).random
    assert JITTER.evaluation() == ()
    without_id = pp.Grayscale()({"image": tf.constant(noise)})["image"]
    np.testing.assert_array_equal(without_id, one(pp.Grayscale(), noise))


def test_json_round_trip():
    pipeline = pp.Pipeline((pp.ColorJitter(0.1, (0.5, 2.0), 0, (-0.1, 0.2)), pp.Grayscale(0.25)))
    assert pp.Pipeline.from_json(pipeline.to_json()) == pipeline


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"brightness": -0.1}, "brightness=-0.1"),
        ({"contrast": (1.2, 0.8)}, r"contrast=\(1.2, 0.8\)"),
        ({"saturation": "high"}, "saturation='high'"),
        ({"hue": 0.6}, "hue=0.6"),
        ({"hue": (-0.6, 0.1)}, "hue=-0.6"),
        ({"contrast": (1.0, 1.1, 1.2)}, "contrast="),
        ({"brightness": float("nan")}, "brightness=nan"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_bad_jitter_is_refused(arguments, message):
    with pytest.raises(ValueError, match=f"Received: .*{message}"):
        pp.ColorJitter(**arguments)


@pytest.mark.parametrize("probability", [-0.1, 1.1, True, None])
def test_bad_probability_is_refused(probability):
    with pytest.raises(ValueError, match="Received: probability="):
        pp.Grayscale(probability)
