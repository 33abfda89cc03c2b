"""The language of messages."""

from __future__ import annotations

import string

import pytest

from kfood_tfds import command_text, report_text, words
from kfood_tfds.raw import archive_text, survey_text
from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.messages import say

ALL_TEXTS = {
    "report": report_text.TEXTS,
    "command": command_text.TEXTS,
    "archive": archive_text.TEXTS,
    "survey": survey_text.TEXTS,
}

# Names of faults that the code spells in English itself; only Korean has words for them.
KOREAN_ONLY = ("reason_", "left_out_", "copy_", "layout_")


@pytest.mark.parametrize(
    ("environ", "lang"),
    [
        ({}, "en"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko"}, "ko"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "ko_KR.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "C", "LC_MESSAGES": "ko_KR"}, "ko"),
        ({"LC_ALL": "", "LANG": "KO_kr"}, "ko"),
        ({"LC_ALL": "ko_KR.eucKR", "LC_MESSAGES": "en_GB", "LANG": "C"}, "ko"),
    ],
)
def test_the_locale_of_messages_decides(environ: dict[str, str], lang: str) -> None:
    assert words.language(None, environ) == lang


def test_what_is_asked_for_overrules_the_locale() -> None:
    assert words.language("en", {"LANG": "ko_KR.UTF-8"}) == "en"
    with pytest.raises(ValueError, match="Received: lang='de'"):
        words.language("de")


def test_the_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    assert words.language() == "ko"


def test_values_are_filled_in_with_separators() -> None:
    texts = {"en": {"a": "{n} of {name}, {share}, {yes}"}}
    said = words.Words("en", texts).say("a", n=150507, name="x", share=0.5, yes=True)
    assert said == "150,507 of x, 0.5, True"


def test_a_text_that_is_not_there_has_a_default() -> None:
    assert words.Words("en", {"en": {"a": "b"}}).get("c", "d") == "d"
    with pytest.raises(KeyError):
        words.Words("en", {"en": {}}).say("a")


@pytest.mark.parametrize("name", ALL_TEXTS)
def test_both_languages_say_the_same_things(name: str) -> None:
    english, korean = ALL_TEXTS[name]["en"], ALL_TEXTS[name]["ko"]
    shared = {key for key in korean if not key.startswith(KOREAN_ONLY)}
    assert shared == set(english)
    for key, text in english.items():
        assert fields(text) == fields(korean[key]), key


def fields(text: str) -> set[str | None]:
    return {field for _, field, _, _ in string.Formatter().parse(text) if field}


@pytest.mark.parametrize(
    ("locale", "notes"), [("ko_KR.UTF-8", ["workers는 1 이상"]), ("en_GB.UTF-8", [])]
)
def test_errors_get_a_korean_note_in_a_korean_locale(
    monkeypatch: pytest.MonkeyPatch, locale: str, notes: list[str]
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    with pytest.raises(KfoodError, match="^workers must be") as caught, words.noted_in_korean():
        raise KfoodError(say("workers", received=0))
    found = getattr(caught.value, "__notes__", [])
    assert [note[: len(start)] for note, start in zip(found, notes, strict=True)] == notes


def test_errors_without_korean_get_no_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    with pytest.raises(KfoodError) as caught, words.noted_in_korean():
        raise KfoodError("plain")
    assert not hasattr(caught.value, "__notes__")
    with pytest.raises(OSError, match="disk") as other, words.noted_in_korean():
        raise OSError("disk")
    assert not hasattr(other.value, "__notes__")
