"""The class table: what it holds, how classes are named, what it refuses."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from kfood_tfds.raw.classes import load_class_table, parse_class_table
from kfood_tfds.raw.errors import ClassTableError

HEADER = "label,name,category,romanized,english,aliases\n"


def test_own_table_holds_150_classes_in_27_categories() -> None:
    table = load_class_table()
    assert len(table.classes) == 150
    assert len(table.categories) == 27
    assert [food.label for food in table.classes] == list(range(150))


@pytest.mark.parametrize(
    ("label", "name"),
    [
        (0, "갈비구이"),
        (23, "양념치킨"),
        (34, "백김치"),
        (49, "만두"),
        (97, "감자전"),
        (149, "육회"),
    ],
)
def test_labels_that_are_known_from_the_archive(label: int, name: str) -> None:
    assert load_class_table().find(name).label == label


@pytest.mark.parametrize(
    "spelling", ["짜장면", "자장면", "jjajangmyeon", "JJAJANG-myeon", " 짜장면 "]
)
def test_every_spelling_finds_the_class(spelling: str) -> None:
    assert load_class_table().find(spelling).name == "짜장면"


def test_label_as_number_and_as_text_find_the_class() -> None:
    table = load_class_table()
    assert table.find(49).name == table.find("49").name == table.find("049").name == "만두"


@pytest.mark.parametrize(
    "folder", [" 깍두기", "깍두기 ", unicodedata.normalize("NFD", "깍두기"), "깍 두기"]
)
def test_folder_names_match_in_nfc_without_spaces(folder: str) -> None:
    food = load_class_table().from_folder(folder)
    assert food is not None
    assert food.name == "깍두기"


def test_folder_matches_by_alias_but_is_not_guessed() -> None:
    table = load_class_table()
    alias = table.from_folder("자장면")
    assert alias is not None
    assert alias.name == "짜장면"
    assert table.from_folder("짜장민") is None
    assert table.from_folder("jjajangmyeon") is None


@pytest.mark.parametrize(
    ("typed", "meant"), [("김치찌게", "김치찌개"), ("bibimbab", "비빔밥"), ("떡볶기", "떡볶이")]
)
def test_near_miss_gets_a_suggestion(typed: str, meant: str) -> None:
    with pytest.raises(ClassTableError, match=f"Did you mean '{meant}'"):
        load_class_table().find(typed)


def test_far_miss_says_what_would_do() -> None:
    with pytest.raises(ClassTableError, match="Korean name, an alias, the romanised name"):
        load_class_table().find("xyz")


@pytest.mark.parametrize("label", [150, -1, "150"])
def test_label_out_of_range_is_refused(label: int | str) -> None:
    with pytest.raises(ClassTableError, match="0 to 149"):
        load_class_table().find(label)


@pytest.mark.parametrize("text", ["--1", "9" * 5000, "²"])
def test_odd_numbers_are_no_labels(text: str) -> None:
    with pytest.raises(ClassTableError, match="There is no class"):
        load_class_table().find(text)


def test_the_exact_name_goes_before_a_loose_one() -> None:
    table = parse_class_table((HEADER + "0,A-B,x,,,\n1,AB,x,,,\n").encode())
    assert table.find("A-B").label == 0
    assert table.find("ab").label in (0, 1)


@pytest.mark.parametrize("value", [True, None, 1.5])
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(ClassTableError, match="Received"):
        load_class_table().find(value)  # type: ignore[arg-type]


def test_find_all_sorts_and_drops_repeats() -> None:
    found = load_class_table().find_all(["만두", 0, "49"])
    assert [food.label for food in found] == [0, 49]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("0,가,나,,,\n1,가,나,,,\n", "'가' names both label 0 and label 1"),
        ("0,가,나,,,\n1,다,나,,,가\n", "'가' names both label 0 and label 1"),
        ("0,가,나,,,\n2,다,나,,,\n", "labels must be 0 to 1"),
        ("0,가,나,,,\n0,다,나,,,\n", "labels must be 0 to 1"),
        ("x,가,나,,,\n", "line 2: label must be a whole number"),
        ("0,,나,,,\n", "line 2: name must be a folder name"),
        ("0,가,,,,\n", "line 2: category must be a folder name"),
        ("", "holds no class"),
    ],
)
def test_broken_tables_are_refused_with_their_place(body: str, message: str) -> None:
    with pytest.raises(ClassTableError, match=message):
        parse_class_table((HEADER + body).encode(), place="mine.csv")


def test_names_that_differ_in_normal_form_only_are_one_name() -> None:
    twice = f"0,만두,만두,,,\n1,{unicodedata.normalize('NFD', '만두')},만두,,,\n"
    with pytest.raises(ClassTableError, match="names both"):
        parse_class_table((HEADER + twice).encode())


def test_missing_column_is_named() -> None:
    with pytest.raises(ClassTableError, match="lacks the column"):
        parse_class_table(b"label,name\n0,a\n")


def test_other_encoding_is_named() -> None:
    with pytest.raises(ClassTableError, match="UTF-8"):
        parse_class_table((HEADER + "0,만두,만두,,,\n").encode("cp949"))


def test_own_csv_with_byte_order_mark_and_three_columns(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("label,name,category\n1,b,x\n0,a,y\n", encoding="utf-8-sig")
    table = load_class_table(path)
    assert table.names == ("a", "b")
    assert table.categories == ("y", "x")
    assert table.category_index("x") == 1


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ClassTableError, match=r"nothing\.csv"):
        load_class_table(tmp_path / "nothing.csv")
