"""The words about class tables, surveys and samples: both languages, with what was received."""

from __future__ import annotations

import re
from typing import Any

import pytest
from texts import has_hangul, is_neat, particles_after_values, placeholders

from kfood_tfds.raw import archive_text
from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.parallel import check_workers
from kfood_tfds.raw.sample import SampleSpec
from kfood_tfds.raw.survey_text import TEXTS

ENGLISH, KOREAN = TEXTS["en"], TEXTS["ko"]
# Options, fields and files, as the code spells them.
SPELT = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)+")


def spelt(text: str) -> set[str]:
    return set(SPELT.findall(re.sub(r"\{[^}]*\}", "", text)))


def test_there_are_two_languages_with_the_same_texts() -> None:
    assert set(TEXTS) == {"en", "ko"}
    assert set(ENGLISH) == set(KOREAN)
    assert all(map(is_neat, (*ENGLISH.values(), *KOREAN.values())))
    assert all(map(has_hangul, KOREAN.values()))


def test_no_text_takes_the_place_of_one_about_archives() -> None:
    assert not set(ENGLISH) & set(archive_text.TEXTS["en"])


def test_values_are_shown_alike_in_both_languages() -> None:
    for key, text in ENGLISH.items():
        assert placeholders(text) == placeholders(KOREAN[key]), key


def test_options_are_spelt_alike_in_both_languages() -> None:
    found = {key: spelt(text) for key, text in ENGLISH.items()}
    assert found == {key: spelt(text) for key, text in KOREAN.items()}
    assert {"class_csv", "on_invalid", "two_value_boxes", "box_share"} <= set().union(
        *found.values()
    )


def test_no_particle_hangs_on_a_value() -> None:
    assert [key for key, text in KOREAN.items() if particles_after_values(text)] == []


def test_what_was_received_comes_last_in_both_languages() -> None:
    received = {key for key, text in ENGLISH.items() if "Received:" in text}
    assert received == {key for key, text in KOREAN.items() if "받은 값:" in text}
    assert len(received) > 10
    for key in received:
        for text, words in ((ENGLISH[key], "Received: "), (KOREAN[key], "받은 값: ")):
            value = text.partition(words)[2]
            assert placeholders(value) or value in ("none.", "없음."), key
            assert ". " not in value, key


@pytest.mark.parametrize(
    ("lang", "expected"),
    [
        ("en", "mine.csv, line 3: label must be a whole number. Received: '사십구'."),
        ("ko", "mine.csv, 3번째 줄: label은 정수여야 합니다. 받은 값: '사십구'."),
    ],
)
def test_a_line_of_a_table_is_named_with_what_stands_there(lang: str, expected: str) -> None:
    where = TEXTS[lang]["line"].format(place="mine.csv", number=3)
    assert TEXTS[lang]["table_label"].format(where=where, received="사십구") == expected


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_bad_files_stand_on_lines_of_their_own(lang: str) -> None:
    found = TEXTS[lang]["bad_files"].format(number=2, lines="  a.jpg: cut\n  b.jpg: empty")
    first, *files, last = found.split("\n")
    assert files == ["  a.jpg: cut", "  b.jpg: empty"]
    assert "2" in first and "on_invalid='raise'" in first
    assert "on_invalid='skip'" in last


@pytest.mark.parametrize(
    ("fields", "english", "korean"),
    [
        (
            {"classes": 0},
            "A sample has 1 to 150 classes. Received: 0.",
            "샘플의 클래스는 1~150개입니다. 받은 값: 0.",
        ),
        (
            {"classes": 151},
            "A sample has 1 to 150 classes. Received: 151.",
            "샘플의 클래스는 1~150개입니다. 받은 값: 151.",
        ),
        (
            {"per_class": 5001},
            "A sample has 1 to 5000 images a class. Received: 5001.",
            "샘플의 클래스당 이미지는 1~5000장입니다. 받은 값: 5001.",
        ),
        (
            {"box_share": 1.001},
            "box_share is 0 to 1. Received: 1.001.",
            "box_share는 0에서 1 사이입니다. 받은 값: 1.001.",
        ),
        (
            {"sizes": (31, 2048)},
            "sizes are a least and a greatest side within 32 to 2048 pixels. Received: (31, 2048).",
            "sizes는 한 변의 최솟값과 최댓값이며 32~2048픽셀 안이어야 합니다. 받은 값: (31, 2048).",
        ),
        (
            {"classes": 2, "faults": True},
            "One file of each fault needs at least 3 classes. Received: 2.",
            "결함을 종류마다 한 파일씩 넣으려면 클래스가 3개 이상 있어야 합니다. 받은 값: 2.",
        ),
    ],
)
def test_a_sample_out_of_range_is_refused_in_both_languages(
    fields: dict[str, Any], english: str, korean: str
) -> None:
    with pytest.raises(KfoodError) as caught:
        SampleSpec(**fields)
    assert str(caught.value) == caught.value.in_language("en") == english
    assert caught.value.in_language("ko") == korean


def test_values_at_the_bounds_are_taken() -> None:
    least = SampleSpec(classes=1, per_class=1, box_share=0, sizes=(32, 32))
    greatest = SampleSpec(classes=150, per_class=5000, box_share=1, sizes=(32, 2048))
    assert (len(least.foods), len(greatest.foods)) == (1, 150)
    assert len(SampleSpec(classes=3, faults=True).foods) == 3


def test_workers_are_counted_from_one() -> None:
    for workers in (None, 1, 2):
        check_workers(workers)
    for workers in (0, -1):
        with pytest.raises(KfoodError) as caught:
            check_workers(workers)
        english, korean = str(caught.value), caught.value.in_language("ko")
        assert english.endswith(f"for all cores. Received: {workers}.")
        assert korean.endswith(f"None이어야 합니다. 받은 값: {workers}.")
