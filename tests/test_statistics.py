"""Figures of small streams against numpy over the concatenated pixels."""

from __future__ import annotations

import io
import types
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from kfood_tfds import statistics

SIZES = ((20, 30), (25, 16), (12, 12), (40, 10), (20, 30))
BOXES = ((2, 3, 15, 20), (0, 0, 25, 16), (1, 1, 2, 2), (10, 2, 30, 9), (0, 15, 20, 30))
LABELS = (3, 0, 3, 7, 0)


def _pixels() -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [
        rng.integers(low, low + 60, (*size, 3), dtype=np.uint8)
        for low, size in zip((0, 50, 100, 150, 190), SIZES, strict=True)
    ]


def _png(pixels: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def _columns() -> dict[str, Any]:
    crops = [
        (top / height, left / width, bottom / height, right / width)
        for (top, left, bottom, right), (height, width) in zip(BOXES, SIZES, strict=True)
    ]
    return {
        "crop": np.array(crops, np.float32),
        "label": np.array(LABELS, np.int64),
        "height": np.array([size[0] for size in SIZES], np.int32),
        "width": np.array([size[1] for size in SIZES], np.int32),
    }


def _encoded() -> tf.data.Dataset:
    images = [_png(pixels) for pixels in _pixels()]
    return tf.data.Dataset.from_tensor_slices({"image": images, **_columns()})


def _decoded() -> tf.data.Dataset:
    return _encoded().map(
        lambda example: {**example, "image": tf.io.decode_png(example["image"], channels=3)}
    )


def _expected(label: int | None = None) -> np.ndarray:
    """All pixels inside the boxes, of one class or all, float64[n, 3] in 0..1."""
    inside = [
        pixels[top:bottom, left:right].reshape(-1, 3)
        for pixels, (top, left, bottom, right), own in zip(_pixels(), BOXES, LABELS, strict=True)
        if label in (None, own)
    ]
    return np.concatenate(inside) / 255.0


@pytest.mark.parametrize("examples", [_encoded, _decoded])
def test_channel_stats_equal_numpy_over_all_pixels_in_the_boxes(examples: Any) -> None:
    stats = statistics.channel_stats(examples(), per_class=True)
    pixels = _expected()
    np.testing.assert_allclose(stats.mean, pixels.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(stats.std, pixels.std(axis=0), atol=1e-9)
    assert (stats.count, stats.images) == (len(pixels), 5)
    assert list(stats.per_class) == [0, 3, 7]
    for label, own in stats.per_class.items():
        np.testing.assert_allclose(own.mean, _expected(label).mean(axis=0), atol=1e-9)
        np.testing.assert_allclose(own.std, _expected(label).std(axis=0), atol=1e-9)
        assert own.count == len(_expected(label))


def test_classes_are_left_out_unless_asked_for() -> None:
    assert statistics.channel_stats(_encoded()).per_class == {}


def test_channel_stats_from_the_metadata() -> None:
    info = types.SimpleNamespace(
        metadata={"mean": {"train": [0.5, 0.25, 0.125]}, "std": {"train": [0.1, 0.2, 0.3]}}
    )
    stats = statistics.channel_stats(info, "train")
    assert stats == statistics.ChannelStats((0.5, 0.25, 0.125), (0.1, 0.2, 0.3))
    with pytest.raises(ValueError, match=r"\['train'\].*split='test'"):
        statistics.channel_stats(info, "test")
    with pytest.raises(ValueError, match="by class"):
        statistics.channel_stats(info, "train", per_class=True)


def test_normalization_layer_gives_mean_zero_and_deviation_one() -> None:
    pixels = _expected()
    layer = statistics.channel_stats(_encoded()).normalization()
    normal = np.asarray(layer(pixels.astype(np.float32)))
    np.testing.assert_allclose(normal.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(normal.std(axis=0), 1, atol=1e-4)


def test_image_sizes_are_those_of_images_and_boxes() -> None:
    sizes = statistics.image_sizes(_encoded())
    assert sizes.heights.tolist() == [20, 25, 12, 40, 20]
    assert sizes.widths.tolist() == [30, 16, 12, 10, 30]
    assert sizes.crop_heights.tolist() == [13, 25, 1, 20, 20]
    assert sizes.crop_widths.tolist() == [17, 16, 1, 7, 15]
    assert sizes.crop_shorter_sides.tolist() == [13, 16, 1, 7, 15]
    assert sizes.percentiles([0, 50, 100])["heights"].tolist() == [12, 20, 40]


def test_image_sizes_of_a_source() -> None:
    columns = _columns()
    source = types.SimpleNamespace(columns=lambda *names: {name: columns[name] for name in names})
    assert statistics.image_sizes(source).crop_heights.tolist() == [13, 25, 1, 20, 20]


def test_no_examples_have_no_figures() -> None:
    nothing = _encoded().take(0)
    assert len(statistics.image_sizes(nothing)) == 0
    with pytest.raises(ValueError, match="no examples"):
        statistics.image_sizes(nothing).percentiles()
    with pytest.raises(ValueError, match="No pixels"):
        statistics.channel_stats(nothing)


def test_class_distribution_of_an_info_and_of_a_stream() -> None:
    label = types.SimpleNamespace(names=["가", "나", "다"])
    counts = {"train": [4, 0, 2], "test": [1, 1, 1]}
    info = types.SimpleNamespace(metadata={"class_counts": counts}, features={"label": label})
    distribution = statistics.class_distribution(info)
    assert distribution.names == ("가", "나", "다")
    assert {split: own.tolist() for split, own in distribution.counts.items()} == counts
    assert distribution.imbalance == {"train": 2.0, "test": 1.0}
    assert list(statistics.class_distribution(info, "test").counts) == ["test"]
    streamed = statistics.class_distribution(_encoded(), "mine")
    assert streamed.counts["mine"][[0, 3, 7]].tolist() == [2, 2, 1]
    assert len(streamed.names) == 150


def test_class_distribution_has_the_names_of_the_source_or_those_given() -> None:
    label = types.SimpleNamespace(names=["가", "나"], num_classes=2)
    info = types.SimpleNamespace(features={"label": label})
    source = types.SimpleNamespace(info=info, column=lambda name: np.array([1, 1, 0]))
    distribution = statistics.class_distribution(source)
    assert distribution.names == ("가", "나")
    assert distribution.counts["all"].tolist() == [1, 2]
    named = statistics.class_distribution(_encoded(), names=[f"{n}" for n in range(9)])
    assert named.names[8] == "8" and len(named.counts["all"]) == 9
    with pytest.raises(ValueError, match="for another class table give num_classes"):
        statistics.class_distribution(source, names=["가"])


@pytest.mark.parametrize("figure", [statistics.channel_stats, statistics.image_sizes])
def test_pairs_are_refused(figure: Any) -> None:
    pairs = _encoded().map(lambda example: (example["image"], example["label"]))
    with pytest.raises(ValueError, match="without as_supervised=True"):
        figure(pairs)


def test_metadata_without_counts_is_named() -> None:
    info = types.SimpleNamespace(metadata={"mean": {}}, features={})
    with pytest.raises(ValueError, match=r"no class counts.*\['mean'\]"):
        statistics.class_distribution(info)
