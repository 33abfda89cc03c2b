"""Crop rows: every form that circulates, placed on images; expected values worked out by hand."""

from __future__ import annotations

import math
import pickle
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from kfood_tfds.raw.crop_area import (
    MAX_NOTE_CHARS,
    MAX_PROBLEMS,
    CropBox,
    CropRow,
    PlacedCrop,
    parse_crop_area,
    place_crop,
)
from kfood_tfds.raw.errors import KfoodError

WHOLE = CropBox(0, 0, 300, 400)


def row_of(text: str) -> CropRow:
    """The only row of a file."""
    (row,) = parse_crop_area(text.encode()).rows.values()
    return row


@pytest.mark.parametrize(
    "line",
    [
        "a=10,20,200,150",
        " a = 10 , 20 ,200,150 ",
        "a=10.0,20.0,200.0,150.0",
        "a=10,20,200,150\r",
        "\ufeffa=10,20,200,150",
        "a=10,20,200,150,",
        "a=10 20 200 150",
        "a:10,20,200,150",
        "a=+10,2e1,200,150",
    ],
)
def test_plain_box(line: str) -> None:
    row = row_of(line)
    assert (row.stem, row.form, row.values, row.note) == ("a", "box", (10, 20, 200, 150), "")
    assert place_crop(row, 300, 400) == PlacedCrop(CropBox(20, 10, 170, 210), "annotated", "")


@pytest.mark.parametrize("value", ["10,20,200,150 dissimilar", "10,20,200,150,dissimilar"])
def test_box_with_a_word_keeps_the_word(value: str) -> None:
    placed = place_crop(row_of(f"a={value}"), 300, 400)
    assert placed == PlacedCrop(CropBox(20, 10, 170, 210), "annotated", "dissimilar")


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("398,290", ""),
        (",398,290", ""),
        ("dissimilar,398,290", "dissimilar"),
        ("open,398,290", "open"),
        ("398,290 open", "open"),
    ],
)
def test_two_values(value: str, word: str) -> None:
    row = row_of(f"a={value}")
    assert (row.form, row.values, row.note) == ("two_values", (398, 290), word)
    tail = f"; {word}" if word else ""
    assert place_crop(row, 300, 400) == PlacedCrop(
        WHOLE, "unusable", f"two values instead of four: 398,290{tail}"
    )
    assert place_crop(row, 300, 400, two_value_boxes="origin") == PlacedCrop(
        CropBox(0, 0, 290, 398),
        "annotated",
        f"two values read as width and height at 0,0{tail}",
    )


def test_two_values_larger_than_the_image_are_clipped() -> None:
    placed = place_crop(row_of("a=986,590"), 300, 400, two_value_boxes="origin")
    assert (placed.box, placed.status) == (WHOLE, "clipped")
    assert "986,590" in placed.note


@pytest.mark.parametrize(
    "value",
    [
        "dissimilar",
        "",
        "1,2,3,4,5",
        "10,foo,200,150",
        "10,,200,150",
        "1,2,3",
        "7",
        "10,20,0,150",
        "10,20,200,0",
        "10,20,-200,150",
        "0,0",
        "nan,1,2,3",
        "1,2,inf,3",
        "1,2,1e400,3",
        "-1e400,2,3,3",
        "10px,20px,200px,150px",
        "0x10,1,1,1",
        "1_0,1,1,1",
        "400,0,10,10",
        "0,300,10,10",
        "-50,-50,50,50",
        "1e300,0,10,10",
        "=1,2,3,4",
    ],
)
def test_unusable_rows_give_the_whole_image_and_a_reason(value: str) -> None:
    for mode in ("image", "origin"):
        placed = place_crop(row_of(f"a={value}"), 300, 400, two_value_boxes=mode)
        assert (placed.box, placed.status) == (WHOLE, "unusable")
        assert placed.note


@pytest.mark.parametrize(
    ("value", "box"),
    [
        ("350,250,100,100", CropBox(250, 350, 300, 400)),
        ("-20,-10,30,40", CropBox(0, 0, 30, 10)),
        ("-1,-1,1000,1000", WHOLE),
        ("399,299,1e300,1e300", CropBox(299, 399, 300, 400)),
        ("-1e300,0,2e300,10", CropBox(0, 0, 10, 400)),
        ("1,1,1.7976931348623157e308,1", CropBox(1, 1, 2, 400)),
    ],
)
def test_boxes_partly_outside_are_clipped(value: str, box: CropBox) -> None:
    placed = place_crop(row_of(f"a={value}"), 300, 400)
    assert (placed.box, placed.status) == (box, "clipped")
    assert "outside" in placed.note


def test_box_that_reaches_the_edge_is_not_clipped() -> None:
    placed = place_crop(row_of("a=0,167,470,538"), 705, 470)
    assert placed == PlacedCrop(CropBox(167, 0, 705, 470), "annotated", "")


@pytest.mark.parametrize(
    ("value", "box"),
    [
        ("10.5,0,10,10", CropBox(0, 11, 10, 21)),
        ("10.4,0,10.2,10", CropBox(0, 10, 10, 21)),
        ("10,0,0.2,10", CropBox(0, 10, 10, 11)),
        ("10.5,20.5,9.5,9.5", CropBox(21, 11, 30, 20)),
        ("0,0,400.3,300.2", WHOLE),
    ],
)
def test_fractions_round_by_edges_and_keep_a_pixel(value: str, box: CropBox) -> None:
    assert place_crop(row_of(f"a={value}"), 300, 400) == PlacedCrop(box, "annotated", "")


def test_no_row_is_missing() -> None:
    assert place_crop(None, 300, 400) == PlacedCrop(WHOLE, "missing", "")


@pytest.mark.parametrize("orientation", range(1, 9))
def test_box_of_the_stored_frame_turns_with_the_image(orientation: int) -> None:
    stored = np.zeros((400, 100), np.uint8)
    stored[250:390, 10:60] = 255
    image = Image.fromarray(stored)
    turned = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    upright = image.transpose(turned[orientation]) if orientation > 1 else image
    row = row_of("a=10,250,50,140")
    placed = place_crop(row, upright.height, upright.width, orientation=orientation)
    if orientation < 5:
        # Same frame, so the box is taken as it is, and nothing tells it from an upright one.
        assert placed == PlacedCrop(CropBox(250, 10, 390, 60), "annotated", "")
        return
    xmin, ymin, xmax, ymax = upright.getbbox() or (0, 0, 0, 0)
    assert placed.box == CropBox(ymin, xmin, ymax, xmax)
    assert placed.status == "annotated"
    assert "EXIF" in placed.note


def test_box_that_fits_the_upright_frame_is_not_turned() -> None:
    placed = place_crop(row_of("a=10,20,200,150"), 300, 400, orientation=6)
    assert placed == PlacedCrop(CropBox(20, 10, 170, 210), "annotated", "")


def test_box_that_fits_neither_frame_is_clipped_upright() -> None:
    placed = place_crop(row_of("a=10,20,500,500"), 300, 400, orientation=6)
    assert (placed.box, placed.status) == (CropBox(20, 10, 300, 400), "clipped")


def test_comments_sections_and_blank_lines_are_no_problem() -> None:
    table = parse_crop_area(b"[boxes]\r\n# made by x\r\n! y\r\n\r\n  \r\na=1,2,3,4\r\n")
    assert list(table.rows) == ["a"]
    assert table.rows["a"].line == 6
    assert table.problems == ()


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings(ending: str) -> None:
    table = parse_crop_area(ending.join(["a=1,2,3,4", "b=5,6,7,8"]).encode())
    assert {stem: row.line for stem, row in table.rows.items()} == {"a": 1, "b": 2}


def test_last_of_two_rows_wins_and_is_reported() -> None:
    table = parse_crop_area(b"a=1,2,3,4\nb=1,1,1,1\na=5,6,7,8\n")
    row = table.get("a")
    assert row is not None and row.values == (5, 6, 7, 8)
    assert table.problems == ("line 3: second row for 'a', it replaces line 1",)


def test_stems_match_exactly_first_then_without_case() -> None:
    table = parse_crop_area(b"img_000_0001=1,2,3,4\nIMG_000_0002=1,1,1,1\nimg_000_0002=2,2,2,2\n")
    lines = {
        stem: row.line if (row := table.get(stem)) else None
        for stem in ("Img_000_0001", "IMG_000_0002", "img_000_0002", "Img_000_0002", "other")
    }
    assert lines == {
        "Img_000_0001": 1,
        "IMG_000_0002": 2,
        "img_000_0002": 3,
        "Img_000_0002": 3,
        "other": None,
    }
    assert len(table.problems) == 1
    assert "only in case" in table.problems[0]


def test_stems_match_in_any_unicode_form() -> None:
    name = "김치_01"
    for written in ("NFC", "NFD"):
        for asked in ("NFC", "NFD"):
            data = f"{unicodedata.normalize(written, name)}=1,2,3,4".encode()
            row = parse_crop_area(data).get(unicodedata.normalize(asked, name))
            assert row is not None and row.stem == name


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "utf-16"])
def test_encodings(encoding: str) -> None:
    table = parse_crop_area("김치=1,2,3,4 다름\r\n".encode(encoding))
    assert table.problems == ()
    assert table.rows["김치"].note == "다름"


def test_utf16_big_endian_with_a_mark() -> None:
    table = parse_crop_area(b"\xfe\xff" + "a=1,2,3,4".encode("utf-16-be"))
    assert table.rows["a"].values == (1, 2, 3, 4)


def test_one_bad_byte_spoils_only_its_line() -> None:
    table = parse_crop_area("가=1,2,3,4\n".encode() + b"b=5,6,7,8 \xff\xff\nc=1,1,1,1")
    assert list(table.rows) == ["가", "b", "c"]
    assert [problem.split(":")[0] for problem in table.problems] == ["line 2"]


def test_lines_without_a_row_are_reported() -> None:
    table = parse_crop_area(b"a=1,2,3,4\nnonsense\n=1,2,3,4\n")
    assert list(table.rows) == ["a"]
    assert [problem.split(":")[0] for problem in table.problems] == ["line 2", "line 3"]


def test_notes_and_problems_stay_small() -> None:
    table = parse_crop_area(b"a=" + b"x" * 100_000 + b"\n" + b"word\n" * 50_000)
    placed = place_crop(table.rows["a"], 300, 400)
    assert len(placed.note) <= 2 * MAX_NOTE_CHARS
    assert len(table.problems) == MAX_PROBLEMS + 1
    assert table.problems[-1].startswith("and 49000 more")


def test_what_just_fits_is_shown_whole() -> None:
    word = "w" * MAX_NOTE_CHARS
    (whole,) = parse_crop_area(f"{word}\n".encode()).problems
    assert repr(word) in whole
    (cut,) = parse_crop_area(f"{word}w\n".encode()).problems
    assert repr(word[:-1] + "…") in cut
    assert len(parse_crop_area(b"word\n" * MAX_PROBLEMS).problems) == MAX_PROBLEMS
    assert (
        parse_crop_area(b"word\n" * MAX_PROBLEMS).problems[-1].startswith(f"line {MAX_PROBLEMS}:")
    )


def test_table_survives_pickling() -> None:
    table = parse_crop_area(b"a=1,2,3,4\na=2,2,2,2\n")
    again = pickle.loads(pickle.dumps(table))
    assert again == table
    assert again.get("A") == table.get("A")


@pytest.mark.parametrize(
    ("size", "options"),
    [
        ((0, 10), {}),
        ((10, 0), {}),
        ((10, 10), {"orientation": 9}),
        ((10, 10), {"orientation": 0}),
        ((10, 10), {"two_value_boxes": "centre"}),
    ],
)
def test_impossible_arguments_are_refused(size: tuple[int, int], options: dict) -> None:
    with pytest.raises(KfoodError, match="Received"):
        place_crop(None, *size, **options)


@given(st.binary(max_size=300))
def test_any_bytes_parse(data: bytes) -> None:
    table = parse_crop_area(data)
    for stem, row in table.rows.items():
        assert stem == row.stem and table.get(stem) is row
        placed = place_crop(row, 30, 40)
        assert 0 <= placed.box.ymin < placed.box.ymax <= 30
        assert 0 <= placed.box.xmin < placed.box.xmax <= 40


words = st.sampled_from(["dissimilar", "open", "", " ", "inf", "nan", "-inf", "1e999", "-0", "x1"])
numbers = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=True, allow_infinity=True).map(repr),
    st.floats(-100, 500).map(repr),
    words,
)


@given(
    st.lists(numbers, max_size=7).map(",".join),
    st.integers(1, 5000),
    st.integers(1, 5000),
    st.integers(1, 8),
    st.sampled_from(["image", "origin"]),
)
def test_any_row_gives_a_box_inside_the_image(
    value: str, height: int, width: int, orientation: int, mode: str
) -> None:
    row = row_of(f"a={value}")
    placed = place_crop(row, height, width, orientation=orientation, two_value_boxes=mode)
    assert 0 <= placed.box.ymin < placed.box.ymax <= height
    assert 0 <= placed.box.xmin < placed.box.xmax <= width
    if placed.status == "unusable":
        assert placed.box == CropBox(0, 0, height, width)
    if placed.status != "annotated":
        assert placed.note
    if placed.status in ("annotated", "clipped") and mode == "image":
        assert row.form == "box"
        assert all(map(math.isfinite, row.values)) and min(row.values[2:]) > 0


@given(
    st.integers(0, 200),
    st.integers(0, 200),
    st.integers(1, 200),
    st.integers(1, 200),
    st.integers(0, 50),
    st.integers(0, 50),
)
def test_whole_boxes_come_back_as_they_are(
    x: int, y: int, w: int, h: int, right: int, below: int
) -> None:
    placed = place_crop(row_of(f"a={x},{y},{w},{h}"), y + h + below, x + w + right)
    assert placed == PlacedCrop(CropBox(y, x, y + h, x + w), "annotated", "")


def test_numbers_may_have_capital_exponents_and_only_ascii_digits() -> None:
    assert row_of("a=1E2,2,3,4").values == (100.0, 2.0, 3.0, 4.0)
    # float() would read these digits, other readers of the file don't.
    assert row_of("a=١,2,3,4").form == "invalid"


def test_a_hole_before_the_last_of_four_values_is_no_box() -> None:
    assert row_of("a=1,2,3,,4").form == "invalid"
    assert row_of("a=1,2,3,4,").form == "box"


def test_images_of_one_pixel_have_a_box() -> None:
    assert place_crop(None, 1, 1).box == CropBox(0, 0, 1, 1)
    for height, width in ((0, 1), (1, 0)):
        with pytest.raises(KfoodError, match="at least one pixel"):
            place_crop(None, height, width)
