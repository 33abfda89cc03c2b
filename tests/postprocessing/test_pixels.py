"""Resizing, flips and several crops against numpy, Pillow and hand-made pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing.decoding import WINDOW


def in_dataset(op: Any, example: dict[str, Any]) -> dict[str, Any]:
    return next(iter(tf.data.Dataset.from_tensors(example).map(op)))


@pytest.mark.parametrize("form", ["JPEG", "PNG", "BMP"])
@pytest.mark.parametrize("method", ["nearest", "bilinear", "area", "bicubic"])
def test_resizing_decoded_and_encoded_images_is_the_same(
    example: Any, form: str, method: str
) -> None:
    encoded = example(60, 80, box=(5, 9, 51, 70), form=form)
    pixels = tf.io.decode_image(encoded["image"], 3, expand_animations=False)
    results = []
    for image in (encoded["image"], pixels):
        ds = tf.data.Dataset.from_tensors(encoded | {"image": image})
        ds = ds.map(pp.CropToBox()).map(pp.Resize(32, method))
        results.append(next(iter(ds))["image"].numpy())
        assert ds.element_spec["image"].shape == (32, 32, 3)
    eager = pp.Resize(32, method)(pp.CropToBox()(encoded))["image"].numpy()
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], eager)
    assert results[0].dtype == np.float32


def test_nearest_takes_the_middle_pixels() -> None:
    image = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    # Half of the rows and columns: the source of target i is floor((i + 0.5) * 2).
    result = pp.Resize((2, 3), "nearest", dtype="uint8")({"image": tf.constant(image)})["image"]
    np.testing.assert_array_equal(result, image[1::2, 1::2])


def test_area_averages_blocks() -> None:
    image = np.random.default_rng(0).integers(0, 256, (6, 9, 3), dtype=np.uint8)
    result = pp.Resize(3, "area")({"image": tf.constant(image)})["image"]
    expected = image.reshape(3, 2, 3, 3, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(result, expected, atol=1e-4)


def test_bilinear_by_hand() -> None:
    image = np.zeros((1, 2, 3), np.uint8)
    image[0, 1] = 100
    # Pixel centres at 0.5 and 1.5; targets at 0.25, 0.75, 1.25, 1.75.
    result = pp.Resize((1, 4))({"image": tf.constant(image)})["image"]
    np.testing.assert_allclose(result[0, :, 0], [0, 25, 75, 100], atol=1e-4)


@pytest.mark.parametrize(
    ("method", "pillow"),
    [("bilinear", Image.Resampling.BILINEAR), ("bicubic", Image.Resampling.BICUBIC)],
)
def test_antialiased_shrinking_is_pillows(photo: Any, method: str, pillow: Any) -> None:
    image = photo(120, 90)
    op = pp.Resize(30, method, antialias=True, dtype="uint8")
    result = op({"image": tf.constant(image)})["image"].numpy().astype(int)
    expected = np.asarray(Image.fromarray(image).resize((30, 30), pillow)).astype(int)
    # Pillow rounds between its two passes.
    assert abs(result - expected).max() <= 1


def test_image_of_the_right_size_is_not_touched(photo: Any) -> None:
    image = photo(32, 32)
    for method in ("nearest", "bilinear", "area", "bicubic"):
        op = pp.Resize(32, method, antialias=True, dtype="uint8")
        np.testing.assert_array_equal(op({"image": tf.constant(image)})["image"], image)


def test_eight_bits_are_rounded_and_cut(photo: Any) -> None:
    image = np.zeros((8, 8, 3), np.uint8)
    image[:, 4:] = 255
    exact = pp.Resize(20, "bicubic")({"image": tf.constant(image)})["image"].numpy()
    assert exact.min() < 0 and exact.max() > 255
    result = pp.Resize(20, "bicubic", dtype="uint8")({"image": tf.constant(image)})["image"]
    np.testing.assert_array_equal(result, np.clip(np.round(exact), 0, 255).astype(np.uint8))


@pytest.mark.parametrize("size", [20, 50])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", ["nearest", "bilinear", "area"])
def test_black_and_white_never_wrap_around(method: str, antialias: bool, size: int) -> None:
    checks = (np.indices((37, 23)).sum(axis=0) // 8 % 2 * 255).astype(np.uint8)
    image = tf.constant(np.repeat(checks[..., None], 3, axis=-1))
    exact = pp.Resize(size, method, antialias)({"image": image})["image"].numpy()
    assert exact.min() < 1 and exact.max() > 254
    result = pp.Resize(size, method, antialias, dtype="uint8")({"image": image})["image"]
    np.testing.assert_array_equal(result, np.clip(np.round(exact), 0, 255))


def test_flips_by_numpy_each_in_half_of_the_cases(photo: Any) -> None:
    image = photo(5, 7)
    expected = {
        (down, across): image[:: -1 if down else 1, :: -1 if across else 1].tobytes()
        for down in (False, True)
        for across in (False, True)
    }
    op = pp.RandomFlip(horizontal=True, vertical=True)
    ids = tf.data.Dataset.from_tensor_slices([f"id {index}" for index in range(800)])
    results = ids.map(lambda name: op({"image": tf.constant(image), "id": name})["image"])
    counts = dict.fromkeys(expected, 0)
    for result in results:
        (kind,) = [kind for kind, data in expected.items() if data == result.numpy().tobytes()]
        counts[kind] += 1
    # 200 expected, standard deviation 12.
    assert all(140 < count < 260 for count in counts.values())


def test_flip_directions_can_be_switched_off(photo: Any) -> None:
    image = photo(5, 7)
    for index in range(20):
        given = {"image": tf.constant(image), "id": tf.constant(str(index))}
        np.testing.assert_array_equal(pp.RandomFlip(horizontal=False)(given)["image"], image)
        up = pp.RandomFlip(horizontal=False, vertical=True)(given)["image"].numpy()
        assert (up == image).all() or (up == image[::-1]).all()


def test_flip_decodes_a_pending_window_first(example: Any) -> None:
    given = pp.CentralSquare()(example(40, 60, form="JPEG"))
    result = pp.RandomFlip()(given)
    pixels = tf.io.decode_jpeg(given["image"], 3).numpy()[:, 10:50]
    image = result["image"].numpy()
    assert (image == pixels).all() or (image == pixels[:, ::-1]).all()
    assert WINDOW not in result


@pytest.mark.parametrize("form", [None, "JPEG"])
def test_multi_crop_takes_the_middle_and_the_corners(example: Any, form: str | None) -> None:
    given = pp.CropToBox()(example(64, 90, box=(2, 5, 42, 65), form=form))
    result = pp.Resize(20, dtype="uint8")(pp.MultiCrop(scale=0.5)(given))["image"].numpy()
    image = given["image"]
    pixels = (tf.io.decode_jpeg(image, 3) if form else image).numpy()
    # A box of 40 x 60 gives squares of 20.
    places = [(12, 25), (2, 5), (2, 45), (22, 5), (22, 45)]
    for crop, (y, x) in zip(result, places, strict=True):
        np.testing.assert_array_equal(crop, pixels[y : y + 20, x : x + 20])
    graph = in_dataset(pp.Resize(20, dtype="uint8"), pp.MultiCrop(scale=0.5)(given))["image"]
    np.testing.assert_array_equal(graph, result)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pp.Resize(0), "size=0"),
        (lambda: pp.Resize(-3), "size=-3"),
        (lambda: pp.Resize(2.5), "size=2.5"),
        (lambda: pp.Resize((3, 4, 5)), r"size=\(3, 4, 5\)"),
        (lambda: pp.Resize(True), "size=True"),
        (lambda: pp.Resize(32, "lanczos"), "method='lanczos'"),
        (lambda: pp.Resize(32, dtype="float16"), "dtype='float16'"),
        (lambda: pp.Resize(32, antialias=1), "antialias=1"),
        (lambda: pp.RandomFlip(horizontal="yes"), "horizontal='yes'"),
        (lambda: pp.MultiCrop(scale=0.0), "scale=0.0"),
    ],
)
def test_bad_fields_are_refused_at_construction(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"Received: {message}"):
        make()


@pytest.mark.parametrize("sides", [(20, 31), (479, 480), (480, 480), (500, 611)])
def test_small_images_are_resized_as_large_ones(sides: tuple[int, int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (*sides, 3), dtype=np.uint8)
    expected = tf.image.resize(pixels, (299, 33)).numpy()
    given = {"image": tf.constant(pixels)}
    np.testing.assert_array_equal(pp.Resize((299, 33))(given)["image"], expected)
    rounded = pp.Resize((299, 33), dtype="uint8")(given)["image"]
    np.testing.assert_array_equal(rounded, np.round(expected).astype(np.uint8))
