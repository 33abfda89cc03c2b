"""One archive with every kind of mischief in it: each named by its limit, the rest unharmed."""

from __future__ import annotations

import ast
import csv
import io
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow_datasets as tfds
from PIL import Image

import kfood_tfds
from kfood_tfds import postprocessing as pp
from kfood_tfds.raw.archive import find_archive
from kfood_tfds.raw.errors import ArchiveError

SCANS = 1_000_000
GIF_FRAMES = 100_000
SOF0 = b"\xff\xc0"
# The least scan there can be: one component, nothing coded.
EMPTY_SCAN = b"\xff\xda\0\x08\x01\x01\x00\x00\x3f\x00\x00"


def picture(number: int) -> Image.Image:
    """A small smooth picture; no two numbers look alike."""
    coarse = np.random.default_rng(number).integers(0, 256, (6, 8, 3), np.uint8)
    return Image.fromarray(coarse).resize((96, 72), Image.Resampling.BICUBIC)


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    """The image as a file."""
    data = io.BytesIO()
    image.save(data, kind, **options)
    return data.getvalue()


def png_chunk(kind: bytes, data: bytes) -> bytes:
    """A PNG chunk with its checksum."""
    return struct.pack(">L", len(data)) + kind + data + struct.pack(">L", zlib.crc32(kind + data))


def huge_claim() -> bytes:
    """A JPEG of 2 KB that claims 60,000 × 60,000 pixels."""
    data = saved(picture(1), "JPEG")
    at = data.index(SOF0) + 5
    return data[:at] + struct.pack(">HH", 60_000, 60_000) + data[at + 4 :]


def jpeg_of_a_million_scans() -> bytes:
    """A progressive JPEG that goes over the picture a million times."""
    data = saved(picture(2), "JPEG", progressive=True)
    return data[:-2] + EMPTY_SCAN * SCANS + data[-2:]


def png_of_huge_text() -> bytes:
    """A PNG with a caption of 200 MB, packed to 200 KB."""
    data = saved(picture(3), "PNG")
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(200)) + packer.flush()
    return data[:33] + png_chunk(b"zTXt", b"Comment\0\0" + packed) + data[33:]


def gif_of_many_frames(image: Image.Image) -> bytes:
    """An animation of 100,000 frames whose first one is the image."""
    data = saved(image, "GIF")
    dot = saved(Image.new("P", (1, 1)), "GIF")
    frame = dot[dot.index(b",", 13) : -1]
    return data[:-1] + frame * GIF_FRAMES + b";"


def tiff_that_loops(image: Image.Image) -> bytes:
    """A TIFF whose first page says that it is followed by itself."""
    data = bytearray(saved(image, "TIFF"))
    (start,) = struct.unpack_from("<L", data, 4)
    (count,) = struct.unpack_from("<H", data, start)
    struct.pack_into("<L", data, start + 2 + 12 * count, start)
    return bytes(data)


def deflated(chunks: Iterable[bytes]) -> bytes:
    """Raw deflated bytes, as zips hold them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b"".join(packer.compress(chunk) for chunk in chunks) + packer.flush()


@dataclass(frozen=True)
class Entry:
    """A member as the zip's directory is to claim it; what isn't claimed is true.

    Attributes:
        name: The path, encoded.
        data: The bytes that lie in the zip, packed if `method` is 8.
        method: 0 stored, 8 deflated.
        size: Claimed size when unpacked.
        crc: Claimed checksum.
        at: Claimed offset, in place of writing a member.
    """

    name: bytes
    data: bytes = b""
    method: int = 0
    size: int | None = None
    crc: int | None = None
    at: int | None = None


def write_zip(entries: Iterable[Entry]) -> bytes:
    """Writes a zip, its large numbers in ZIP64 fields (APPNOTE 4.5.3)."""
    body, directory, number = bytearray(), bytearray(), 0
    for entry in entries:
        number += 1
        size = len(entry.data) if entry.size is None else entry.size
        crc = zlib.crc32(entry.data) if entry.crc is None else entry.crc
        offset = len(body) if entry.at is None else entry.at
        extra = struct.pack("<2HQ", 1, 8, size) if size >= 0xFFFFFFFF else b""
        sizes = (crc, len(entry.data), min(size, 0xFFFFFFFF), len(entry.name))
        if entry.at is None:
            local = struct.pack("<4s5H3L2H", b"PK\3\4", 45, 0, entry.method, 0, 0, *sizes, 0)
            body += local + entry.name + entry.data
        central = (45, 45, 0, entry.method, 0, 0, *sizes, len(extra), 0, 0, 0, 0, offset)
        directory += struct.pack("<4s6H3L5H2L", b"PK\1\2", *central) + entry.name + extra
    end = (0, 0, number, number, len(directory), len(body), 0)
    return bytes(body + directory + struct.pack("<4s4H2LH", b"PK\5\6", *end))


def with_end64(data: bytes, count: int) -> bytes:
    """The zip again, its end in ZIP64 form, claiming so many members."""
    _, _, _, _, _, size, offset, _ = struct.unpack("<4s4H2LH", data[-22:])
    at = len(data) - 22
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, offset)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, at, 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, size, offset, 0)
    return data[:at] + end64 + locator + end


FOLDER = "만두/만두/"
FORMULA = "=cmd|' calc'!A1.jpg"
HTML = "<img src=x onerror=alert(1)>.jpg"
TEN_GIGABYTES = 10 * 2**30
TEN_KILOBYTES = deflated(bytes(1 << 20) for _ in range(10))

# Sets its own limits: the system ends it if it takes more time or memory than this.
LIMITED_BUILD = """
import resource, sys
import tensorflow as tf
import tensorflow_datasets as tfds
import kfood_tfds
tf.io.decode_jpeg(tf.io.encode_jpeg(tf.zeros((64, 64, 3), tf.uint8)))
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
memory = taken + 1_500_000_000
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
resource.setrlimit(resource.RLIMIT_CPU, (90, 90))
manual, data_dir = sys.argv[1:]
builder = kfood_tfds.Builder(config="full", data_dir=data_dir)
builder.download_and_prepare(
    download_config=tfds.download.DownloadConfig(manual_dir=manual))
"""


def _named(name: str) -> bytes:
    return (FOLDER + name).encode("cp949")


SOUND = {
    "Img_049_0000.jpg": saved(picture(10), "JPEG"),
    "Img_049_0001.jpg": saved(picture(11), "JPEG"),
    FORMULA: saved(picture(12), "JPEG"),
    HTML: saved(picture(13), "JPEG"),
    # Only the first frame, and the first page, is looked at.
    "frames.gif": gif_of_many_frames(picture(14)),
    "loop.tif": tiff_that_loops(picture(15)),
}
# name -> (entry, what its reason must hold).
HOSTILE: dict[str, tuple[Entry, str]] = {
    "bomb.jpg": (
        Entry(_named("bomb.jpg"), TEN_KILOBYTES, 8, size=TEN_GIGABYTES),
        r"zip bomb: 10,737,418,240 bytes claimed from .* 1100 to 1 \(MAX_RATIO\)",
    ),
    "unpacks.jpg": (
        Entry(_named("unpacks.jpg"), TEN_KILOBYTES, 8, size=1_000, crc=1),
        r"checksum \(CRC\)",
    ),
    "zeros.jpg": (
        Entry(_named("zeros.jpg"), TEN_KILOBYTES, 8, 10 << 20, zlib.crc32(bytes(10 << 20))),
        "only zero bytes",
    ),
    "big.jpg": (
        Entry(_named("big.jpg"), bytes(200_000), 8, size=200_000_000),
        "MAX_MEMBER_BYTES",
    ),
    "overlap.jpg": (
        Entry(_named("overlap.jpg"), SOUND["Img_049_0000.jpg"], at=0),
        "overlap|two names",
    ),
    "..": (Entry(_named("../../../../etc/passwd.jpg"), b"x"), r"'\.\.'"),
    "nul": (Entry(_named("nul\0.jpg"), b"x"), "NUL"),
    "long": (Entry(_named("가" * 32_000), b"x"), r"64,0\d\d bytes.*MAX_NAME_BYTES"),
    "huge.jpg": (Entry(_named("huge.jpg"), huge_claim()), "60000x60000.*MAX_PIXELS"),
    "scans.jpg": (
        Entry(_named("scans.jpg"), jpeg_of_a_million_scans()),
        "MAX_JPEG_S(CAN|EGMENT)S",
    ),
    "text.png": (Entry(_named("text.png"), png_of_huge_text()), "MAX_TEXT_CHUNK"),
    "deeper.zip": (
        Entry(_named("deeper.zip"), write_zip([Entry(_named("a.jpg"), b"x")])),
        "not an image: a ZIP archive",
    ),
}


@pytest.fixture(name="built", scope="module")
def _built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("hostile")
    sound = [Entry(_named(name), data) for name, data in SOUND.items()]
    inner = write_zip([*sound, *(entry for entry, _ in HOSTILE.values())])
    other = write_zip([Entry("/구이/갈비구이/a.jpg".encode(), saved(picture(16), "JPEG"))])
    (root / "manual").mkdir()
    (root / "manual" / "kfood.zip").write_bytes(
        write_zip([Entry("만두.zip".encode(), inner), Entry("구이.zip".encode(), other)])
    )
    done = subprocess.run(
        [sys.executable, "-c", LIMITED_BUILD, str(root / "manual"), str(root / "data")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-4000:])
    folder = root / "data" / "kfood" / "full" / "1.0.0"
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {"root": root, "folder": folder, "rows": rows}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits memory as Linux does")
@pytest.mark.parametrize("name", HOSTILE)
def test_mischief_is_rejected_with_the_limit_in_its_reason(
    built: dict[str, Any], name: str
) -> None:
    expected = HOSTILE[name][1]
    rejected = [row for row in built["rows"] if row["verdict"] == "rejected"]
    assert len(rejected) == len(HOSTILE)
    assert [row["id"] for row in rejected if re.search(expected, row["reason"])]
    assert max(len(row["id"]) for row in rejected) < 300
    assert max(len(row["reason"]) for row in rejected) < 600


@pytest.mark.slow
def test_the_rest_of_the_archive_is_unharmed(built: dict[str, Any]) -> None:
    builder = kfood_tfds.Builder(config="full", data_dir=built["root"] / "data")
    found = {
        example["id"].decode(): example["image"]
        for example in tfds.as_numpy(builder.as_dataset(split="all", decoders=pp.SKIP_DECODING))
    }
    ids = {FOLDER + name for name in SOUND if name != HTML} | {"구이/갈비구이/a.jpg"}
    assert ids <= set(found) and len(found) == len(SOUND) + 1
    for name, data in SOUND.items():
        if name.endswith(".jpg"):
            assert data in found.values()


@pytest.mark.slow
def test_formulas_and_markup_in_names_stay_text(built: dict[str, Any]) -> None:
    with (built["folder"] / "manifest.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    page = (built["folder"] / "report.html").read_text("utf-8")
    assert "<img src=x" not in page


@pytest.mark.slow
def test_nothing_is_written_beside_the_data_folder(built: dict[str, Any]) -> None:
    assert {path.name for path in built["root"].iterdir()} == {"manual", "data"}
    assert not list(built["root"].rglob("passwd*"))


def test_ten_million_members_are_refused_by_their_number(tmp_path: Path) -> None:
    data = write_zip([Entry(_named("a.jpg"), b"x")])
    (tmp_path / "만두.zip").write_bytes(with_end64(data, 10_000_000))
    with pytest.raises(ArchiveError, match=r"10,000,000 members.*MAX_MEMBERS"):
        find_archive(tmp_path)


def test_members_beyond_the_number_claimed_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kfood_tfds.raw.zip_directory.MAX_MEMBERS", 50)
    data = write_zip([Entry(_named(f"{n}.jpg"), b"x") for n in range(51)])
    (tmp_path / "만두.zip").write_bytes(with_end64(data, 3))
    with pytest.raises(ArchiveError, match=r"more than 50 members \(MAX_MEMBERS\)"):
        find_archive(tmp_path)


def test_a_zip_that_holds_itself_a_thousand_times_over(tmp_path: Path) -> None:
    # Every entry points at the one member there is: only that one is read.
    kernel = Entry(_named("0.jpg"), saved(picture(1), "JPEG"))
    copies = [Entry(_named(f"{n}.jpg"), kernel.data, at=0) for n in range(1, 1_000)]
    (tmp_path / "만두.zip").write_bytes(write_zip([kernel, *copies]))
    archive = find_archive(tmp_path)
    results = [content for _, content in archive.iterate(archive.members())]
    assert len(results) == 1_000
    assert sum(isinstance(content, bytes) for content in results) <= 1


# Functions that run what they read.
RUNS_DATA = {"eval", "exec", "compile", "__import__"}
# `beam/work.py` hands its own objects from step to step of one build in a folder of its own.
PICKLES = {"work"}
RUNNING_MODULES = {"pickle", "marshal", "shelve", "dill", "yaml", "joblib", "runpy", "code"}


@pytest.mark.parametrize(
    "module",
    sorted((Path(__file__).parents[2] / "kfood_tfds").rglob("*.py")),
    ids=lambda module: module.stem,
)
def test_nothing_is_unpickled_or_evaluated(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                assert node.func.id not in RUNS_DATA, node.lineno
            for keyword in node.keywords:
                if keyword.arg == "allow_pickle":
                    assert ast.unparse(keyword.value) == "False", node.lineno
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        found = RUNNING_MODULES & {name.partition(".")[0] for name in names}
        assert not found or (found == {"pickle"} and module.stem in PICKLES)
