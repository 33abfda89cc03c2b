"""The markers of a JPEG: cut, stray and far too many ones."""

from __future__ import annotations

import numpy as np
import pytest
from pictures import HEIGHT, WIDTH, exif, jpeg, picture, pillow_view, reason, saved
from PIL import Image

from kfood_tfds.raw.images import prepare_image
from kfood_tfds.raw.jpeg_header import ends_well, read_jpeg_header


@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("cut", [1, 2, 3, 10, 100, 500])
def test_truncated_jpeg(cut: int, progressive: bool) -> None:
    assert reason(jpeg(progressive=progressive)[:-cut]).startswith("truncated JPEG: ")


@pytest.mark.parametrize("marker", [b"\xff\xc0", b"\xff\xd8", b"\xff\xc8"])
def test_stray_marker_in_place_of_the_end_is_refused(marker: bytes) -> None:
    # TensorFlow decodes these in full; Pillow stumbles over the marker.
    assert "JPEG" in reason(jpeg()[:-2] + marker + b"\xd9")
    assert "JPEG" in reason(jpeg()[:-2] + marker + b"\xff\xd9")


def test_jpeg_whose_tail_was_never_written() -> None:
    data = jpeg()
    assert reason(data[:-200] + bytes(200)).startswith("truncated JPEG: ")


def test_jpeg_of_many_scans() -> None:
    data = jpeg(progressive=True)
    last = data.rindex(b"\xff\xda")
    bomb = data[:last] + data[last:-2] * 1000 + b"\xff\xd9"
    assert "limit MAX_JPEG_SCANS is" in reason(bomb)


def test_jpeg_of_many_segments() -> None:
    data = jpeg()
    assert "limit MAX_JPEG_SEGMENTS is" in reason(data[:2] + b"\xff\xe5\0\2" * 100_000 + data[2:])
    assert "limit MAX_JPEG_SEGMENTS is" in reason(data[:2] + b"\xff" * 100_000 + data[2:])


def test_cut_adobe_marker_is_no_crash() -> None:
    assert reason(b"\xff\xd8\xff\xee\0\x0eAdobe").startswith("truncated JPEG: ")


def test_header_is_read_from_the_markers() -> None:
    header = read_jpeg_header(jpeg(subsampling=2))
    assert header is not None
    assert (header.process, header.precision, header.height, header.width) == (0xC0, 8, 48, 72)
    assert header.components == (1, 2, 3) and header.adobe_transform is None
    progressive = read_jpeg_header(jpeg(progressive=True))
    assert progressive is not None and progressive.process == 0xC2
    cmyk = read_jpeg_header(saved(Image.fromarray(picture()).convert("CMYK"), "JPEG"))
    assert cmyk is not None and len(cmyk.components) == 4 and cmyk.adobe_transform is not None
    assert (header.is_common, progressive.is_common, cmyk.is_common) == (True, True, False)
    assert read_jpeg_header(b"\xff\xd8\xff\xd9") is None


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"restart_marker_blocks": 1}])
def test_sound_files_end_well_whatever_follows(options: dict[str, object]) -> None:
    data = jpeg(**options)
    header = read_jpeg_header(data)
    assert header is not None
    assert ends_well(data, header)
    assert ends_well(data + b"\xff\xc0 garbage", header)
    assert not ends_well(data[:-2], header)
    assert not ends_well(data[:-2] + b"\xff\xc0\xff\xd9", header)


def test_pillow_opens_only_jpegs_with_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    bare, tagged = jpeg(), jpeg(exif=exif(1))
    wanted = pillow_view(bare)

    def refuse(*_args: object, **_options: object) -> None:
        raise OSError("opened")

    monkeypatch.setattr(Image, "open", refuse)
    prepared = prepare_image(bare)
    assert (prepared.data, prepared.stored_as, prepared.source_format) == (bare, "original", "JPEG")
    assert (prepared.height, prepared.width, prepared.orientation) == (HEIGHT, WIDTH, 1)
    np.testing.assert_array_equal(prepared.pixels, wanted)
    assert reason(tagged) == "unreadable JPEG: opened"
