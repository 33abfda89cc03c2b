"""The limits of image files: kept at the bound, refused just above it, with both numbers named."""

from __future__ import annotations

import pickle
import struct

import pytest

from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.image_limits import (
    MAX_EXIF_HEADS,
    MAX_PIXELS,
    MAX_TIFF_STRIPS,
    ImageRejected,
    check_size,
    check_tags,
)

NO_LIMIT = 10**12
RATIONAL, UNDEFINED = 5, 7
# TIFF 6.0, page 15; 13 from its supplement, 16 to 18 from BigTIFF; a type that nobody knows.
TYPE_BYTES = [(1, 1), (2, 1), (3, 2), (4, 4), (5, 8), (6, 1), (7, 1), (8, 2), (9, 4), (10, 8),
              (11, 4), (12, 8), (13, 4), (16, 8), (17, 8), (18, 8), (99, 1)]  # fmt: skip


def block(
    *entries: tuple[int, int, int], order: str = "<", claimed: int | None = None, tail: int = 64
) -> bytes:
    """A TIFF whose first directory has these tags, types and counts, and claims so many."""
    number = len(entries) if claimed is None else claimed
    tags = b"".join(struct.pack(f"{order}HHLL", *entry, 8) for entry in entries)
    mark = b"II" if order == "<" else b"MM"
    return mark + struct.pack(f"{order}HLH", 42, 8, number) + tags + bytes(tail)


def big_block(
    *entries: tuple[int, int, int], order: str = "<", claimed: int | None = None
) -> bytes:
    """The same as a BigTIFF."""
    number = len(entries) if claimed is None else claimed
    tags = b"".join(struct.pack(f"{order}HHQQ", *entry, 16) for entry in entries)
    mark = b"II" if order == "<" else b"MM"
    return mark + struct.pack(f"{order}HHHQQ", 43, 8, 0, 16, number) + tags + bytes(64)


def reason_of(data: bytes, limit: int) -> str:
    with pytest.raises(ImageRejected) as caught:
        check_tags(data, limit)
    return caught.value.reason


def assert_claims(data: bytes, number: int) -> None:
    """Checks that the tags claim so many bytes."""
    check_tags(data, number)
    assert reason_of(data, number - 1) == (
        f"hostile tags: they claim {number} bytes, the limit is {number - 1} (MAX_EXIF_BYTES)"
    )


@pytest.mark.parametrize("size", [(1, 1), (10_000, 5_000), (MAX_PIXELS, 1), (1, MAX_PIXELS - 1)])
def test_images_up_to_the_limit_pass(size: tuple[int, int]) -> None:
    assert size[0] * size[1] <= 50_000_000
    check_size(*size)


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ((10_000, 5_001), "too large: 10000x5001 pixels, the limit MAX_PIXELS is 50000000"),
        ((1, 50_000_001), "too large: 1x50000001 pixels, the limit MAX_PIXELS is 50000000"),
        ((0, 5), "no pixels: the header claims 0x5"),
        ((5, 0), "no pixels: the header claims 5x0"),
        ((-7, -8), "no pixels: the header claims -7x-8"),
    ],
)
def test_images_of_too_many_pixels_or_none_are_refused(size: tuple[int, int], reason: str) -> None:
    with pytest.raises(ImageRejected) as caught:
        check_size(*size)
    assert caught.value.reason == reason


@pytest.mark.parametrize(("kind", "size"), TYPE_BYTES)
def test_each_type_has_its_size(kind: int, size: int) -> None:
    assert_claims(block((40_000, kind, 3)), 3 * size)
    assert_claims(block((40_000, kind, 3), (40_001, UNDEFINED, 5)), 3 * size + 5)


@pytest.mark.parametrize("order", ["<", ">"])
def test_both_byte_orders_and_large_files_are_read(order: str) -> None:
    assert_claims(block((40_000, RATIONAL, 3), order=order), 24)
    assert_claims(big_block((40_000, RATIONAL, 3), order=order), 24)


def test_a_tag_claims_no_more_than_there_is() -> None:
    data = block((40_000, UNDEFINED, 2**32 - 1), (40_001, RATIONAL, 2**32 - 1))
    assert_claims(data, 2 * len(data))
    large = big_block((40_000, RATIONAL, 2**64 - 1))
    assert_claims(large, len(large))


def test_a_directory_is_read_as_far_as_it_goes() -> None:
    tags = [(40_000, UNDEFINED, 3), (40_001, UNDEFINED, 4)]
    assert_claims(block(*tags, claimed=65_535, tail=0), 7)
    # No whole entry more, wherever it is cut.
    assert_claims(block(*tags, claimed=65_535, tail=11), 7)
    assert_claims(block(*tags, claimed=1), 3)
    assert_claims(big_block(tags[0], claimed=1), 3)
    # The bytes behind the tag are read as three entries of type 0 that claim nothing.
    assert_claims(big_block(tags[0], claimed=2**64 - 1), 3)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"II",
        b"no TIFF at all, though long enough",
        block(tail=0),
        block((40_000, UNDEFINED, 9))[:15],
        struct.pack("<2sHL", b"II", 42, 2**32 - 1) + bytes(64),
        struct.pack("<2sHHHQ", b"II", 43, 8, 0, 2**64 - 1) + bytes(64),
        struct.pack("<2sHL", b"II", 42, 15) + bytes(8),
        block(),
    ],
    ids=["empty", "mark", "text", "head", "cut", "beyond", "far beyond", "count cut", "no tags"],
)
def test_a_block_without_a_directory_claims_nothing(data: bytes) -> None:
    check_tags(data, 0)


def test_heads_are_taken_off_up_to_their_limit() -> None:
    head, data = b"Exif\0\0", block((40_000, RATIONAL, 3))
    assert MAX_EXIF_HEADS == 8
    for number in (1, 8):
        assert_claims(head * number + data, 24)
    refused = "hostile tags: 9 EXIF heads, the limit MAX_EXIF_HEADS is 8"
    assert reason_of(head * 9 + data, NO_LIMIT) == refused
    assert reason_of(head * 9, NO_LIMIT) == refused


@pytest.mark.parametrize("tag", [273, 279, 324, 325])
def test_strips_and_tiles_have_a_limit(tag: int) -> None:
    check_tags(block((tag, 4, MAX_TIFF_STRIPS)), NO_LIMIT)
    for data in (block((tag, 4, 70_001)), big_block((tag, 16, 70_001))):
        assert reason_of(data, NO_LIMIT) == (
            "hostile TIFF: 70001 strips, the limit MAX_TIFF_STRIPS is 70000"
        )


def test_other_tags_may_have_more_values_than_there_are_strips() -> None:
    check_tags(block((40_000, 4, 70_001)), NO_LIMIT)


def test_a_rejection_is_its_reason_in_any_process() -> None:
    error = pickle.loads(pickle.dumps(ImageRejected("truncated JPEG: no end")))
    assert isinstance(error, ImageRejected) and isinstance(error, KfoodError)
    assert str(error) == error.reason == error.in_language("ko") == "truncated JPEG: no end"
