"""Every layout, name and damage that an archive may have; the archives are made with `zipfile`."""

from __future__ import annotations

import io
import os
import pickle
import random
import tarfile
import threading
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from etils import epath

from kfood_tfds.raw import archive as archive_module
from kfood_tfds.raw.archive import Archive, Member, find_archive
from kfood_tfds.raw.errors import ArchiveError

# Distinct bytes, some long enough to be worth compressing.
CONTENT: Mapping[str, bytes] = {
    "구이/갈비구이/Img_000_0000.jpg": b"galbi-0" * 300,
    "구이/갈비구이/Img_000_0001.JPG": b"galbi-1" * 300,
    "구이/갈비구이/crop_area.properties": b"Img_000_0000=1,2,3,4\r\n",
    "구이/불고기/Img_007_0000.jpg": b"bulgogi-0" * 10,
    "만두/만두/Img_049_0004.png": b"mandu-4" * 700,
    "한과/약과/Img_149_0000.gif": b"yakgwa-0" * 20,
    "한과/한과/Img_148_0000.jpg": b"hangwa-0" * 50,
}
CATEGORIES = sorted({path.split("/")[0] for path in CONTENT})


class _RawName(zipfile.ZipInfo):
    """A member whose name is written as given, without the UTF-8 flag."""

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self.filename.encode("cp949"), self.flag_bits & ~0x800


def _zip(content: Mapping[str, bytes], names: str = "cp949", deflated: bool = False) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        for name, data in content.items():
            if names == "cp949":
                info: zipfile.ZipInfo = _RawName(name)
            else:
                info = zipfile.ZipInfo(unicodedata.normalize(names, name))
            info.compress_type = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
            target.writestr(info, data)
    return stream.getvalue()


def _category_zips(names: str = "cp949", deflated: bool = False) -> dict[str, bytes]:
    return {
        f"{category}.zip": _zip(
            {path: data for path, data in CONTENT.items() if path.startswith(f"{category}/")},
            names,
            deflated,
        )
        for category in CATEGORIES
    }


def _kfood_zip(names: str = "cp949", deflated: bool = False) -> bytes:
    return _zip(_category_zips(names), names, deflated)


def _write(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def _parts(data: bytes, count: int = 12) -> dict[str, bytes]:
    step = -(-len(data) // count)
    return {f"kfood.zip.part{i}": data[i * step : (i + 1) * step] for i in range(count)}


def _tar(path: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w") as target:
        for name, data in sorted(files.items()):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            target.addfile(info, io.BytesIO(data))
    return path


def _read(archive: Archive) -> dict[str, bytes | ArchiveError]:
    return {member.path: data for member, data in archive.iterate(archive.members())}


def _check(path: Path, layout: str) -> Archive:
    archive = find_archive(path)
    assert archive.layout == layout
    assert _read(archive) == CONTENT
    assert archive.problems == ()
    assert archive.units == tuple(sorted(archive.units))
    return archive


@pytest.mark.parametrize("names", ["cp949", "NFC", "NFD"])
def test_reads_stored_zips_in_a_zip(tmp_path: Path, names: str) -> None:
    _check(_write(tmp_path, {"kfood.zip": _kfood_zip(names)}), "zip")


def test_reads_deflated_zips_in_a_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "SPOOL_MEMORY", 1_000)  # Less than an inner zip.
    _check(_write(tmp_path, {"kfood.zip": _kfood_zip(deflated=True)}), "zip")


def test_only_deflated_zips_in_a_zip_cannot_be_read_in_parts(tmp_path: Path) -> None:
    for name, deflated in (("deflated", True), ("stored", False)):
        (tmp_path / name).mkdir()
        archive = find_archive(
            _write(tmp_path / name, {"kfood.zip": _kfood_zip(deflated=deflated)})
        )
        assert {archive.seekable(unit) for unit in archive.units} == {not deflated}


def test_reads_a_path_to_the_zip_itself(tmp_path: Path) -> None:
    _write(tmp_path, {"kfood.zip": _kfood_zip()})
    _check(tmp_path / "kfood.zip", "zip")


def test_reads_category_zips_in_a_subfolder_of_the_zip(tmp_path: Path) -> None:
    inner = {f"data/food/{name}": data for name, data in _category_zips().items()}
    _check(_write(tmp_path, {"kfood.zip": _zip(inner)}), "zip")


@pytest.mark.parametrize("top", ["", "kfood/", "a/b/"])
def test_reads_a_zip_of_folders(tmp_path: Path, top: str) -> None:
    content = {top + path: data for path, data in CONTENT.items()}
    archive = find_archive(_write(tmp_path, {"kfood.zip": _zip(content, "NFC", True)}))
    assert _read(archive) == CONTENT


def test_reads_part_files_inside_a_tar_in_numeric_order(tmp_path: Path) -> None:
    files = {f"다운로드/1.데이터/{n}": data for n, data in _parts(_kfood_zip()).items()}
    _tar(tmp_path / "download.tar", files)
    _check(tmp_path, "tar")
    _check(tmp_path / "download.tar", "tar")


def test_reads_loose_part_files_in_numeric_order(tmp_path: Path) -> None:
    _write(tmp_path, _parts(_kfood_zip()))
    _check(tmp_path, "parts")
    _check(tmp_path / "kfood.zip.part3", "parts")  # Any of them stands for all.


def test_reads_part_files_numbered_by_their_first_byte(tmp_path: Path) -> None:
    data, step = _kfood_zip(), 4_000
    parts = {f"kfood.zip.part{at}": data[at : at + step] for at in range(0, len(data), step)}
    _check(_write(tmp_path, parts), "parts")


def test_reads_one_part_file_that_is_the_whole_zip(tmp_path: Path) -> None:
    _check(_write(tmp_path, {"kfood.zip.part0": _kfood_zip()}), "parts")


@pytest.mark.parametrize("deflated", [False, True])
def test_reads_category_zips(tmp_path: Path, deflated: bool) -> None:
    _check(_write(tmp_path, _category_zips(deflated=deflated)), "category zips")


def test_reads_a_category_zip_without_its_own_folder(tmp_path: Path) -> None:
    _write(tmp_path, {"구이.zip": _zip({"갈비구이/a.jpg": b"a", "불고기/b.jpg": b"b"})})
    assert _read(find_archive(tmp_path)) == {"구이/갈비구이/a.jpg": b"a", "구이/불고기/b.jpg": b"b"}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_reads_folders(tmp_path: Path, form: str) -> None:
    content = {unicodedata.normalize(form, path): data for path, data in CONTENT.items()}
    _check(_write(tmp_path, content), "folders")


def test_reads_folders_with_names_in_cp949(tmp_path: Path) -> None:
    for path, data in CONTENT.items():
        target = os.path.join(os.fsencode(tmp_path), path.encode("cp949"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(data)
    _check(tmp_path, "folders")


def test_reads_doubled_folders(tmp_path: Path) -> None:
    content = {f"{path.split('/')[0]}/{path}": data for path, data in CONTENT.items()}
    _check(_write(tmp_path, content), "folders")


def test_reads_flat_folders(tmp_path: Path) -> None:
    _write(tmp_path, {"자장면/a.jpg": b"a", "만두/b.jpg": b"b"})
    members = find_archive(tmp_path).members()
    assert [(m.class_name, m.filename, m.kind) for m in members] == [
        ("만두", "b.jpg", "image"),
        ("자장면", "a.jpg", "image"),
    ]


def test_reads_one_class_folder(tmp_path: Path) -> None:
    _write(tmp_path, CONTENT)
    archive = find_archive(tmp_path / "한과" / "약과")
    assert [(m.class_name, m.filename) for m in archive.members()] == [("약과", "Img_149_0000.gif")]


def test_takes_what_lies_in_a_category_of_the_same_name_for_no_class(tmp_path: Path) -> None:
    _write(tmp_path, {"한과/한과/a.jpg": b"a", "한과/stray.jpg": b"s"})
    classes = {m.filename: m.class_name for m in find_archive(tmp_path).members()}
    assert classes == {"a.jpg": "한과", "stray.jpg": ""}


def test_drops_stray_spaces_and_reads_backslashes(tmp_path: Path) -> None:
    _write(tmp_path, {"kfood.zip": _zip({" 김치 \\ 깍두기\\a.jpg": b"a"})})
    (member,) = find_archive(tmp_path).members()
    assert (member.category, member.class_name, member.filename) == ("김치", "깍두기", "a.jpg")


def test_tells_strangers_from_images(tmp_path: Path) -> None:
    files = {
        "구이/갈비구이/.DS_Store": "stranger",
        "구이/갈비구이/Thumbs.db": "stranger",
        "구이/갈비구이/desktop.ini": "stranger",
        "구이/갈비구이/._a.jpg": "stranger",
        "__MACOSX/구이/갈비구이/b.jpg": "stranger",
        "org_url.csv": "stranger",
        "readme.txt": "stranger",
        "구이/갈비구이/Crop_Area.properties": "crop_area",
        "구이/갈비구이/a.jpg": "image",
        "구이/갈비구이/notes.txt": "image",
    }
    members = find_archive(_write(tmp_path, dict.fromkeys(files, b"x"))).members()
    kinds = {path.rpartition("/")[2]: kind for path, kind in files.items()}
    assert {m.filename: m.kind for m in members} == kinds


def test_names_the_place_of_a_member(tmp_path: Path) -> None:
    archive = find_archive(_write(tmp_path, {"kfood.zip": _kfood_zip()}))
    places = [member.place for member in archive.members()]
    assert "kfood.zip › 구이.zip › 구이/갈비구이/Img_000_0000.jpg" in places


def test_reads_members_that_zipfile_refuses_for_their_extra_field(tmp_path: Path) -> None:
    info = _RawName("구이/갈비구이/a.jpg")
    info.extra = b"\x01\x00\x08\x00"  # A ZIP64 field that says eight bytes and has none.
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        target.writestr(info, b"sound")
    with pytest.raises(zipfile.BadZipFile, match="[Cc]orrupt"):
        zipfile.ZipFile(io.BytesIO(stream.getvalue()))
    archive = find_archive(_write(tmp_path, {"구이.zip": stream.getvalue()}))
    assert _read(archive) == {"구이/갈비구이/a.jpg": b"sound"}


def test_reads_zip64(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        with target.open("구이/갈비구이/a.jpg", "w", force_zip64=True) as file:
            file.write(b"sound")
        target.comment = b"made by hand"
    archive = find_archive(_write(tmp_path, {"구이.zip": b"put before" + stream.getvalue()}))
    assert _read(archive) == {"구이/갈비구이/a.jpg": b"sound"}


def test_is_the_same_after_pickling(tmp_path: Path) -> None:
    archive = _check(_write(tmp_path, {"kfood.zip": _kfood_zip()}), "zip")
    again: Archive = pickle.loads(pickle.dumps(archive))
    assert again.members() == archive.members()
    assert again.fingerprint() == archive.fingerprint()
    assert again.read(again.members()[0]) == archive.read(archive.members()[0])


def test_reads_units_in_several_threads(tmp_path: Path) -> None:
    archive = find_archive(_write(tmp_path, {"kfood.zip": _kfood_zip(deflated=True)}))
    results: dict[str, bytes | ArchiveError] = {}

    def read(unit: str) -> None:
        for _ in range(10):
            for member, data in archive.iterate(archive.unit_members(unit)):
                results[member.path] = data

    threads = [threading.Thread(target=read, args=(unit,)) for unit in archive.units]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == CONTENT


def test_the_fingerprint_changes_with_the_archive_only(tmp_path: Path) -> None:
    data = _kfood_zip()
    path = _write(tmp_path, {"kfood.zip": data}) / "kfood.zip"
    os.utime(path, ns=(1, 1))
    first = find_archive(path).fingerprint()
    assert find_archive(path).fingerprint() == first
    os.utime(path, ns=(2, 2))
    assert find_archive(path).fingerprint() != first
    path.write_bytes(data.replace(b"Img_148_0000", b"Img_148_0009"))
    os.utime(path, ns=(1, 1))
    assert find_archive(path).fingerprint() != first


def test_says_what_it_left_alone(tmp_path: Path) -> None:
    _write(tmp_path, {"kfood.zip": _kfood_zip(), "notes/readme.txt": b"x"})
    archive = find_archive(tmp_path)
    assert _read(archive) == CONTENT
    assert [str(problem).split(":")[0] for problem in archive.problems] == ["notes/readme.txt"]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, ["empty", "kfood.zip"]),
        ({"readme.txt": b"x"}, ["readme.txt", "kfood.zip", "구이/갈비구이"]),
        ({"kfood.zip.crdownload": b"PK\3\4"}, ["unfinished", "kfood.zip.crdownload"]),
        ({"kfood.zip.part": b"PK\3\4"}, ["unfinished", "kfood.zip.part"]),
        ({"kfood.zip": b""}, ["kfood.zip", "empty"]),
        ({"kfood.zip": b"<html>" * 100}, ["kfood.zip", "no zip"]),
        ({"download.tar": b"<html>" * 1000}, ["download.tar", "no readable tar"]),
    ],
)
def test_refuses_a_folder_without_an_archive(
    tmp_path: Path, files: dict[str, bytes], words: list[str]
) -> None:
    with pytest.raises(ArchiveError) as caught:
        find_archive(_write(tmp_path, files))
    assert all(word in str(caught.value) for word in words), caught.value


def test_refuses_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="no-such-folder is not there.*Check the path"):
        find_archive(tmp_path / "no-such-folder")


def test_refuses_a_single_image(tmp_path: Path) -> None:
    path = _write(tmp_path, {"a.jpg": b"x"}) / "a.jpg"
    with pytest.raises(ArchiveError, match="holds no kfood archive"):
        find_archive(path)


@pytest.mark.parametrize("gone", [0, 5, 11])
def test_names_a_missing_part_file(tmp_path: Path, gone: int) -> None:
    parts = _parts(_kfood_zip())
    del parts[f"kfood.zip.part{gone}"]
    words = r"part" if gone == 11 else rf"lacks \.part{gone};"
    with pytest.raises(ArchiveError, match=words):
        find_archive(_write(tmp_path, parts))


def test_a_huge_part_number_takes_no_time(tmp_path: Path) -> None:
    files = {"kfood.zip.part0": b"PK", "kfood.zip.part99999999999999": b"PK"}
    with pytest.raises(ArchiveError, match=r"lacks \.part1 to \.part99999999999998"):
        find_archive(_write(tmp_path, files))


def test_notices_part_files_in_the_wrong_order(tmp_path: Path) -> None:
    big = {path: data * 40 for path, data in CONTENT.items()}
    inner = {
        f"{category}.zip": _zip({p: d for p, d in big.items() if p.startswith(category)})
        for category in CATEGORIES
    }
    parts = _parts(_zip(inner))
    parts["kfood.zip.part0"], parts["kfood.zip.part1"] = (
        parts["kfood.zip.part1"],
        parts["kfood.zip.part0"],
    )
    with pytest.raises(ArchiveError, match="wrong order"):
        find_archive(_write(tmp_path, parts))


def test_notices_a_cut_off_tar(tmp_path: Path) -> None:
    path = _tar(tmp_path / "download.tar", _parts(_kfood_zip(), 2))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ArchiveError, match=r"download\.tar"):
        find_archive(tmp_path)


def test_refuses_an_archive_that_is_encrypted_as_a_whole(tmp_path: Path) -> None:
    data = bytearray(_zip({"구이/갈비구이/a.jpg": b"a"}))
    data[6] |= 1
    data[data.rindex(b"PK\1\2") + 8] |= 1
    with pytest.raises(ArchiveError, match="encrypted.*password"):
        find_archive(_write(tmp_path, {"구이.zip": bytes(data)}))


def test_reports_an_unsupported_compression_for_its_member(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        target.writestr("구이/갈비구이/a.jpg", b"a" * 100, zipfile.ZIP_LZMA)
        target.writestr("구이/갈비구이/b.jpg", b"b")
    read = _read(find_archive(_write(tmp_path, {"구이.zip": stream.getvalue()})))
    assert "LZMA" in str(read["구이/갈비구이/a.jpg"])
    assert read["구이/갈비구이/b.jpg"] == b"b"


@pytest.mark.parametrize("deflated", [False, True])
def test_a_damaged_member_leaves_the_rest_unharmed(tmp_path: Path, deflated: bool) -> None:
    members = {f"구이/갈비구이/{i}.jpg": random.Random(i).randbytes(500) for i in range(5)}
    data = bytearray(_zip(members, deflated=deflated))
    at = data.index(b"2.jpg") + 300
    data[at] ^= 0xFF
    read = _read(find_archive(_write(tmp_path, {"구이.zip": bytes(data)})))
    error = read.pop("구이/갈비구이/2.jpg")
    assert isinstance(error, ArchiveError)
    assert "damaged" in str(error)
    assert "구이.zip › 구이/갈비구이/2.jpg" in str(error)
    del members["구이/갈비구이/2.jpg"]
    assert read == members


def test_a_damaged_category_zip_leaves_the_others_unharmed(tmp_path: Path) -> None:
    inner = _category_zips()
    inner["구이.zip"] = inner["구이.zip"][:-10]
    archive = find_archive(_write(tmp_path, {"kfood.zip": _zip(inner)}))
    read = _read(archive)
    assert isinstance(read.pop("구이.zip"), ArchiveError)
    assert read == {p: d for p, d in CONTENT.items() if not p.startswith("구이/")}
    (problem,) = archive.problems
    assert "구이.zip is cut off" in str(problem)


def test_a_damaged_deflated_category_zip_leaves_the_others_unharmed(tmp_path: Path) -> None:
    data = bytearray(_zip(_category_zips(), deflated=True))
    at = data.index("만두.zip".encode("cp949")) + 40
    data[at : at + 8] = bytes(8)
    archive = find_archive(_write(tmp_path, {"kfood.zip": bytes(data)}))
    read = _read(archive)
    assert isinstance(read.pop("만두.zip"), ArchiveError)
    assert read == {p: d for p, d in CONTENT.items() if not p.startswith("만두/")}
    assert len(archive.problems) == 1


def _truncations() -> Iterator[int]:
    yield from random.Random(7).sample(range(len(_kfood_zip())), 100)


@pytest.mark.parametrize("length", _truncations())
def test_a_zip_cut_off_anywhere_is_a_clear_error(tmp_path: Path, length: int) -> None:
    with pytest.raises(ArchiveError, match=r"kfood\.zip"):
        find_archive(_write(tmp_path, {"kfood.zip": _kfood_zip()[:length]}))


def test_garbled_bytes_never_give_a_wrong_member(tmp_path: Path) -> None:
    sound = _kfood_zip()
    dice = random.Random(3)
    for _ in range(150):
        data = bytearray(sound)
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        (tmp_path / "kfood.zip").write_bytes(data)
        try:
            contents = list(_read(find_archive(tmp_path)).values())
        except ArchiveError:
            continue
        assert all(isinstance(c, ArchiveError) or c in CONTENT.values() for c in contents)


def _patched(data: bytes, name: str, field: int, value: bytes) -> bytes:
    """Overwrites bytes of a member's entry in the directory."""
    patched = bytearray(data)
    at = data.rindex(name.encode("cp949")) - 46
    assert data[at : at + 4] == b"PK\1\2"
    patched[at + field : at + field + len(value)] = value
    return bytes(patched)


GIVEN = {"구이/갈비구이/a.jpg": b"a" * 10_000, "구이/갈비구이/b.jpg": b"b" * 10_000}


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
    data = _patched(_zip(GIVEN, deflated=True), "구이/갈비구이/a.jpg", field, value)
    read = _read(find_archive(_write(tmp_path, {"구이.zip": data})))
    assert read["구이/갈비구이/b.jpg"] == b"b" * 10_000
    with pytest.raises(ArchiveError, match=words):
        raise read["구이/갈비구이/a.jpg"]  # type: ignore[misc]


def test_a_member_never_unpacks_to_more_than_it_says(tmp_path: Path) -> None:
    size = (50).to_bytes(4, "little")
    data = _patched(_zip(GIVEN, deflated=True), "구이/갈비구이/a.jpg", 24, size)
    read = _read(find_archive(_write(tmp_path, {"구이.zip": data})))
    assert isinstance(read["구이/갈비구이/a.jpg"], ArchiveError)


def test_refuses_members_beyond_the_limit(tmp_path: Path) -> None:
    info = _RawName("구이/갈비구이/a.jpg")
    info.compress_type = zipfile.ZIP_DEFLATED
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target, target.open(info, "w") as file:
        for _ in range(129):
            file.write(bytes(1 << 20))
    read = _read(find_archive(_write(tmp_path, {"구이.zip": stream.getvalue()})))
    assert "MAX_MEMBER_BYTES" in str(read["구이/갈비구이/a.jpg"])


def test_refuses_more_members_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kfood_tfds.raw.zip_directory.MAX_MEMBERS", 3)
    with pytest.raises(ArchiveError, match="MAX_MEMBERS"):
        find_archive(_write(tmp_path, {"구이.zip": _zip(CONTENT)})).members()


def test_looks_no_deeper_than_two_levels_of_zips(tmp_path: Path) -> None:
    deep = _zip({"구이/갈비구이/deeper.zip": _zip(CONTENT), "구이/갈비구이/a.jpg": b"a"})
    archive = find_archive(_write(tmp_path, {"kfood.zip": _zip({"구이.zip": deep})}))
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
    data = _zip({stand_in: b"x", "구이/갈비구이/b.jpg": b"b"}).replace(b"\1.jpg", b"\0.jpg")
    archive = find_archive(_write(tmp_path, {"구이.zip": data}))
    results = {m.filename: content for m, content in archive.iterate(archive.members())}
    assert results.pop("b.jpg") == b"b"
    ((filename, error),) = results.items()
    assert len(filename) < 200 and "\0" not in filename
    with pytest.raises(ArchiveError, match=words):
        raise error  # type: ignore[misc]


def test_reads_absolute_names_as_relative_ones(tmp_path: Path) -> None:
    data = _zip({"/구이/갈비구이/a.jpg": b"a", "C:\\구이\\갈비구이\\b.jpg": b"b"})
    read = _read(find_archive(_write(tmp_path, {"구이.zip": data})))
    assert read == {"구이/갈비구이/a.jpg": b"a", "구이/갈비구이/b.jpg": b"b"}


def test_follows_links_inside_the_folder_only(tmp_path: Path) -> None:
    outside = _write(tmp_path / "outside", {"secret.jpg": b"secret", "more/x.jpg": b"x"})
    inside = _write(tmp_path / "inside", {"구이/갈비구이/a.jpg": b"a"})
    (inside / "구이/갈비구이/out.jpg").symlink_to(outside / "secret.jpg")
    (inside / "구이/갈비구이/in.jpg").symlink_to(inside / "구이/갈비구이/a.jpg")
    (inside / "구이/갈비구이/none.jpg").symlink_to(outside / "nothing.jpg")
    (inside / "구이/loop").symlink_to(inside)
    (inside / "국").symlink_to(outside / "more")
    archive = find_archive(inside)
    read = {m.filename: content for m, content in archive.iterate(archive.members())}
    assert {name for name, content in read.items() if isinstance(content, bytes)} == {
        "a.jpg",
        "in.jpg",
    }
    assert "link out of" in str(read["out.jpg"]) and "link to nothing" in str(read["none.jpg"])
    assert "link out of" in str(read["국"])


def test_follows_a_link_to_the_archive_itself(tmp_path: Path) -> None:
    _write(tmp_path / "disk", {"kfood.zip": _kfood_zip()})
    folder = tmp_path / "manual"
    folder.mkdir()
    (folder / "kfood.zip").symlink_to(tmp_path / "disk" / "kfood.zip")
    _check(folder, "zip")


def test_a_file_that_vanishes_is_an_error_of_its_own(tmp_path: Path) -> None:
    archive = find_archive(_write(tmp_path, CONTENT))
    (tmp_path / "구이/불고기/Img_007_0000.jpg").unlink()
    (tmp_path / "만두/만두/Img_049_0004.png").write_bytes(b"another length")
    read = _read(archive)
    errors = {path for path, content in read.items() if isinstance(content, ArchiveError)}
    assert errors == {"구이/불고기/Img_007_0000.jpg", "만두/만두/Img_049_0004.png"}


def test_an_archive_that_vanishes_ends_the_reading(tmp_path: Path) -> None:
    path = _write(tmp_path / "a", {"kfood.zip": _kfood_zip()}) / "kfood.zip"
    archive = find_archive(path)
    members = archive.members()
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ArchiveError, match="was longer when"):
        list(archive.iterate(members))
    path.unlink()
    with pytest.raises(ArchiveError, match="can't be read"):
        list(archive.iterate(members))


@pytest.mark.parametrize("kind", ["zip", "parts", "folders"])
def test_reads_from_a_bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    files = {"zip": {"kfood.zip": _kfood_zip()}, "parts": _parts(_kfood_zip()), "folders": CONTENT}
    _write(tmp_path, files[kind])
    local = epath.Path
    # The bucket is a folder, reached by nothing but epath's own methods.
    monkeypatch.setattr(
        epath, "Path", lambda path: local(os.fspath(path).replace("gs://food", str(tmp_path)))
    )
    archive = find_archive("gs://food")
    assert archive.layout == kind
    assert _read(archive) == CONTENT


def test_members_are_ordered_by_their_place_in_the_zip(tmp_path: Path) -> None:
    names = ["구이/갈비구이/c.jpg", "구이/갈비구이/a.jpg", "구이/갈비구이/b.jpg"]
    archive = find_archive(_write(tmp_path, {"구이.zip": _zip(dict.fromkeys(names, b"x"))}))
    members: tuple[Member, ...] = archive.members()
    assert [member.filename for member in members] == ["c.jpg", "a.jpg", "b.jpg"]


def test_image_bytes_are_those_in_the_archive_whatever_they_claim(tmp_path: Path) -> None:
    lying = _patched(_zip(GIVEN, deflated=True), "구이/갈비구이/a.jpg", 24, b"\xf0\xff\xff\xff")
    archive = find_archive(_write(tmp_path / "lying", {"구이.zip": lying}))
    assert 0 < archive.image_bytes() < 200
    images = {path: data for path, data in CONTENT.items() if "crop_area" not in path}
    assert find_archive(_write(tmp_path / "loose", CONTENT)).image_bytes() == sum(
        map(len, images.values())
    )


def test_a_member_that_claims_anothers_place_harms_itself_alone(tmp_path: Path) -> None:
    # The directory says that b lies where a does, then that it lies inside of a.
    for offset in (0, 400):
        data = _zip(GIVEN)
        lying = _patched(data, "구이/갈비구이/b.jpg", 42, offset.to_bytes(4, "little"))
        read = _read(find_archive(_write(tmp_path / str(offset), {"구이.zip": lying})))
        assert read["구이/갈비구이/a.jpg"] == b"a" * 10_000
        with pytest.raises(ArchiveError, match="overlap another member"):
            raise read["구이/갈비구이/b.jpg"]  # type: ignore[misc]
