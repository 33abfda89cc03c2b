"""Windows against coordinates worked out by hand and by brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing.catalogue import OPS
from kfood_tfds.postprocessing.decoding import WINDOW


def window(example: dict[str, Any]) -> list[int]:
    return [int(value) for value in example[WINDOW]]


def in_dataset(op: Any, example: dict[str, Any]) -> dict[str, Any]:
    return next(iter(tf.data.Dataset.from_tensors(example).map(op)))


def many(op_class: Any, example: dict[str, Any], number: int = 200, **fields: Any) -> np.ndarray:
    """Returns the windows for many ids, int[number, 4]."""
    op = op_class(**fields)
    ids = tf.data.Dataset.from_tensor_slices([f"id {index}" for index in range(number)])
    rest = {key: value for key, value in example.items() if key != "id"}
    windows = ids.map(lambda name: op(rest | {"id": name})[WINDOW])
    return np.stack([item.numpy() for item in windows])


@pytest.mark.parametrize("form", [None, "JPEG"])
def test_crop_to_box_restores_the_annotated_pixels(example: Any, form: str | None) -> None:
    for box in ((7, 11, 41, 73), (0, 0, 60, 80), (59, 79, 60, 80)):
        given = example(box=box, form=form)
        expected = [box[0], box[1], box[2] - box[0], box[3] - box[1]]
        assert window(pp.CropToBox()(given)) == expected
        assert window(in_dataset(pp.CropToBox(), given)) == expected


def test_crop_to_box_restores_every_box_of_odd_sizes(example: Any) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        height, width = (int(side) for side in rng.integers(2, 6000, 2))
        y, x = (int(rng.integers(0, side)) for side in (height, width))
        bottom, right = int(rng.integers(y + 1, height + 1)), int(rng.integers(x + 1, width + 1))
        crop = np.float32([y / height, x / width, bottom / height, right / width])
        given = {"image": tf.constant(b""), "crop": crop, "height": height, "width": width}
        assert window(pp.CropToBox()(given)) == [y, x, bottom - y, right - x]


def test_margin_is_added_on_each_side_and_stops_at_the_edge(example: Any) -> None:
    given = example(60, 80, box=(10, 30, 30, 70))
    # 25 % of 20 rows are 5, of 40 columns 10; to the right only 80 - 70 = 10 are left anyway.
    assert window(pp.CropToBox(margin=0.25)(given)) == [5, 20, 30, 60]
    assert window(pp.CropToBox(margin=1.0)(given)) == [0, 0, 50, 80]


def test_empty_box_leaves_the_whole_image(example: Any) -> None:
    given = example(60, 80) | {"crop": tf.constant([0.5, 0.5, 0.5, 0.7])}
    assert window(pp.CropToBox()(given)) == [0, 0, 60, 80]


def test_central_square(example: Any) -> None:
    assert window(pp.CentralSquare()(example(60, 81))) == [0, 10, 60, 60]
    assert window(pp.CentralSquare()(example(81, 60))) == [10, 0, 60, 60]
    boxed = pp.CropToBox()(example(60, 80, box=(10, 20, 40, 70)))
    assert window(pp.CentralSquare()(boxed)) == [10, 30, 30, 30]
    assert window(in_dataset(pp.CentralSquare(), example(60, 81, form="JPEG"))) == [0, 10, 60, 60]


def test_random_square_reaches_every_place_and_no_other(example: Any) -> None:
    found = many(pp.RandomSquare, example(60, 64), 1500)
    assert (found[:, 2:] == 54).all()  # 0.9 of 60
    assert set(found[:, 0]) == set(range(7))
    assert set(found[:, 1]) == set(range(11))


def test_random_square_places_are_uniform(example: Any) -> None:
    found = many(pp.RandomSquare, example(60, 60), 2100)
    counts = np.bincount(found[:, 0], minlength=7)
    # 300 expected each, standard deviation 16.
    assert (abs(counts - 300) < 80).all()


def test_random_square_of_one_pixel(example: Any) -> None:
    assert window(pp.RandomSquare(0.1)(example(1, 3)))[2:] == [1, 1]


def test_draws_differ_between_ids_seeds_and_places_in_the_pipeline(example: Any) -> None:
    given = example(400, 400)
    results = {
        tuple(window(op(given | {"id": name}, place)))
        for op in (pp.RandomSquare(seed=0), pp.RandomSquare(seed=1))
        for name in ("a", "b")
        for place in (0, 1)
    }
    assert len(results) == 8


def test_eager_and_graph_draw_the_same(example: Any) -> None:
    given = example(333, 444, box=(5, 6, 300, 400))
    for op in (
        pp.RandomSquare(),
        pp.RandomResizedCrop(min_box_overlap=0.5),
        pp.FixedWindow(100),
    ):
        assert window(op(given)) == window(in_dataset(op, given))


def test_resized_crop_keeps_area_and_aspect(example: Any) -> None:
    found = many(pp.RandomResizedCrop, example(400, 600), 300, area=(0.2, 0.5), aspect=(0.8, 1.5))
    share = found[:, 2] * found[:, 3] / (400 * 600)
    aspect = found[:, 3] / found[:, 2]
    assert share.min() > 0.198 and share.max() < 0.502
    assert aspect.min() > 0.79 and aspect.max() < 1.52
    assert share.max() - share.min() > 0.25 and aspect.max() - aspect.min() > 0.5
    assert (found[:, :2] >= 0).all()
    assert (found[:, 0] + found[:, 2] <= 400).all() and (found[:, 1] + found[:, 3] <= 600).all()


def test_resized_crop_covers_the_box(example: Any) -> None:
    given = example(200, 300, box=(150, 220, 200, 300))
    for share in (0.3, 0.9, 1.0):
        found = many(pp.RandomResizedCrop, given, 200, area=(0.05, 1.0), min_box_overlap=share)
        rows = np.minimum(found[:, 0] + found[:, 2], 200) - np.maximum(found[:, 0], 150)
        columns = np.minimum(found[:, 1] + found[:, 3], 300) - np.maximum(found[:, 1], 220)
        covered = np.maximum(rows, 0) * np.maximum(columns, 0) / (50 * 80)
        assert covered.min() >= share - 1e-6
        assert len(np.unique(found, axis=0)) > 100


def test_resized_crop_falls_back_to_the_whole_where_the_largest_part_covers_too_little(
    example: Any,
) -> None:
    given = example(90, 300, box=(0, 0, 90, 300))
    found = many(pp.RandomResizedCrop, given, 5, area=(1.0, 1.0), min_box_overlap=0.9)
    assert found.tolist() == [[0, 0, 90, 300]] * 5


def test_resized_crop_draws_area_aspect_and_place_apart(example: Any) -> None:
    found = many(pp.RandomResizedCrop, example(400, 600), 300, area=(0.1, 0.3))
    room = np.array([400, 600]) - found[:, 2:]
    drawn = [*(found[:, :2] / room).T, found[:, 2] * found[:, 3], np.log(found[:, 3] / found[:, 2])]
    # Of 300 independent pairs, one in a thousand is more alike than 0.19.
    assert np.abs(np.corrcoef(drawn) - np.eye(4)).max() < 0.19


@pytest.mark.parametrize(
    ("height", "width", "expected"),
    [(90, 300, [0, 90, 90, 120]), (300, 90, [90, 0, 120, 90]), (100, 100, [0, 0, 100, 100])],
)
def test_resized_crop_falls_back_to_the_largest_allowed_part_in_the_middle(
    example: Any, height: int, width: int, expected: list[int]
) -> None:
    # No other part but the whole has all of the area, and the whole has an aspect out of bounds.
    found = many(pp.RandomResizedCrop, example(height, width), 5, area=(1.0, 1.0))
    assert found.tolist() == [expected] * 5


def test_resized_crop_falls_back_to_an_allowed_aspect(example: Any) -> None:
    # A strip of 10 x 400 has no part of a tenth of its area with an aspect near 1.
    found = many(pp.RandomResizedCrop, example(10, 400), 20, area=(0.9, 1.0), aspect=(0.9, 1.1))
    assert (found[:, 2:] == [10, 11]).all()


def test_resized_crop_draws_what_inception_does_by_default() -> None:
    assert pp.RandomResizedCrop().area == (0.08, 1.0)
    assert pp.RandomResizedCrop().aspect == (0.75, 4 / 3)


def test_resized_crop_falls_back_in_a_tall_strip_too(example: Any) -> None:
    found = many(pp.RandomResizedCrop, example(400, 10), 20, area=(0.9, 1.0), aspect=(2.0, 3.0))
    assert (found[:, 2:] == [5, 10]).all()


def test_resized_crop_rounds_sides_to_the_nearest_pixel(example: Any) -> None:
    # A quarter of 100 x 100 is 50 x 50; of 101 x 101, 50.5 x 50.5, which is rounded up.
    for side, expected in ((100, 50), (101, 51)):
        given = example(side, side)
        found = many(pp.RandomResizedCrop, given, 20, area=(0.25, 0.25), aspect=(1.0, 1.0))
        assert (found[:, 2:] == expected).all()


def test_fixed_window_needs_no_resizing_where_the_image_is_large_enough(example: Any) -> None:
    found = many(pp.FixedWindow, example(70, 90), 1500, size=64)
    assert (found[:, 2:] == 64).all()
    assert set(found[:, 0]) == set(range(7)) and set(found[:, 1]) == set(range(27))


def test_fixed_window_widens_a_small_box_inside_the_image(example: Any) -> None:
    boxed = pp.CropToBox()(example(100, 100, box=(0, 40, 20, 60)))
    # Rows 0..20 can only grow downwards, columns 40..60 to both sides.
    assert window(pp.FixedWindow(50, "central")(boxed)) == [0, 25, 50, 50]


def test_fixed_window_of_a_small_image_is_its_square(example: Any) -> None:
    assert window(pp.FixedWindow(64, "central")(example(40, 90))) == [0, 25, 40, 40]
    assert window(pp.FixedWindow(64)(example(40, 90)))[2:] == [40, 40]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pp.CropToBox(margin=-0.1), "margin=-0.1"),
        (lambda: pp.RandomSquare(0.0), "scale=0.0"),
        (lambda: pp.RandomSquare(1.5), "scale=1.5"),
        (lambda: pp.RandomSquare(seed=-1), "seed=-1"),
        (lambda: pp.RandomSquare(seed=2**31), "seed=2147483648"),
        (lambda: pp.RandomResizedCrop(area=(0.5, 0.2)), r"area=\(0.5, 0.2\)"),
        (lambda: pp.RandomResizedCrop(area=0.5), "area=0.5"),
        (lambda: pp.RandomResizedCrop(aspect=(0.0, 1.0)), "aspect"),
        (lambda: pp.RandomResizedCrop(min_box_overlap=2.0), "min_box_overlap=2.0"),
        (lambda: pp.FixedWindow(0), "size=0"),
        (lambda: pp.FixedWindow(64, "left"), "position='left'"),
    ],
)
def test_bad_fields_are_refused_at_construction(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"Received: .*{message}"):
        make()


def test_overlap_without_a_box_is_refused(example: Any) -> None:
    given = example()
    del given["crop"]
    with pytest.raises(ValueError, match="needs the feature 'crop'"):
        pp.RandomResizedCrop(min_box_overlap=0.5)(given)
    with pytest.raises(ValueError, match="CropToBox needs the feature.* crop"):
        pp.CropToBox()(given)


# An op with each kind of step; all that say they take many.
MANY = (
    pp.CropToBox(),
    pp.CropToBox(margin=0.3),
    pp.CentralSquare(),
    pp.RandomSquare(),
    pp.RandomSquare(0.2, seed=3),
    pp.RandomResizedCrop(),
    pp.RandomResizedCrop((0.5, 1.0), (2.0, 3.0), min_box_overlap=0.6),
    pp.FixedWindow(40),
    pp.FixedWindow(40, "central"),
)


def some_encoded(number: int) -> dict[str, Any]:
    """Returns a batch of examples with boxes of all kinds: inside, empty, everything."""
    rng = np.random.default_rng(1)
    corners = np.sort(rng.uniform(0, 1, (number, 2, 2)), axis=1).reshape(number, 4)
    corners[::5] = [0, 0, 1, 1]
    corners[1::5, 2] = corners[1::5, 0]
    return {
        "image": tf.constant([b"not looked at"] * number),
        "crop": tf.constant(corners, tf.float32),
        "height": tf.constant(rng.integers(1, 200, number), tf.int64),
        "width": tf.constant(rng.integers(1, 200, number), tf.int64),
        "id": tf.constant([f"id {index}" for index in range(number)]),
    }


@pytest.mark.parametrize("op", MANY, ids=str)
def test_many_examples_get_the_windows_that_each_gets_alone(op: Any) -> None:
    batch = some_encoded(40)
    # The first is the whole image, the second another one's pending window.
    for given in (batch, pp.CropToBox()(batch)):
        single = [{key: value[index] for key, value in given.items()} for index in range(40)]
        alone = np.stack([op(example)[WINDOW].numpy() for example in single])
        assert len(np.unique(alone, axis=0)) > 20
        np.testing.assert_array_equal(op(given)[WINDOW], alone)
        np.testing.assert_array_equal(in_dataset(op, given)[WINDOW], alone)


def test_all_ops_that_say_so_take_many() -> None:
    assert {type(op) for op in MANY} == {op for op in OPS.values() if op.takes_many}
