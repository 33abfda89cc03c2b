"""The command line's words, as argparse and the commands put them out.

That both languages have the same texts with the same placeholders, `test_words.py` tests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from archives import CONTENT, category_zips, kfood_zip, part_files, write_files

from kfood_tfds import cli
from kfood_tfds.command_text import TEXTS
from kfood_tfds.raw.archive import find_archive
from kfood_tfds.words import Words

HANGUL = re.compile("[가-힣]")
COMMANDS = ("inspect", "sample", "preview", "train-check")
SOME_FOLDERS = {name: data for name, data in CONTENT.items() if name.startswith("한과/")}


def squeezed(text: str) -> str:
    """Text without its line breaks, which hang on the terminal's width."""
    return "".join(text.split())


def test_nothing_is_empty() -> None:
    assert [key for lang in TEXTS for key, text in TEXTS[lang].items() if not text.strip()] == []


def test_korean_is_written_in_hangul_and_english_is_not() -> None:
    # A line of a table is numbers and names alone; class names may be given in Korean.
    korean = [key for key, text in TEXTS["ko"].items() if not HANGUL.search(text)]
    english = [key for key, text in TEXTS["en"].items() if HANGUL.search(text)]
    assert (korean, english) == (["line"], ["preview_classes"])


def test_defaults_are_filled_in_by_argparse_in_both_languages() -> None:
    for key, english in TEXTS["en"].items():
        for text in (english, TEXTS["ko"][key]):
            # Any other percent sign would make argparse fail.
            assert "%" not in text.replace("%(default)s", ""), key
        assert english.count("%(default)s") == TEXTS["ko"][key].count("%(default)s"), key


@pytest.mark.parametrize("lang", ["ko", "en"])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_a_command_does(
    command: str, lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as done:
        cli.main([command, "--help", "--lang", lang])
    assert done.value.code == 0
    text = capsys.readouterr().out
    assert squeezed(TEXTS[lang][command]) in squeezed(text)
    assert text.startswith(f"{TEXTS[lang]['usage']}kfood-tfds {command} ")
    assert f"\n{TEXTS[lang]['options']}:\n" in text


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_help_shows_the_defaults(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["sample", "--help", "--lang", lang])
    text = squeezed(capsys.readouterr().out)
    for key, default in (("sample_classes", "20"), ("sample_per_class", "60"), ("seed", "0")):
        assert squeezed(TEXTS[lang][key].replace("%(default)s", default)) in text


@pytest.mark.parametrize("lang", ["ko", "en"])
def test_the_exit_codes_are_those_that_the_command_gives(lang: str) -> None:
    named = re.findall(r"\d", TEXTS[lang]["inspect_more"])
    assert named == [str(code) for code in (cli.CLEAN, cli.REJECTED, cli.UNREADABLE)]


def test_lines_of_numbers_stand_under_one_another() -> None:
    for lang in TEXTS:
        words = Words(lang, TEXTS)
        assert words.say("line", number=7, name="a") == "         7  a"
        assert words.say("line", number=150_507, name="b") == "   150,507  b"


@pytest.mark.parametrize(("lang", "head"), [("ko", "오류: "), ("en", "error: ")])
def test_messages_may_hold_signs_that_texts_are_filled_in_by(lang: str, head: str) -> None:
    words = Words(lang, TEXTS)
    assert words.say("error", message="100 % of {x} %(y)s") == f"{head}100 % of {{x}} %(y)s"
    assert words.say("bad_arguments", message="{0}").startswith(head.rstrip())
    assert "{0}" in words.say("bad_arguments", message="{0}")


@pytest.mark.parametrize(
    ("files", "korean"),
    [
        (part_files(kfood_zip()), "part 파일"),
        (category_zips(), "대분류별 zip"),
        (CONTENT, "폴더"),
        (category_zips() | SOME_FOLDERS, "대분류별 zip과 폴더"),
    ],
    ids=["parts", "category zips", "folders", "both"],
)
def test_layouts_have_korean_names(files: Mapping[str, bytes], korean: str, tmp_path: Path) -> None:
    with find_archive(write_files(tmp_path, files)) as archive:
        assert TEXTS["ko"][f"layout_{archive.layout}"] == korean
