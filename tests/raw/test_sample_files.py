"""Files of a drawn archive, one by one: names, pictures, facts, content."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile

from kfood_tfds.raw.classes import FoodClass
from kfood_tfds.raw.crop_area import CropBox, parse_crop_area, place_crop
from kfood_tfds.raw.sample_files import Easel, Picture, SampleFile, encode, row_values

MANDU = FoodClass(49, "만두", "만두", "mandu", "dumplings")
YAKGWA = FoodClass(143, "약과", "한과", "yakgwa", "honey cookies")
EASEL = Easel(MANDU, 0, (40, 60))
# FIPS 180-2, appendix B.1.
SHA256_OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def _pixels(picture: Picture) -> bytes:
    return picture.image.tobytes()


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (SampleFile("한과", "약과", "a.jpg", 143), "한과/약과/a.jpg"),
        (SampleFile("한과", "", "a.jpg", None), "한과/a.jpg"),
        (SampleFile("", "", ".DS_Store", None), ".DS_Store"),
        (SampleFile("한과", "약과", "a.jpg", 143, folder=" 약과", above="x"), "한과/약과/a.jpg"),
    ],
)
def test_ids_leave_out_what_is_not_known(file: SampleFile, expected: str) -> None:
    assert file.id == expected


def test_files_are_named_as_in_the_archive() -> None:
    assert EASEL.filename(4) == "Img_049_0004.jpg"
    assert EASEL.filename(4, ".PNG") == "Img_049_0004.PNG"
    assert EASEL.filename(4, "") == "Img_049_0004"
    assert EASEL.filename(12_345) == "Img_049_12345.jpg"
    assert EASEL.id(9999) == "만두/만두/Img_049_9999.jpg"
    assert Easel(YAKGWA, 0, (40, 60)).id(0) == "한과/약과/Img_143_0000.jpg"


def test_a_picture_has_the_size_that_is_asked_for() -> None:
    picture = EASEL.picture(3, (50, 90))
    assert picture.size == (50, 90)
    assert (picture.image.size, picture.image.mode) == ((90, 50), "RGB")
    assert picture.whole == CropBox(0, 0, 50, 90)
    box = picture.box
    assert 0 <= box.ymin < box.ymax <= 50 and 0 <= box.xmin < box.xmax <= 90


def test_sizes_are_drawn_within_their_bounds() -> None:
    sizes = [Easel(MANDU, 0, (40, 42)).picture(number).size for number in range(15)]
    sides = np.array(sizes)
    # All three lengths occur, upwards and sideways, independently of one another.
    for axis in (0, 1):
        assert set(sides[:, axis].tolist()) == {40, 41, 42}
    assert len(set(sizes)) > 3
    assert Easel(MANDU, 0, (45, 45)).picture(0).size == (45, 45)


def test_a_picture_hangs_on_class_number_and_seed_alone() -> None:
    size = (40, 50)
    first = _pixels(EASEL.picture(3, size))
    assert _pixels(Easel(MANDU, 0, (100, 200)).picture(3, size)) == first
    others = (
        EASEL.picture(4, size),
        Easel(MANDU, 1, (40, 60)).picture(3, size),
        Easel(YAKGWA, 0, (40, 60)).picture(3, size),
    )
    assert len({first, *map(_pixels, others)}) == 4


def test_a_file_is_of_its_class_unless_said_otherwise() -> None:
    file = EASEL.file("a.jpg", b"abc")
    assert file == SampleFile("만두", "만두", "a.jpg", 49, sha256=SHA256_OF_ABC, folder="만두")
    assert (file.verdict, file.crop_status, file.box, file.size) == ("accepted", "", None, None)
    stray = EASEL.file("b.jpg", b"abc", label=None, verdict="rejected", folder=" 만두", sha256="x")
    assert (stray.label, stray.verdict, stray.folder, stray.sha256) == (
        None, "rejected", " 만두", "x",
    )  # fmt: skip
    with pytest.raises(TypeError, match="colour"):
        EASEL.file("c.jpg", b"abc", colour="red")


def test_jpegs_are_of_quality_ninety_by_default() -> None:
    image = EASEL.picture(0).image
    tables = {}
    for quality in (30, 90):
        data = io.BytesIO()
        image.save(data, "JPEG", quality=quality)
        tables[quality] = JpegImageFile(io.BytesIO(data.getvalue())).quantization
    for options, quality in (({}, 90), ({"quality": 30}, 30), ({"progressive": True}, 90)):
        found = JpegImageFile(io.BytesIO(encode(image, **options)))
        assert found.quantization == tables[quality]
        assert ("progressive" in found.info) == ("progressive" in options)


@pytest.mark.parametrize("kind", ["PNG", "BMP"])
def test_other_kinds_keep_every_pixel(kind: str) -> None:
    image = EASEL.picture(1).image
    with Image.open(io.BytesIO(encode(image, kind))) as found:
        assert found.format == kind
        np.testing.assert_array_equal(np.asarray(found), np.asarray(image))


def test_rows_say_where_a_box_begins_and_how_large_it_is() -> None:
    box = CropBox(ymin=1, xmin=2, ymax=11, xmax=22)
    assert row_values(box) == "2,1,20,10"
    assert row_values(CropBox(0, 0, 90, 120)) == "0,0,120,90"
    row = parse_crop_area(f"Img_049_0000={row_values(box)}\r\n".encode()).get("Img_049_0000")
    placed = place_crop(row, 90, 120)
    assert (placed.box, placed.status) == (box, "annotated")
