"""Every message that reading an archive can give is there in both languages, values included."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

import pytest

from kfood_tfds.raw.messages import TEXTS, in_language, say

PACKAGE = Path(__file__).parents[2] / "kfood_tfds"
# What stands between a path and the survey, where every error has to be a message.
READER = ("archive", "classes", "extents", "found_files", "layouts", "parallel", "survey",
          "survey_store", "zip_directory")  # fmt: skip
ERRORS = ("ArchiveError", "ClassTableError", "FileFailed", "KfoodError", "SurveyError")


def calls(module: Path, names: tuple[str, ...]) -> list[ast.Call]:
    """Returns the calls of plain functions or classes of these names in a module."""
    nodes = ast.walk(ast.parse(module.read_text(encoding="utf-8")))
    found = [n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    return [call for call in found if call.func.id in names]  # type: ignore[attr-defined]


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


USERS = [
    module
    for module in sorted(PACKAGE.rglob("*.py"))
    if re.search(r"^from kfood_tfds.raw.messages import .*\bsay\b", module.read_text("utf-8"), re.M)
]
SAID = [(module.stem, call) for module in USERS for call in calls(module, ("say",))]


@pytest.mark.parametrize(
    ("module", "call"), SAID, ids=[f"{module}-{call.lineno}" for module, call in SAID]
)
def test_what_is_said_is_known_and_gets_its_values(module: str, call: ast.Call) -> None:
    (key,) = call.args
    assert isinstance(key, ast.Constant), "texts are named where they are used"
    given = {keyword.arg for keyword in call.keywords}
    assert fields(TEXTS["en"][key.value]) == fields(TEXTS["ko"][key.value]) == given


def test_every_text_is_said_somewhere() -> None:
    used = {call.args[0].value for _, call in SAID}  # type: ignore[attr-defined]
    assert set(TEXTS["en"]) == set(TEXTS["ko"]) == used


@pytest.mark.parametrize("name", READER)
def test_the_reader_raises_messages_only(name: str) -> None:
    raised = calls(PACKAGE / "raw" / f"{name}.py", ERRORS)
    assert raised, "this module raises nothing: take it from the list"
    for call in raised:
        plain = isinstance(call.args[0], ast.Constant | ast.JoinedStr)
        assert not plain, f"line {call.lineno} says it in English only"


@pytest.mark.parametrize("key", TEXTS["ko"])
def test_korean_texts_are_korean(key: str) -> None:
    assert re.search("[가-힣]", TEXTS["ko"][key])
    assert TEXTS["ko"][key] != TEXTS["en"][key]
    assert TEXTS["ko"][key].endswith(".") == TEXTS["en"][key].endswith(".")


def test_messages_inside_messages_are_in_the_same_language() -> None:
    message = say("cannot_read", place="a.jpg", fault=say("fault_method", method="LZMA"))
    assert str(message) == (
        "a.jpg can't be read: its compression (LZMA) isn't supported. Zip it again, stored or "
        "deflated."
    )
    assert message.in_language("ko") == (
        "a.jpg: 읽을 수 없습니다. 지원하지 않는 압축 방식(LZMA)입니다. 저장(stored)이나 deflate "
        "방식으로 다시 압축하십시오."
    )


def test_names_with_braces_stay_as_they_are() -> None:
    assert str(say("checksum", place="{0} {x}.jpg")).startswith("{0} {x}.jpg is damaged")


def test_plain_values_are_the_same_in_every_language() -> None:
    assert in_language("a", "ko") == "a" and in_language(3, "ko") == 3
