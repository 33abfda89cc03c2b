"""Contact sheets: where pictures, boxes and captions go."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kfood_tfds import drawing
from kfood_tfds.drawing import BACKGROUND, BOX_EDGE, BOX_LINE, TILE_GROUND, Tile
from kfood_tfds.fonts import LabelFont, find_font

LATIN = LabelFont(None)
RED, BLUE = (200, 0, 0), (0, 0, 200)


def plain(colour: tuple[int, int, int], height: int = 40, width: int = 40) -> np.ndarray:
    return np.full((height, width, 3), colour, np.uint8)


def find_colour(sheet: Image.Image, colour: tuple[int, int, int]) -> tuple[int, int, int, int]:
    """Bounding box of a colour: left, top, right, bottom, the last two exclusive."""
    rows, columns = np.nonzero((np.asarray(sheet) == colour).all(-1))
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1


def test_pictures_stand_in_rows_from_left_to_right() -> None:
    tiles = [Tile(plain(RED)), Tile(plain(BLUE)), Tile(plain((0, 200, 0)))]
    sheet = drawing.contact_sheet(tiles, 2, tile_size=40, font=LATIN)
    red, blue, green = (find_colour(sheet, c) for c in (RED, BLUE, (0, 200, 0)))
    assert red[2] - red[0] == red[3] - red[1] == 40
    assert red[1] == blue[1] and red[2] < blue[0]
    assert green[0] == red[0] and green[1] > red[3]
    assert sheet.getpixel((0, 0)) == BACKGROUND


def test_empty_places_stay_empty() -> None:
    sheet = drawing.contact_sheet([None, Tile(plain(RED))], 2, tile_size=40, font=LATIN)
    assert find_colour(sheet, RED)[0] > 40
    assert sheet.getpixel((30, 30)) == BACKGROUND


def test_a_wide_picture_keeps_its_aspect_and_is_centred() -> None:
    sheet = drawing.contact_sheet([Tile(plain(RED, 20, 80))], 1, tile_size=40, font=LATIN)
    left, top, right, bottom = find_colour(sheet, RED)
    assert (right - left, bottom - top) == (40, 10)
    ground = find_colour(sheet, TILE_GROUND)
    assert (ground[2] - ground[0], ground[3] - ground[1]) == (40, 40)
    assert top - ground[1] == ground[3] - bottom == 15


def test_the_box_is_drawn_where_it_is() -> None:
    # 100 pixels a side: the box's outer corners are 20..60 down and 10..90 across.
    tile = Tile(plain(BLUE, 100, 100), box=(0.2, 0.1, 0.6, 0.9))
    sheet = drawing.contact_sheet([tile], 1, tile_size=100, font=LATIN)
    picture = find_colour(sheet, BLUE)
    line = find_colour(sheet, BOX_LINE)
    offset = [edge - picture[n % 2] for n, edge in enumerate(line)]
    assert offset == [10, 20, 90, 60]
    assert find_colour(sheet, BOX_EDGE)[0] == line[0] + 3


@pytest.mark.parametrize(
    "box", [(-1.0, -1.0, 2.0, 2.0), (0.5, 0.5, 0.5, 0.5), (1.0, 1.0, 1.0, 1.0)]
)
def test_odd_boxes_draw_without_an_error(box: tuple[float, float, float, float]) -> None:
    sheet = drawing.contact_sheet([Tile(plain(BLUE, 9, 9), box=box)], 1, tile_size=9, font=LATIN)
    assert sheet.mode == "RGB"


def test_captions_take_room_below_their_picture() -> None:
    bare = drawing.contact_sheet([Tile(plain(RED))], 1, tile_size=90, font=LATIN)
    named = drawing.contact_sheet(
        [Tile(plain(RED), "kimchi\nclipped")], 1, tile_size=90, font=LATIN
    )
    assert named.height > bare.height
    below = np.asarray(named)[find_colour(named, RED)[3] :]
    assert (below != BACKGROUND).any()


def test_a_title_stands_over_the_pictures() -> None:
    tiles = [Tile(plain(RED))] * 3
    bare = drawing.contact_sheet(tiles, 3, tile_size=60, font=LATIN)
    titled = drawing.contact_sheet(tiles, 3, "kfood", tile_size=60, font=LATIN)
    top = find_colour(titled, RED)[1]
    assert titled.height - bare.height == top - find_colour(bare, RED)[1] > 20
    assert (np.asarray(titled)[:top] != BACKGROUND).any()


def test_a_long_caption_does_not_run_into_the_next_tile() -> None:
    tiles = [Tile(plain(RED), "W" * 200), Tile(plain(BLUE))]
    sheet = np.asarray(drawing.contact_sheet(tiles, 2, tile_size=60, font=LATIN))
    left_of_blue = find_colour(Image.fromarray(sheet), BLUE)[0]
    bottom = find_colour(Image.fromarray(sheet), RED)[3]
    assert (sheet[bottom:, left_of_blue - 2 :] == BACKGROUND).all()


def test_shortened_text_fits_and_ends_in_an_ellipsis() -> None:
    font = LATIN.at(16)
    assert drawing.shortened("kimchi", font, 1000) == "kimchi"
    cut = drawing.shortened("kimchi stew with tofu", font, 80)
    assert cut.startswith("kim") and cut.endswith("…") and font.getlength(cut) <= 80
    assert drawing.shortened("kimchi", font, 0) == "…"


def test_decomposed_hangul_is_drawn_like_composed() -> None:
    font = find_font()
    sheets = [
        drawing.contact_sheet(
            [Tile(plain(RED), unicodedata.normalize(form, "갈비구이"))], 1, font=font
        )
        for form in ("NFC", "NFD")
    ]
    assert sheets[0].tobytes() == sheets[1].tobytes()


def test_grey_pictures_are_fine() -> None:
    for image in (np.full((8, 8), 90, np.uint8), np.full((8, 8, 1), 90, np.uint8)):
        sheet = drawing.contact_sheet([Tile(image)], 1, tile_size=8, font=LATIN)
        assert find_colour(sheet, (90, 90, 90)) == (24, 24, 32, 32)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((4, 4, 3), np.float32), r"uint8\[H, W, 3\]. Received: float32\[4, 4, 3\]"),
        (np.zeros((4, 4, 4), np.uint8), r"Received: uint8\[4, 4, 4\] for the tile 'x'"),
        (np.zeros((0, 4, 3), np.uint8), r"Received: uint8\[0, 4, 3\]"),
    ],
)
def test_what_is_no_picture_is_refused(image: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        drawing.contact_sheet([Tile(image, "x")], 1, font=LATIN)


def test_senseless_sheets_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one tile"):
        drawing.contact_sheet([], 3, font=LATIN)
    with pytest.raises(ValueError, match="columns=0"):
        drawing.contact_sheet([Tile(plain(RED))], 0, font=LATIN)
    with pytest.raises(ValueError, match="at least one sheet"):
        drawing.beside()


def test_a_batch_in_unit_range_comes_back_as_its_pixels() -> None:
    batch = np.stack([plain((255, 0, 51)), plain((0, 102, 0))]).astype(np.float32) / 255
    sheet = drawing.batch_sheet(batch, ["a", "b"], 2, value_range=(0, 1), tile_size=40, font=LATIN)
    assert find_colour(sheet, (255, 0, 51))[0] < find_colour(sheet, (0, 102, 0))[0]


def test_batches_must_fit_their_captions() -> None:
    with pytest.raises(ValueError, match="1 captions, 2 images"):
        drawing.batch_sheet(np.zeros((2, 4, 4, 3), np.uint8), ["a"], 2, font=LATIN)
    with pytest.raises(ValueError, match=r"\[N, H, W, 3\]"):
        drawing.batch_sheet(np.zeros((4, 4, 3), np.uint8), ["a"], 2, font=LATIN)


def test_values_are_mapped_linearly_and_clipped() -> None:
    values = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    assert drawing.to_uint8(values, (-1, 1)).tolist() == [0, 128, 191, 255, 255]
    assert drawing.to_uint8(values).tolist() == [0, 85, 128, 170, 255]
    assert drawing.to_uint8(np.array([3, 250], np.uint8)).tolist() == [3, 250]
    assert drawing.to_uint8(np.array([np.nan, 5.0, np.inf]), (0, 10)).tolist() == [0, 128, 255]
    assert drawing.to_uint8(np.full(3, 7.0)).tolist() == [0, 0, 0]
    assert drawing.to_uint8(np.full(3, np.nan)).tolist() == [0, 0, 0]


def test_sheets_side_by_side_keep_their_tops_level() -> None:
    joined = drawing.beside(Image.new("RGB", (10, 20), RED), Image.new("RGB", (5, 8), BLUE))
    assert joined.size == (15, 20)
    assert find_colour(joined, BLUE) == (10, 0, 15, 8)
    assert joined.getpixel((12, 15)) == BACKGROUND


def test_png_is_written_under_any_name(tmp_path: Path) -> None:
    drawing.save_png(Image.new("RGB", (3, 2), RED), tmp_path / "sheet.out")
    with Image.open(tmp_path / "sheet.out") as image:
        assert (image.format, image.size) == ("PNG", (3, 2))
