"""Whatever bytes a parser gets, it gives a result or an error of the package."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kfood_tfds import postprocessing as pp
from kfood_tfds.configuration import with_defaults
from kfood_tfds.raw.archive import find_archive
from kfood_tfds.raw.classes import load_class_table, parse_class_table
from kfood_tfds.raw.crop_area import parse_crop_area
from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.image_headers import check_structure, sniff
from kfood_tfds.raw.image_limits import check_tags
from kfood_tfds.raw.jpeg_header import ends_well, read_jpeg_header
from kfood_tfds.raw.manifest import COLUMNS, read_manifest
from kfood_tfds.raw.zip_directory import read_directory, read_entry

# What makes a parser go on: the beginnings of formats, and numbers at their limits.
_MARKS = (
    b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7", b"\xff\xd8", b"\xff\xc0", b"\xff\xda",
    b"\xff\xe1", b"Exif\0\0", b"II*\0", b"MM\0*", b"II+\0", b"\x89PNG\r\n\x1a\n", b"IHDR", b"IDAT",
    b"GIF89a", b"!\xfe", b"BM", b"RIFF", b"WEBP", b"P3 ", b"\0\0\0\x18ftyp", b"\xff" * 4, bytes(8),
    b"\0\1", b",", b"=", b"\r\n", b'"', "만두".encode(), "만두".encode("cp949"),
    ",".join(COLUMNS).encode() + b"\n", b"label,name,category\n", b"0,a,b\n",
)  # fmt: skip
_BYTES = st.lists(st.sampled_from(_MARKS) | st.binary(max_size=30), max_size=20).map(b"".join)


class _Bytes:
    """A reader of bytes in memory."""

    def __init__(self, data: bytes) -> None:
        self.data, self.size = data, len(data)

    def read_at(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length] if offset >= 0 and length > 0 else b""

    def close(self) -> None:
        pass


def _zip(data: bytes) -> None:
    reader = _Bytes(data)
    for entry in read_directory(reader, "a.zip").entries:
        with contextlib.suppress(KfoodError):
            assert len(read_entry(reader, entry, "a.zip › a")) == entry.size


def _jpeg(data: bytes) -> None:
    header = read_jpeg_header(b"\xff\xd8" + data)
    if header is not None:
        ends_well(b"\xff\xd8" + data, header)


def _image(data: bytes) -> None:
    check_structure(data, sniff(data))


def _tags(data: bytes) -> None:
    check_tags(data, 1_000_000)


def _crops(data: bytes) -> None:
    parse_crop_area(data)


def _classes(data: bytes) -> None:
    parse_class_table(data)


def _in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], None]:
    def parse(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(data)
            read(path)

    return parse


def _archive(path: Path) -> None:
    for _ in (archive := find_archive(path)).iterate(archive.members()):
        pass


PARSERS: dict[str, Callable[[bytes], None]] = {
    "zip directory": _zip,
    "JPEG header": _jpeg,
    "image headers": _image,
    "EXIF and TIFF tags": _tags,
    "crop_area.properties": _crops,
    "class table": _classes,
    "manifest": _in_file("m.csv", lambda path: read_manifest(path, load_class_table())),
    "zip": _in_file("kfood.zip", _archive),
    "tar": _in_file("kfood.tar", _archive),
    "part file": _in_file("kfood.zip.part0", _archive),
}


@pytest.mark.parametrize("name", PARSERS)
@given(data=_BYTES)
@settings(deadline=None)
def test_any_bytes_give_a_result_or_an_error_of_the_package(name: str, data: bytes) -> None:
    with contextlib.suppress(KfoodError):
        PARSERS[name](data)


def _sound_zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        target.writestr("만두/만두/a.jpg", b"a" * 500, zipfile.ZIP_DEFLATED)
        target.writestr("만두/만두/b.jpg", b"b" * 50)
    return stream.getvalue()


@given(st.lists(st.tuples(st.integers(0, 400), _BYTES), min_size=1, max_size=3))
@settings(deadline=None)
def test_a_zip_with_other_bytes_in_it_never_gives_a_wrong_member(
    changes: list[tuple[int, bytes]],
) -> None:
    data = bytearray(_sound_zip())
    for at, piece in changes:
        data[at : at + len(piece)] = piece
    reader = _Bytes(bytes(data))
    with contextlib.suppress(KfoodError):
        for entry in read_directory(reader, "a.zip").entries:
            with contextlib.suppress(KfoodError):
                assert read_entry(reader, entry, "a.zip › a") in (b"a" * 500, b"b" * 50, b"")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["version", "ops", "op", "dataset", "config", "__class__"])
            | st.text(max_size=8),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_JSON)
@example({"version": 1, "ops": [{"op": "__import__", "name": "os"}]})
@example({"version": 1, "ops": [{"op": []}]})
@settings(deadline=None)
def test_any_json_is_a_pipeline_or_a_value_error(value: object) -> None:
    with contextlib.suppress(ValueError):
        pp.Pipeline.from_json(json.dumps(value))


@given(st.dictionaries(st.text(max_size=8), _JSON, max_size=4))
@settings(deadline=None)
def test_any_json_is_an_experiment_or_an_error_of_the_package(value: dict[str, object]) -> None:
    with contextlib.suppress(KfoodError):
        with_defaults(value)
