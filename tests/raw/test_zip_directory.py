"""Zips that are cut off, garbled, encrypted, lying or odd, and names that mean mischief."""

from __future__ import annotations

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from archives import (
    CONTENT,
    GIVEN,
    RawName,
    category_zips,
    kfood_zip,
    patched,
    read_all,
    write_files,
    zipped,
)

from kfood_tfds.raw.archive import Member, find_archive
from kfood_tfds.raw.errors import ArchiveError


def test_reads_members_that_zipfile_refuses_for_their_extra_field(tmp_path: Path) -> None:
    info = RawName("구이/갈비구이/a.jpg")
    info.extra = b"\x01\x00\x08\x00"  # A ZIP64 field that says eight bytes and has none.
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        target.writestr(info, b"sound")
    with pytest.raises(zipfile.BadZipFile, match="[Cc]orrupt"):
        zipfile.ZipFile(io.BytesIO(stream.getvalue()))
    archive = find_archive(write_files(tmp_path, {"구이.zip": stream.getvalue()}))
    assert read_all(archive) == {"구이/갈비구이/a.jpg": b"sound"}


@pytest.mark.parametrize("comment", [b"", b"by AI Hub"])
def test_reads_zips_with_both_kinds_of_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comment: bytes
) -> None:
    # Python's zipfile writes them so from 2 to 4 GB: the short end alone would do, but isn't alone.
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 20)
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w") as target:
        for number in range(3):
            target.writestr(f"구이/갈비구이/{number}.jpg", bytes([number]) * 50)
    with zipfile.ZipFile(outer, "w") as target:
        target.writestr("구이.zip", inner.getvalue())
        target.comment = comment
    data = outer.getvalue()
    end = data.rindex(b"PK\5\6")
    assert data[end - 20 : end - 16] == b"PK\6\7"
    assert int.from_bytes(data[end + 16 : end + 20], "little") == data.rindex(b"PK\1\2")
    archive = find_archive(write_files(tmp_path, {"kfood.zip": data}))
    assert read_all(archive) == {
        f"구이/갈비구이/{number}.jpg": bytes([number]) * 50 for number in range(3)
    }


def test_reads_zip64(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        with target.open("구이/갈비구이/a.jpg", "w", force_zip64=True) as file:
            file.write(b"sound")
        target.comment = b"made by hand"
    archive = find_archive(write_files(tmp_path, {"구이.zip": b"put before" + stream.getvalue()}))
    assert read_all(archive) == {"구이/갈비구이/a.jpg": b"sound"}


def wrapped_zip(path: Path, members: dict[str, tuple[int, bytes]]) -> None:
    """Writes (place, content) of each name as Finder does: no ZIP64, 32 bits of every place."""
    entries = []
    with path.open("wb") as file:
        for name, (place, content) in members.items():
            raw, packer = name.encode(), zlib.compressobj(wbits=-15)
            packed = packer.compress(content) + packer.flush()
            sums = struct.pack("<3L", zlib.crc32(content), len(packed), len(content))
            # Bit 3: the sums come after the bytes.
            local = struct.pack("<5H3L2H", 20, 0x808, 8, 0, 0, 0, 0, 0, len(raw), 0)
            file.seek(place)
            file.write(b"PK\3\4" + local + raw + packed + b"PK\7\x08" + sums)
            head = struct.pack("<6H", 20, 20, 0x808, 8, 0, 0) + sums
            rest = struct.pack("<5H2L", len(raw), 0, 0, 0, 0, 0, place % 2**32)
            entries.append(b"PK\1\2" + head + rest + raw)
        begin, directory = file.seek(0, io.SEEK_END), b"".join(entries)
        file.write(directory)
        numbers = (0, 0, len(entries), len(entries), len(directory), begin % 2**32, 0)
        file.write(b"PK\5\6" + struct.pack("<4H2LH", *numbers))


@pytest.mark.parametrize(
    "places",
    [
        (0, 1_000, 2**32 + 5),
        (0, 2**32, 2**33 - 10),
        (0, 2**32 - 300, 2**32 + 2_000),
        (0, 3 * 2**30, 6 * 2**30),
        # Not in the directory's order, and with more than 4 GB in between.
        (0, 2**33, 2**32 - 300),
        (0, 100_000, 2**33 + 200_000),
    ],
)
def test_reads_zips_over_4_gb_without_zip64(tmp_path: Path, places: tuple[int, ...]) -> None:
    given = {f"구이/갈비구이/{n}.jpg": (at, b"%d" % n * 500) for n, at in enumerate(places)}
    wrapped_zip(tmp_path / "구이.zip", given)
    assert (tmp_path / "구이.zip").stat().st_size > 2**32
    expected = {name: content for name, (_, content) in given.items()}
    assert read_all(find_archive(tmp_path)) == expected


@pytest.mark.parametrize("wrong", [5 * 10**8, 0, 2**32 + 1_500, 2**33 - 1])
def test_a_wrong_place_in_a_zip_over_4_gb_harms_its_own_member_only(
    tmp_path: Path, wrong: int
) -> None:
    places = (0, 1_000, 2_000, 2**32 + 500, 2**32 + 5_000)
    given = {f"구이/갈비구이/{n}.jpg": (at, b"%d" % n * 500) for n, at in enumerate(places)}
    path = tmp_path / "구이.zip"
    wrapped_zip(path, given)
    with path.open("r+b") as file:
        file.seek(2**32 + 5_000)
        tail = file.read()
        entry = tail.index(b"PK\1\2", tail.index(b"PK\1\2") + 1)
        file.seek(2**32 + 5_000 + entry + 42)
        file.write((wrong % 2**32).to_bytes(4, "little"))
    read = read_all(find_archive(tmp_path))
    with pytest.raises(ArchiveError, match="1.jpg"):
        raise read.pop("구이/갈비구이/1.jpg")  # type: ignore[misc]
    assert list(read.values()) == [b"%d" % n * 500 for n in (0, 2, 3, 4)]


def test_an_end_of_64_bits_is_taken_at_its_word(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        target.writestr("구이/갈비구이/a.jpg", b"sound")
    data = stream.getvalue()
    start, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    size = end - start
    # Four gigabytes are there twice, so that nothing is where the directory says.
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, size, start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    with (tmp_path / "구이.zip").open("wb") as file:
        file.write(data[:start])
        file.seek(2**32 + start)
        file.write(data[start:end] + end64 + locator + data[end:])
    with pytest.raises(ArchiveError, match="cut off"):
        find_archive(tmp_path)


def test_refuses_an_archive_that_is_encrypted_as_a_whole(tmp_path: Path) -> None:
    data = bytearray(zipped({"구이/갈비구이/a.jpg": b"a"}))
    data[6] |= 1
    data[data.rindex(b"PK\1\2") + 8] |= 1
    with pytest.raises(ArchiveError, match="encrypted.*password"):
        find_archive(write_files(tmp_path, {"구이.zip": bytes(data)}))


def test_reports_an_unsupported_compression_for_its_member(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        target.writestr("구이/갈비구이/a.jpg", b"a" * 100, zipfile.ZIP_LZMA)
        target.writestr("구이/갈비구이/b.jpg", b"b")
    read = read_all(find_archive(write_files(tmp_path, {"구이.zip": stream.getvalue()})))
    assert "LZMA" in str(read["구이/갈비구이/a.jpg"])
    assert read["구이/갈비구이/b.jpg"] == b"b"


@pytest.mark.parametrize("deflated", [False, True])
def test_a_damaged_member_leaves_the_rest_unharmed(tmp_path: Path, deflated: bool) -> None:
    members = {f"구이/갈비구이/{i}.jpg": random.Random(i).randbytes(500) for i in range(5)}
    data = bytearray(zipped(members, deflated=deflated))
    at = data.index(b"2.jpg") + 300
    data[at] ^= 0xFF
    read = read_all(find_archive(write_files(tmp_path, {"구이.zip": bytes(data)})))
    error = read.pop("구이/갈비구이/2.jpg")
    assert isinstance(error, ArchiveError)
    assert "damaged" in str(error)
    assert "구이.zip › 구이/갈비구이/2.jpg" in str(error)
    del members["구이/갈비구이/2.jpg"]
    assert read == members


def test_a_damaged_category_zip_leaves_the_others_unharmed(tmp_path: Path) -> None:
    inner = category_zips()
    inner["구이.zip"] = inner["구이.zip"][:-10]
    archive = find_archive(write_files(tmp_path, {"kfood.zip": zipped(inner)}))
    read = read_all(archive)
    assert isinstance(read.pop("구이.zip"), ArchiveError)
    assert read == {p: d for p, d in CONTENT.items() if not p.startswith("구이/")}
    (problem,) = archive.problems
    assert "구이.zip is cut off" in str(problem)


def test_a_damaged_deflated_category_zip_leaves_the_others_unharmed(tmp_path: Path) -> None:
    data = bytearray(zipped(category_zips(), deflated=True))
    at = data.index("만두.zip".encode("cp949")) + 40
    data[at : at + 8] = bytes(8)
    archive = find_archive(write_files(tmp_path, {"kfood.zip": bytes(data)}))
    read = read_all(archive)
    assert isinstance(read.pop("만두.zip"), ArchiveError)
    assert read == {p: d for p, d in CONTENT.items() if not p.startswith("만두/")}
    assert len(archive.problems) == 1


def _truncations() -> Iterator[int]:
    yield from random.Random(7).sample(range(len(kfood_zip())), 100)


@pytest.mark.parametrize("length", _truncations())
def test_a_zip_cut_off_anywhere_is_a_clear_error(tmp_path: Path, length: int) -> None:
    with pytest.raises(ArchiveError, match=r"kfood\.zip"):
        find_archive(write_files(tmp_path, {"kfood.zip": kfood_zip()[:length]}))


def test_garbled_bytes_never_give_a_wrong_member(tmp_path: Path) -> None:
    sound = kfood_zip()
    dice = random.Random(3)
    for _ in range(150):
        data = bytearray(sound)
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        (tmp_path / "kfood.zip").write_bytes(data)
        try:
            contents = list(read_all(find_archive(tmp_path)).values())
        except ArchiveError:
            continue
        assert all(isinstance(c, ArchiveError) or c in CONTENT.values() for c in contents)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (24, (0xFFFFFFF0).to_bytes(4, "little"), "MAX_RATIO"),  # Unpacked size.
        (20, (0xFFFFFFF0).to_bytes(4, "little"), "overlap"),  # Packed size.
        (42, (200).to_bytes(4, "little"), "no member begins|overlap"),  # Offset.
        (16, b"\0\0\0\0", "checksum"),
    ],
)
def test_a_lying_directory_harms_its_own_member_only(
    tmp_path: Path, field: int, value: bytes, words: str
) -> None:
    data = patched(zipped(GIVEN, deflated=True), "구이/갈비구이/a.jpg", field, value)
    read = read_all(find_archive(write_files(tmp_path, {"구이.zip": data})))
    assert read["구이/갈비구이/b.jpg"] == b"b" * 10_000
    with pytest.raises(ArchiveError, match=words):
        raise read["구이/갈비구이/a.jpg"]  # type: ignore[misc]


def test_a_member_never_unpacks_to_more_than_it_says(tmp_path: Path) -> None:
    size = (50).to_bytes(4, "little")
    data = patched(zipped(GIVEN, deflated=True), "구이/갈비구이/a.jpg", 24, size)
    read = read_all(find_archive(write_files(tmp_path, {"구이.zip": data})))
    assert isinstance(read["구이/갈비구이/a.jpg"], ArchiveError)


def test_refuses_members_beyond_the_limit(tmp_path: Path) -> None:
    info = RawName("구이/갈비구이/a.jpg")
    info.compress_type = zipfile.ZIP_DEFLATED
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target, target.open(info, "w") as file:
        for _ in range(129):
            file.write(bytes(1 << 20))
    read = read_all(find_archive(write_files(tmp_path, {"구이.zip": stream.getvalue()})))
    assert "MAX_MEMBER_BYTES" in str(read["구이/갈비구이/a.jpg"])


def test_refuses_more_members_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kfood_tfds.raw.zip_directory.MAX_MEMBERS", 3)
    with pytest.raises(ArchiveError, match="MAX_MEMBERS"):
        find_archive(write_files(tmp_path, {"구이.zip": zipped(CONTENT)})).members()


def test_looks_no_deeper_than_two_levels_of_zips(tmp_path: Path) -> None:
    deep = zipped({"구이/갈비구이/deeper.zip": zipped(CONTENT), "구이/갈비구이/a.jpg": b"a"})
    archive = find_archive(write_files(tmp_path, {"kfood.zip": zipped({"구이.zip": deep})}))
    assert sorted(m.filename for m in archive.members()) == ["a.jpg", "deeper.zip"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("구이/갈비구이/../../../etc/passwd", r"\.\."),
        ("구이/갈비구이/" + "x" * 60_000 + ".jpg", "MAX_NAME_BYTES"),
        ("구이/갈비구이/a\0.jpg", "NUL"),
    ],
)
def test_reports_names_that_mean_mischief(tmp_path: Path, name: str, words: str) -> None:
    stand_in = name.replace("\0", "\1")
    data = zipped({stand_in: b"x", "구이/갈비구이/b.jpg": b"b"}).replace(b"\1.jpg", b"\0.jpg")
    archive = find_archive(write_files(tmp_path, {"구이.zip": data}))
    results = {m.filename: content for m, content in archive.iterate(archive.members())}
    assert results.pop("b.jpg") == b"b"
    ((filename, error),) = results.items()
    assert len(filename) <= 255 and "\0" not in filename
    with pytest.raises(ArchiveError, match=words):
        raise error  # type: ignore[misc]


def test_members_are_ordered_by_their_place_in_the_zip(tmp_path: Path) -> None:
    names = ["구이/갈비구이/c.jpg", "구이/갈비구이/a.jpg", "구이/갈비구이/b.jpg"]
    archive = find_archive(write_files(tmp_path, {"구이.zip": zipped(dict.fromkeys(names, b"x"))}))
    members: tuple[Member, ...] = archive.members()
    assert [member.filename for member in members] == ["c.jpg", "a.jpg", "b.jpg"]


def test_a_member_that_claims_anothers_place_harms_itself_alone(tmp_path: Path) -> None:
    # The directory says that b lies where a does, then that it lies inside of a.
    for offset in (0, 400):
        data = zipped(GIVEN)
        lying = patched(data, "구이/갈비구이/b.jpg", 42, offset.to_bytes(4, "little"))
        read = read_all(find_archive(write_files(tmp_path / str(offset), {"구이.zip": lying})))
        assert read["구이/갈비구이/a.jpg"] == b"a" * 10_000
        with pytest.raises(ArchiveError, match="overlap another member"):
            raise read["구이/갈비구이/b.jpg"]  # type: ignore[misc]
