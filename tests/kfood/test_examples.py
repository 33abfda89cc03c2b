"""Examples as TFDS takes them: what stands in them, in which units, and that they can be stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow_datasets as tfds
from hypothesis import given
from hypothesis import strategies as st
from pictures import jpeg

from kfood_tfds import Builder
from kfood_tfds.kfood.examples import example_of, keyed_example
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.raw.stored_images import StoredImage

# Beyond what a float or a 32-bit number can hold.
GROUP = 2**62 + 1
ROW = ManifestRow(
    "만두/만두/Img_049_0001.jpg",
    "accepted",
    split="train",
    label=49,
    category="만두",
    group=GROUP,
    source_format="PNG",
    width=1600,
    height=800,
    crop_status="clipped",
    box=CropBox(200, 800, 600, 1600),
)
DATA = jpeg()
# Half the size of the file in the archive.
IMAGE = StoredImage(ROW, DATA, 400, 800, CropBox(100, 400, 300, 800))


@pytest.fixture(name="features", scope="module")
def _features(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return Builder(config="full", data_dir=tmp_path_factory.mktemp("data")).info.features


def test_an_example_holds_what_the_manifest_says() -> None:
    example = example_of(IMAGE)
    assert example["image"] is DATA
    del example["image"], example["crop"]
    assert example == {
        "label": 49,
        "category": "만두",
        "crop_status": "clipped",
        # Of the image as it is stored, not of the file in the archive.
        "height": 400,
        "width": 800,
        "id": "만두/만두/Img_049_0001.jpg",
        "group": GROUP,
    }


def test_the_box_is_in_shares_of_the_stored_image() -> None:
    crop = example_of(IMAGE)["crop"]
    assert (crop.ymin, crop.xmin, crop.ymax, crop.xmax) == (0.25, 0.5, 0.75, 1.0)


def test_the_key_is_the_id() -> None:
    key, example = keyed_example(IMAGE)
    assert key == example["id"] == ROW.id
    assert example == example_of(IMAGE)


def test_examples_have_all_features_and_no_more(features: Any) -> None:
    assert set(example_of(IMAGE)) == set(features)


def test_examples_are_stored_without_loss(features: Any) -> None:
    stored = features.encode_example(example_of(IMAGE))
    assert stored["image"] == DATA
    assert features["label"].int2str(int(stored["label"])) == "만두"
    assert features["category"].int2str(int(stored["category"])) == "만두"
    assert features["crop_status"].int2str(int(stored["crop_status"])) == "clipped"
    assert (int(stored["group"]), int(stored["height"]), int(stored["width"])) == (GROUP, 400, 800)
    np.testing.assert_array_equal(stored["crop"], np.array([0.25, 0.5, 0.75, 1.0], np.float32))


@st.composite
def _images(draw: st.DrawFn) -> StoredImage:
    height, width = draw(st.integers(1, 30_000)), draw(st.integers(1, 30_000))
    ymin, xmin = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
    ymax, xmax = draw(st.integers(ymin + 1, height)), draw(st.integers(xmin + 1, width))
    return StoredImage(ROW, DATA, height, width, CropBox(ymin, xmin, ymax, xmax))


@given(_images())
def test_any_box_can_be_stored_and_found_again(image: StoredImage) -> None:
    # TFDS refuses what isn't a float, or lies outside 0 to 1.
    stored = tfds.features.BBoxFeature().encode_example(example_of(image)["crop"])
    sizes = [image.height, image.width] * 2
    box = image.box
    pixels = np.round(np.asarray(stored, np.float64) * sizes).astype(int).tolist()
    assert pixels == [box.ymin, box.xmin, box.ymax, box.xmax]


def test_the_whole_image_is_exactly_one() -> None:
    for height, width in ((1, 1), (3, 7), (480, 641)):
        image = StoredImage(ROW, DATA, height, width, CropBox(0, 0, height, width))
        crop = example_of(image)["crop"]
        assert (crop.ymin, crop.xmin, crop.ymax, crop.xmax) == (0.0, 0.0, 1.0, 1.0)
