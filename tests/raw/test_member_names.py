"""Names of any encoding, and what folders say."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kfood_tfds.raw.classes import load_class_table
from kfood_tfds.raw.member_names import (
    decode_name,
    folder_names,
    kind_of,
    name_fault,
    shown_name,
    split_name,
)

# The 2,350 syllables of KS X 1001, which are all that Korean file names need.
_SYLLABLES = [
    bytes([high, low]).decode("euc-kr") for high in range(0xB0, 0xC9) for low in range(0xA1, 0xFF)
]
_ASCII = st.characters(min_codepoint=32, max_codepoint=126)
_NAMES = st.text(st.sampled_from(_SYLLABLES) | _ASCII, min_size=1)


@given(_NAMES, st.sampled_from(["NFC", "NFD"]), st.booleans())
def test_utf8_is_read_whatever_its_form_and_flag(name: str, form: str, flag: bool) -> None:
    text = unicodedata.normalize(form, name)
    assert decode_name(text.encode(), flag) == text


@given(st.binary(), st.booleans())
def test_any_bytes_become_text_that_can_be_stored(raw: bytes, flag: bool) -> None:
    decode_name(raw, flag).encode()


def test_every_path_of_the_archive_is_read_from_cp949() -> None:
    for food in load_class_table().classes:
        path = f"{food.category}/{food.name}/Img_{food.label:03d}_0000.jpg"
        assert decode_name(path.encode("cp949")) == path


@given(st.text())
def test_names_lose_what_could_lead_elsewhere(name: str) -> None:
    split = split_name(name)
    pieces = (*split.folders, split.filename)
    assert all(piece and piece not in (".", "..") for piece in pieces)
    assert not any(mark in piece for piece in pieces for mark in "/\\\0")
    assert all(len(piece) <= 255 for piece in pieces)


def test_long_names_are_cut_and_stay_apart() -> None:
    longest = "x" * 251 + ".jpg"
    assert split_name(f"만두/{longest}").filename == longest
    names = ["y" * 252 + end for end in (".jpg", ".png", "y.jpg", ".jpgx")]
    found = {split_name(f"{name}/{name}") for name in names}
    assert len(found) == len({split.filename for split in found}) == 4
    assert all(len(split.filename) <= 255 for split in found)
    assert all(split.filename.startswith("y" * 200) for split in found)
    assert all(split.folders == (split.filename,) for split in found)


@pytest.mark.parametrize(
    ("stem", "folders", "place"),
    [
        ("", ("구이", "갈비구이"), ("구이", "갈비구이")),
        ("", ("구이", "구이", "갈비구이"), ("구이", "갈비구이")),
        ("", ("kfood", "구이", "갈비구이"), ("구이", "갈비구이")),
        ("", ("갈비구이",), ("", "갈비구이")),
        ("", (), ("", "")),
        ("구이", ("갈비구이",), ("구이", "갈비구이")),
        ("갈비구이", (), ("", "갈비구이")),
        ("만두", ("만두", "만두"), ("만두", "만두")),
        ("만두", ("만두",), ("만두", "만두")),
    ],
)
def test_the_last_folder_is_the_class(
    stem: str, folders: tuple[str, ...], place: tuple[str, str]
) -> None:
    assert folder_names([folders], stem).place(folders) == place


def test_a_category_named_like_its_class_is_no_class_folder() -> None:
    names = folder_names([("한과", "한과"), ("한과", "약과")])
    assert names.place(("한과",)) == ("한과", "")
    assert names.place(("한과", "한과")) == ("한과", "한과")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("구이/갈비구이/a.jpg", ""),
        ("구이/..갈비구이/a..jpg", ""),
        ("../a.jpg", ".."),
        ("구이\\..\\a.jpg", ".."),
        ("a\0.jpg", "NUL"),
        ("a" * 1_025, "1,025 bytes"),
        ("a" * 1_024, ""),
    ],
)
def test_faults_of_names(name: str, fault: str) -> None:
    found = name_fault(name.encode(), name)
    assert (found is not None) == bool(fault)
    assert fault in str(found or "")


def test_kinds() -> None:
    assert kind_of(split_name("구이/갈비구이/a.txt"), "갈비구이") == "image"
    assert kind_of(split_name("a.webp"), "") == "image"
    assert kind_of(split_name("a.txt"), "") == "stranger"
    assert kind_of(split_name("구이/갈비구이/THUMBS.DB"), "갈비구이") == "stranger"
    assert kind_of(split_name("구이/갈비구이/CROP_AREA.PROPERTIES"), "갈비구이") == "crop_area"


def test_long_paths_are_cut_where_they_are_shown() -> None:
    assert shown_name("만두/a.jpg") == "만두/a.jpg"
    shown = shown_name("만두/" + "x" * 5_000 + ".jpg")
    assert len(shown) < 200 and shown.startswith("만두/x") and shown.endswith("x.jpg")
