"""The bytes that the shards keep, in each form."""

from __future__ import annotations

import hashlib
import io

import numpy as np
import pytest
from PIL import Image

from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.errors import SurveyError
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.raw.stored_images import StoredForm, least_bytes, store_image

_COARSE = np.random.default_rng(0).integers(0, 255, (9, 12, 3), np.uint8)
_PICTURE = Image.fromarray(_COARSE).resize((1200, 900), Image.Resampling.BICUBIC)


def _encoded(image_format: str) -> bytes:
    data = io.BytesIO()
    _PICTURE.save(data, image_format)
    return data.getvalue()


def _row(data: bytes, stored_as: str = "original", box: CropBox | None = None) -> ManifestRow:
    return ManifestRow(
        "a", "accepted", height=900, width=1200, stored_as=stored_as, box=box,
        sha256=hashlib.sha256(data).hexdigest(),
    )  # fmt: skip


def _opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def test_original_bytes_are_kept() -> None:
    data = _encoded("JPEG")
    stored = store_image(data, _row(data), StoredForm())
    assert stored.data == data
    assert (stored.height, stored.width, stored.box) == (900, 1200, CropBox(0, 0, 900, 1200))


def test_bmp_becomes_png_in_the_original_form() -> None:
    data = _encoded("BMP")
    stored = store_image(data, _row(data, "PNG"), StoredForm())
    assert _opened(stored.data).format == "PNG"
    assert np.array_equal(np.asarray(_opened(stored.data)), np.asarray(_PICTURE))


@pytest.mark.parametrize(("encoding", "image_format"), [("jpeg", "JPEG"), ("bmp", "BMP")])
def test_the_box_is_shrunk_to_the_shorter_side(encoding: str, image_format: str) -> None:
    data = _encoded("JPEG")
    row = _row(data, box=CropBox(100, 200, 740, 1000))
    stored = store_image(data, row, StoredForm(encoding, 320))
    assert _opened(stored.data).format == image_format
    assert _opened(stored.data).size == (stored.width, stored.height) == (600, 450)
    assert stored.box == CropBox(50, 100, 370, 500)


def test_small_images_are_not_enlarged() -> None:
    data = _encoded("JPEG")
    row = _row(data, box=CropBox(0, 0, 100, 200))
    stored = store_image(data, row, StoredForm("jpeg", 320))
    assert (stored.height, stored.width, stored.box) == (900, 1200, CropBox(0, 0, 100, 200))


def test_changed_bytes_are_refused() -> None:
    data = _encoded("JPEG")
    with pytest.raises(SurveyError, match="sha256 has changed"):
        store_image(data + b"\0", _row(data), StoredForm())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"encoding": "webp"}, "encoding must be one of"),
        ({"encoding": "jpeg", "shorter_side": 0}, "at least 1 pixel"),
        ({"encoding": "jpeg", "quality": 101}, "1..100"),
        ({"shorter_side": 320}, "need an encoding"),
    ],
)
def test_impossible_forms_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(SurveyError, match=message):
        StoredForm(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (StoredForm(), 900),
        (StoredForm("jpeg", 320), 100),
        (StoredForm("bmp", 512), 100),
        (StoredForm("jpeg"), 100),
        (StoredForm("jpeg", 64), 0),
    ],
)
def test_what_images_take_at_least(form: StoredForm, expected: int) -> None:
    assert least_bytes(1000, form) == expected
