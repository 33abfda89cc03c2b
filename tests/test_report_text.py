"""The report's words: that there are some for all it may have to name, and that they are true.

That both languages have the same texts with the same placeholders, `test_words.py` tests.
"""

from __future__ import annotations

import re

import pytest
from pictures import jpeg, png, reason

from kfood_tfds import report_numbers, report_parts, report_text
from kfood_tfds.raw import planned_files, quality, survey
from kfood_tfds.raw.classes import ClassTable
from kfood_tfds.raw.image_limits import MAX_JPEG_SEGMENTS
from kfood_tfds.report_likeness import load_method
from kfood_tfds.words import Words

ENGLISH, KOREAN = report_text.TEXTS["en"], report_text.TEXTS["ko"]
HANGUL = re.compile("[가-힣]")


def keys(prefix: str, lang: str) -> set[str]:
    found = (key for key in report_text.TEXTS[lang] if key.startswith(prefix))
    return {key.removeprefix(prefix) for key in found}


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_texts_are_neither_empty_nor_padded_nor_markup(lang: str) -> None:
    for key, text in report_text.TEXTS[lang].items():
        assert text and text == text.strip() and "  " not in text, key
        # Whatever they say is escaped, so an entity would be read as it stands.
        assert not re.search(r"[<>]|&[#\w]+;", text), key


def test_korean_is_written_in_hangul_and_english_is_not() -> None:
    assert [key for key, text in KOREAN.items() if not HANGUL.search(text)] == []
    assert [key for key, text in ENGLISH.items() if HANGUL.search(text)] == []


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_each_flag_there_is_has_a_name(lang: str) -> None:
    raised = {*quality.FLAGS, survey.CODE_MISMATCH, planned_files.ORPHAN_ROWS}
    assert keys("flag_", lang) == raised


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_each_crop_status_has_a_name(lang: str) -> None:
    assert keys("crop_", lang) == {"annotated", "clipped", "missing", "unusable"}


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_each_check_has_a_name_and_a_verdict(lang: str) -> None:
    checks = report_numbers.summarize((), ClassTable(()), listed=0).checks
    assert keys("check_", lang) == {"ok", "bad", *(check.name for check in checks)}


def test_each_measured_copy_has_a_korean_name() -> None:
    method = load_method()
    assert method is not None
    assert keys("copy_", "ko") == {recall.kind for recall in method.recalls}


@pytest.mark.parametrize(
    ("data", "korean"),
    [
        (b"", "빈 파일"),
        (b"<html><body>404</body></html>", "이미지가 아님"),
        (jpeg()[:600], "잘린 JPEG 파일"),
        (png(b"", 0, 4, 8, 2), "읽을 수 없는 PNG 파일"),
        (b"\xff\xd8" + b"\xff\xfe\0\2" * (MAX_JPEG_SEGMENTS + 1), "디코더에 부담을 주는 JPEG 파일"),
        (png(b"", 60_000, 60_000, 8, 2), "너무 큼"),
    ],
    ids=["empty", "page", "cut off", "no width", "too many segments", "too many pixels"],
)
def test_reasons_that_images_are_refused_for_have_korean_names(data: bytes, korean: str) -> None:
    kind = report_numbers.reason_kind(reason(data))
    assert report_parts.reason_name(Words("ko", report_text.TEXTS), kind) == korean


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_the_counts_in_circulation_differ_as_their_texts_say(lang: str) -> None:
    texts = report_text.TEXTS[lang]
    numbers = sorted(int(key) for key in keys("counts_", lang) if key.isdigit())
    assert numbers == [142_642, 150_087, 150_507, 150_610]
    assert report_numbers.EXPECTED_IMAGES == 150_507
    assert re.findall(r"\b\d+", texts["counts_150610"])[-1] == str(150_610 - 150_507)
    assert "150,507" in texts["counts_150087"] and str(150_507 - 150_087) in texts["counts_150087"]


@pytest.mark.parametrize("lang", ["ko", "en"])
@pytest.mark.parametrize(
    ("flag", "limit"),
    [
        ("small_box", quality.MIN_BOX_SHARE * 100),
        ("small_image", quality.MIN_SIDE),
        ("extreme_aspect", quality.MAX_ASPECT),
    ],
)
def test_flags_name_the_limits_that_hold(lang: str, flag: str, limit: float) -> None:
    numbers = re.findall(r"\d+", report_text.TEXTS[lang][f"flag_{flag}"])
    assert float(numbers[0]) == limit
