"""JPEG strips and tiles of TIFFs, decoded one by one by Pillow's own JPEG reader."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest
from pictures import picture, reason, saved
from PIL import Image
from PIL.TiffImagePlugin import TiffImageFile

from kfood_tfds.raw.image_limits import ImageRejected
from kfood_tfds.raw.images import prepare_image
from kfood_tfds.raw.tiff_jpeg import jpeg_parts

HEIGHT, WIDTH = 200, 300


def tiff() -> bytes:
    return saved(Image.fromarray(picture(HEIGHT, WIDTH)), "TIFF", compression="jpeg")


def tags_of(data: bytes) -> Any:
    with TiffImageFile(io.BytesIO(data)) as image:
        return dict(image.tag_v2)


def with_tag(data: bytes, tag: int, value: int) -> bytes:
    """Overwrites a tag's value in a little-endian TIFF."""
    start = struct.unpack_from("<L", data, 4)[0]
    number = struct.unpack_from("<H", data, start)[0]
    for entry in range(start + 2, start + 2 + 12 * number, 12):
        if struct.unpack_from("<H", data, entry)[0] == tag:
            kind = struct.unpack_from("<H", data, entry + 2)[0]
            body = struct.pack("<H" if kind == 3 else "<L", value)
            return data[: entry + 8] + body + data[entry + 8 + len(body) :]
    raise LookupError(tag)


def grey_jpeg(height: int, width: int, level: int) -> bytes:
    return saved(Image.new("L", (width, height), level), "JPEG")


def laid_out(*parts: bytes, **tags: Any) -> tuple[dict[int, Any], bytes]:
    """Joins parts into one file; gives tags for them, named by `tags` as `_273` and so on."""
    ends = np.cumsum([4, *(len(part) for part in parts)])
    places = {
        "offsets": tuple(int(end) for end in ends[:-1]),
        "lengths": tuple(len(part) for part in parts),
    }
    found = {
        int(name[1:]): places.get(value, value) if isinstance(value, str) else value
        for name, value in tags.items()
    }
    return found, b"II*\0" + b"".join(parts)


def test_strips_are_the_rows_of_the_image() -> None:
    data = tiff()
    parts = list(jpeg_parts(tags_of(data), data))
    assert sum(part.height for part in parts) == HEIGHT
    assert {part.width for part in parts} == {WIDTH}
    rows = []
    for part in parts:
        with Image.open(io.BytesIO(part.data)) as strip:
            rows.append(np.asarray(strip.convert("RGB"), np.int16))
    assert np.abs(np.concatenate(rows) - picture(HEIGHT, WIDTH)).mean() < 12


@pytest.mark.parametrize("share", range(5, 100, 5))
def test_strip_that_lacks_data_is_refused_by_name(share: int) -> None:
    data = tiff()
    tags = tags_of(data)
    start, length = tags[273][-1], tags[279][-1]
    scan = data.index(b"\xff\xda", start)
    keep = scan + 14 + (start + length - scan - 14) * share // 100
    broken = data[:keep] + bytes(start + length - keep) + data[start + length :]
    expected = f"broken TIFF: strip {len(tags[273]) - 1} of its JPEG data can't be decoded"
    assert reason(broken) == expected


def test_whole_tiff_is_accepted() -> None:
    image = prepare_image(tiff())
    assert (image.source_format, image.height, image.width) == ("TIFF", HEIGHT, WIDTH)


def test_tiles_have_the_size_of_the_tile_even_at_the_edge() -> None:
    tags, data = laid_out(
        *(grey_jpeg(16, 32, level) for level in (10, 20, 30, 40)),
        _256=40, _257=20, _322=32, _323=16, _324="offsets", _325="lengths",
    )  # fmt: skip
    parts = list(jpeg_parts(tags, data))
    assert [(part.name, part.height, part.width) for part in parts] == [
        (f"tile {number}", 16, 32) for number in range(4)
    ]
    levels = [np.asarray(Image.open(io.BytesIO(part.data))).mean() for part in parts]
    assert levels == pytest.approx([10, 20, 30, 40], abs=1)


def test_planes_apart_have_strips_of_their_own() -> None:
    strips = [grey_jpeg(height, 40, 9) for _ in range(3) for height in (16, 4)]
    tags, data = laid_out(
        *strips,
        _256=40, _257=20, _273="offsets", _277=3, _278=16, _279="lengths", _284=2,
    )  # fmt: skip
    assert [part.height for part in jpeg_parts(tags, data)] == [16, 4] * 3


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([grey_jpeg(16, 40, 9)], "1 of 2 strips are listed"),
        ([grey_jpeg(16, 40, 9), b"no JPEG"], "strip 1 is no JPEG"),
        ([grey_jpeg(16, 40, 9), grey_jpeg(3, 40, 9)], "strip 1 has another size"),
        ([grey_jpeg(17, 40, 9), grey_jpeg(4, 40, 9)], "strip 0 has another size"),
        ([grey_jpeg(16, 40, 9), grey_jpeg(4, 39, 9)], "strip 1 has another size"),
        ([grey_jpeg(16, 40, 9), b"\xff\xd8\xff\xd9"], "strip 1 has another size"),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts: list[bytes], words: str) -> None:
    tags, data = laid_out(*parts, _256=40, _257=20, _273="offsets", _278=16, _279="lengths")
    with pytest.raises(ImageRejected, match=f"broken TIFF: {words}"):
        list(jpeg_parts(tags, data))


def test_millions_of_tiles_that_are_not_there_take_no_memory() -> None:
    tags, data = laid_out(
        grey_jpeg(1, 1, 9),
        _256=10_000, _257=10_000, _322=1, _323=1, _324="offsets", _325="lengths",
    )  # fmt: skip
    with pytest.raises(ImageRejected, match="1 of 100000000 tiles are listed"):
        next(jpeg_parts(tags, data))


@pytest.mark.parametrize("tag", [278, 257, 256])
def test_sizes_of_zero_are_refused(tag: int) -> None:
    assert reason(with_tag(tiff(), tag, 0))


def test_old_jpeg_compression_is_refused() -> None:
    assert reason(with_tag(tiff(), 259, 6)) == ("unsupported TIFF: JPEG compression of before 1995")
