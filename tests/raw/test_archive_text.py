"""The words about archives: both languages say the same, and say what to do."""

from __future__ import annotations

import re

import pytest
from texts import ends_in_consonant, has_hangul, is_neat, particles_after_values, placeholders

from kfood_tfds.raw import found_files, layouts, member_names, zip_directory
from kfood_tfds.raw.archive_text import TEXTS

ENGLISH, KOREAN = TEXTS["en"], TEXTS["ko"]
FAULTS = sorted(key for key in ENGLISH if key.startswith("fault_"))
# The limits that messages name, and where they are.
LIMITS = {
    "MAX_FILES": found_files,
    "MAX_DEPTH": found_files,
    "MAX_TAR_MEMBERS": layouts,
    "MAX_NAME_BYTES": member_names,
    "MAX_MEMBERS": zip_directory,
    "MAX_DIRECTORY_BYTES": zip_directory,
    "MAX_RATIO": zip_directory,
}
LANGUAGES = pytest.mark.parametrize("lang", ["en", "ko"])


def test_there_are_two_languages_with_the_same_texts() -> None:
    assert set(TEXTS) == {"en", "ko"}
    assert set(ENGLISH) == set(KOREAN)
    assert all(map(is_neat, (*ENGLISH.values(), *KOREAN.values())))
    assert all(map(has_hangul, KOREAN.values()))


def test_values_are_shown_alike_in_both_languages() -> None:
    for key, text in ENGLISH.items():
        assert placeholders(text) == placeholders(KOREAN[key]), key


def test_english_texts_are_english_but_for_folder_names() -> None:
    for key, text in ENGLISH.items():
        shown = text.replace("구이.zip", "").replace("구이/갈비구이", "")
        assert not has_hangul(shown), key


def test_limits_are_named_alike_and_exist() -> None:
    named = set()
    for key, text in ENGLISH.items():
        found = re.findall("MAX_[A-Z_]+", text)
        assert found == re.findall("MAX_[A-Z_]+", KOREAN[key]), key
        named.update(found)
    assert named == set(LIMITS)
    for name, module in LIMITS.items():
        assert isinstance(getattr(module, name), int), name


def test_particles_suit_every_value() -> None:
    found = {key: particles_after_values(text) for key, text in KOREAN.items()}
    # Its two values end in a consonant, as 과 needs it.
    assert {key: particles for key, particles in found.items() if particles} == {
        "fault_overlap": ["과"]
    }
    assert ends_in_consonant(KOREAN["the_directory"])
    assert ends_in_consonant(KOREAN["another_member"])
    assert not ends_in_consonant("폴더")


@pytest.mark.parametrize("key", FAULTS)
@LANGUAGES
def test_a_fault_ends_the_sentence_about_its_file(key: str, lang: str) -> None:
    texts = TEXTS[lang]
    half = texts[key].format(
        method="LZMA", size=5, compressed=3, limit=7, where=texts["another_member"]
    )
    assert not half.endswith(".")
    assert lang == "ko" or half[0].islower()
    for frame in ("cannot_read", "nothing_readable"):
        whole = texts[frame].format(place="구이.zip", fault=half)
        assert half in whole and whole.endswith(".") and not whole.endswith("..")
        assert is_neat(whole) and "{" not in whole


def test_whoever_hears_what_is_wrong_hears_what_to_do() -> None:
    complaints = [key for key, text in KOREAN.items() if "{place}" in text and text[-1] == "."]
    assert len(complaints) > 25
    for key in (*complaints, *FAULTS):
        # Advice is an imperative; some get theirs with a value.
        advised = {name for name, _, _ in placeholders(KOREAN[key])} & {"fault", "found"}
        assert advised or "십시오" in KOREAN[key], key


@pytest.mark.parametrize(
    ("lang", "expected"),
    [
        (
            "en",
            "kfood.zip claims 1,234 members in 56,789 bytes of directory; the limits are 2,000,000 "
            "(MAX_MEMBERS) and 536,870,912 (MAX_DIRECTORY_BYTES). Download or copy it again.",
        ),
        (
            "ko",
            "kfood.zip: 항목 1,234개, 파일 목록 56,789바이트라고 적혀 있습니다. 한도는 "
            "2,000,000개(MAX_MEMBERS), 536,870,912바이트(MAX_DIRECTORY_BYTES)입니다. 다시 받거나 "
            "다시 복사하십시오.",
        ),
    ],
)
def test_large_numbers_have_separators(lang: str, expected: str) -> None:
    found = TEXTS[lang]["zip_claims"].format(
        place="kfood.zip", count=1234, size=56_789, members=2_000_000, bytes=512 * 2**20
    )
    assert found == expected


@LANGUAGES
def test_names_from_the_archive_cannot_break_a_line(lang: str) -> None:
    found = TEXTS[lang]["two_names"].format(place="구이.zip", name="a\nb\0.jpg")
    assert r"'a\nb\x00.jpg'" in found and "\n" not in found
