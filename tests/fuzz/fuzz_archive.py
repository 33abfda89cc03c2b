"""Seeded mutations of archives: `python tests/fuzz/fuzz_archive.py --seconds 60`.

Every mutant must be refused by an error of the package, or give members that are either sound,
byte for byte, or an error each; and no mutant may take long. Findings are written to a folder; the
exit code is their number, at most 100. The same seed and count of runs give the same mutants.
"""

from __future__ import annotations

import io
import random
import struct
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from campaign import Mutant, main

from kfood_tfds.raw.archive import find_archive
from kfood_tfds.raw.errors import KfoodError

SLOW_SECONDS = 5.0
MAX_MUTATIONS = 6
NUMBERS = (0, 1, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF)
SIGNATURES = (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7", b"PK\7\x08")
CONTENT = {
    "만두/만두/Img_049_0000.jpg": b"mandu" * 90,
    "만두/만두/Img_049_0001.jpg": bytes(range(256)) * 2,
    "만두/만두/crop_area.properties": b"Img_049_0000=1,2,3,4\r\n",
    "구이/갈비구이/Img_000_0000.jpg": b"galbi",
}


def zipped(content: dict[str, bytes], kind: int = zipfile.ZIP_STORED, zip64: bool = False) -> bytes:
    """A zip of the files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", kind) as target:
        for name, data in content.items():
            with target.open(name, "w", force_zip64=zip64) as file:
                file.write(data)
    return stream.getvalue()


def categories(kind: int = zipfile.ZIP_STORED) -> dict[str, bytes]:
    """A zip for each category."""
    names = sorted({path.split("/")[0] for path in CONTENT})
    return {
        f"{name}.zip": zipped({p: d for p, d in CONTENT.items() if p.startswith(name)}, kind)
        for name in names
    }


def tarred(files: dict[str, bytes]) -> bytes:
    """A tar of the files."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as target:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            target.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def corpus() -> list[dict[str, bytes]]:
    """Archives of every layout that is a file, as file name → bytes."""
    whole = zipped(categories())
    third = -(-len(whole) // 3)
    parts = {f"kfood.zip.part{n}": whole[n * third : (n + 1) * third] for n in range(3)}
    return [
        {"kfood.zip": whole},
        {"kfood.zip": zipped(categories(zipfile.ZIP_DEFLATED))},
        {"kfood.zip": zipped(categories(), zipfile.ZIP_DEFLATED)},
        {"구이.zip": zipped(CONTENT, zipfile.ZIP_DEFLATED)},
        {"구이.zip": zipped(CONTENT, zip64=True)},
        {"download.tar": tarred({"kfood.zip": whole})},
        {"download.tar": tarred({f"한국 이미지/{name}": data for name, data in parts.items()})},
        parts,
    ]


def mutate(data: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """Gives `data` with a few random faults, every second one near a structure of the zip."""
    result = bytearray(data)
    for _ in range(draw.randint(1, MAX_MUTATIONS)):
        at = _place(result, draw)
        length = draw.choice((1, 1, 2, 4, 22, 100))
        kind = draw.randrange(7)
        if kind == 0 and result:
            result[at] ^= 1 << draw.randrange(8)
        elif kind == 1 and result:
            result[at] = draw.randrange(256)
        elif kind == 2:
            del result[at : at + length]
        elif kind == 3:
            result[at:at] = result[at : at + length] * draw.choice((1, 2, 50))
        elif kind == 4:
            form = draw.choice(("<H", "<L", "<Q"))
            number = draw.choice(NUMBERS) & (0xFFFF if form == "<H" else 0xFFFFFFFF)
            packed = struct.pack(form, number)
            result[at : at + len(packed)] = packed
        elif kind == 5:
            other = draw.choice(others)
            start = draw.randrange(len(other))
            result[at : at + length] = other[start : start + length]
        elif draw.random() < 0.2:
            del result[at:]
    return bytes(result)


def _place(data: bytearray, draw: random.Random) -> int:
    if not data:
        return 0
    found = [at for mark in SIGNATURES if (at := data.find(mark, draw.randrange(len(data)))) >= 0]
    if found and draw.random() < 0.5:
        return min(len(data) - 1, draw.choice(found) + draw.randrange(46))
    return draw.randrange(len(data))


def fault_of(files: dict[str, bytes]) -> str:
    """Says what is wrong about the package's view of an archive; empty if nothing is."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        folder = Path(name)
        for filename, data in files.items():
            (folder / filename).write_bytes(data)
        try:
            with find_archive(folder) as archive:
                members = archive.members()
                archive.fingerprint()
                found = list(archive.iterate(members))
        except KfoodError as error:
            found = []
            if not str(error) or len(str(error)) > 3_000:
                return f"bad message: {str(error)[:300]!r}"
    if time.monotonic() - start > SLOW_SECONDS:
        return f"slow: {time.monotonic() - start:.1f} s"
    sound = [*CONTENT.values(), *categories().values(), *categories(8).values()]
    for member, content in found:
        if isinstance(content, bytes) and content not in sound:
            return f"wrong bytes: {member.path!r} has {len(content)}: {content[:80]!r}"
        if isinstance(content, KfoodError) and not str(content):
            return f"no message: {member.path!r}"
    return ""


def maker() -> Callable[[random.Random], Mutant]:
    """Returns what makes a mutant of one of the archives."""
    archives = corpus()
    others = [data for files in archives for data in files.values()]

    def make(draw: random.Random) -> Mutant:
        files = dict(draw.choice(archives))
        victim = draw.choice(sorted(files))
        files[victim] = mutate(files[victim], others, draw)
        return Mutant(files[victim], lambda: fault_of(files), victim)

    return make


if __name__ == "__main__":
    main(__doc__, maker())
