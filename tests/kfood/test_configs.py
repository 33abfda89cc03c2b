"""The configurations: what they are, what tells two of one name apart, what is refused."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
import tensorflow_datasets as tfds

from kfood_tfds.kfood.configs import (
    BUILDER_CONFIGS,
    ConfigError,
    KfoodConfig,
    check_name,
    check_same,
)
from kfood_tfds.raw.errors import SurveyError
from kfood_tfds.raw.manifest_maker import ManifestOptions
from kfood_tfds.raw.stored_images import StoredForm

# A value other than the default for each field that changes what the examples are, …
SHAPING: dict[str, Any] = {
    "form": StoredForm("jpeg", 64),
    "sample": True,
    "split_ratios": (("train", 0.5), ("test", 0.5)),
    "classes": ("만두",),
    "per_class": 3,
    "two_value_boxes": "origin",
    "on_invalid": "raise",
    "on_conflict": "drop",
    "dedup": True,
}
# … for those that are paths of files whose content does, …
FILES = ("class_csv", "manifest")
# … and for those that don't.
PLAIN: dict[str, Any] = {"archive": "/somewhere/kfood.zip", "workers": 3, "beam": True}


def test_the_configurations_there_are() -> None:
    found = {known.name: (known.form, known.sample) for known in BUILDER_CONFIGS}
    assert list(found.items()) == [
        ("full", (StoredForm("original", None), False)),
        ("512px", (StoredForm("jpeg", 512, 90), False)),
        ("320px", (StoredForm("jpeg", 320, 90), False)),
        ("320px-raw", (StoredForm("bmp", 320), False)),
        ("sample", (StoredForm("original", None), True)),
    ]


def test_their_descriptions_name_the_sizes_that_are_stored() -> None:
    described = {known.name: known.description or "" for known in BUILDER_CONFIGS}
    assert all(text.endswith(".") for text in described.values())
    assert len(set(described.values())) == len(described)
    for name in ("512px", "320px"):
        assert f"shorter side is {name[:3]} pixels, JPEG quality 90" in described[name]
    assert "320px" in described["320px-raw"] and "BMP" in described["320px-raw"]


def test_options_of_the_manifest_are_handed_on() -> None:
    assert KfoodConfig(name="x").manifest_options() == ManifestOptions()
    config = KfoodConfig(
        name="x",
        split_ratios={"fit": 0.8, "check": 0.2},
        classes=["만두", 7],
        per_class=3,
        on_invalid="raise",
        on_conflict="drop",
        dedup=True,
        manifest="edited.csv",
    )
    assert config.manifest_options() == ManifestOptions(
        split_ratios=(("fit", 0.8), ("check", 0.2)),
        classes=("만두", 7),
        per_class=3,
        on_invalid="raise",
        on_conflict="drop",
        dedup=True,
        edited_manifest="edited.csv",
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"classes": ()}, "classes must name at least one class"),
        ({"per_class": -2}, r"per_class must be at least 1, .*Received: -2\."),
        ({"on_invalid": "drop"}, r"on_invalid must be one of skip, raise\. Received: 'drop'\."),
        ({"on_conflict": "skip"}, r"on_conflict must be one of keep, drop\. Received: 'skip'\."),
    ],
)
def test_impossible_options_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(SurveyError, match=message):
        KfoodConfig(name="x", **values).manifest_options()


def test_the_class_table_is_aihubs_or_ones_own(tmp_path: Path) -> None:
    assert len(KfoodConfig(name="x").class_table().classes) == 150
    (tmp_path / "mine.csv").write_text("label,name,category\n1,pie,b\n0,soup,a\n", "utf-8")
    table = KfoodConfig(name="x", class_csv=str(tmp_path / "mine.csv")).class_table()
    assert (table.names, table.categories) == (("soup", "pie"), ("a", "b"))


def test_each_field_is_known_to_shape_the_examples_or_not_to() -> None:
    own = {field.name for field in dataclasses.fields(KfoodConfig)}
    own -= {field.name for field in dataclasses.fields(tfds.core.BuilderConfig)}
    assert own == {*SHAPING, *FILES, *PLAIN}


@pytest.mark.parametrize("field", SHAPING)
def test_what_shapes_the_examples_changes_the_digest(field: str) -> None:
    plain = KfoodConfig(name="x")
    other = KfoodConfig(name="x", **{field: SHAPING[field]})
    assert re.fullmatch("[0-9a-f]{16}", other.digest())
    assert other.digest() != plain.digest()
    assert other.digest() == KfoodConfig(name="x", **{field: SHAPING[field]}).digest()


@pytest.mark.parametrize(
    "values", [*({field: value} for field, value in PLAIN.items()), {"description": "words"}]
)
def test_places_threads_and_words_leave_the_digest_alone(values: dict[str, Any]) -> None:
    assert KfoodConfig(name="y", **values).digest() == KfoodConfig(name="x").digest()


@pytest.mark.parametrize("field", FILES)
def test_of_files_the_content_counts_wherever_they_lie(field: str, tmp_path: Path) -> None:
    for name, content in (("a.csv", b"1\n"), ("b.csv", b"1\n"), ("c.csv", b"2\n")):
        (tmp_path / name).write_bytes(content)

    def digest(name: str) -> str:
        values: dict[str, Any] = {field: str(tmp_path / name)}
        return KfoodConfig(name="x", **values).digest()

    assert digest("a.csv") == digest("b.csv")
    assert len({digest("a.csv"), digest("c.csv"), KfoodConfig(name="x").digest()}) == 3
    (tmp_path / "a.csv").write_bytes(b"2\n")
    assert digest("a.csv") == digest("c.csv")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("ful", "Did you mean 'full'? "), ("320", "Did you mean '320px'? "), ("pictures", "")],
)
def test_an_unknown_name_is_refused_with_all_that_there_are(name: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_name(name)
    assert str(caught.value).startswith(
        f"kfood has no configuration {name!r}. {hint}"
        "There are full, 512px, 320px, 320px-raw, sample; "
    )


def test_known_names_and_configurations_of_ones_own_pass() -> None:
    for config in ("full", "320px-raw", None, KfoodConfig(name="pictures"), 7):
        check_name(config)


def test_a_finished_build_is_told_by_its_digest() -> None:
    config = KfoodConfig(name="mine", per_class=3)
    # A build that isn't there yet, one that says nothing of it, and one of the same options.
    same: list[dict[str, object]] = [{}, {"mean": {}}, {"config": config.digest()}]
    for metadata in same:
        check_same(config, metadata, "/data")
    other = KfoodConfig(name="mine", per_class=4).digest()
    with pytest.raises(ConfigError, match=r"^/data/kfood/mine holds .* called 'mine' too"):
        check_same(config, {"config": other}, "/data/kfood/mine")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"classes": "만두"}, {"classes": ("만두",)}),
        ({"classes": ["만두", 3]}, {"classes": ("만두", 3)}),
        (
            {"split_ratios": {"train": 0.8, "test": 0.2}},
            {"split_ratios": (("train", 0.8), ("test", 0.2))},
        ),
        ({"split_ratios": [["train", 1.0]]}, {"split_ratios": (("train", 1.0),)}),
    ],
)
def test_the_digest_is_that_of_the_values_however_they_are_written(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert KfoodConfig(name="x", **one).digest() == KfoodConfig(name="x", **other).digest()
    assert KfoodConfig(name="x", **one).digest() != KfoodConfig(name="x").digest()


@pytest.mark.parametrize("field", ["class_csv", "manifest"])
def test_files_that_are_gone_are_named(field: str, tmp_path: Path) -> None:
    path = str(tmp_path / "gone.csv")
    config = KfoodConfig(name="x", **{field: path})
    with pytest.raises(ConfigError, match=rf"{field} names.*Received: {field}=.*gone\.csv"):
        config.digest()


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".hidden", "a/b", "a b", "a\0b", "a\n", "a:1.0.0", "a\\b", "x" * 201, 3, None],
)
def test_a_name_that_no_folder_can_have_is_refused(name: Any) -> None:
    with pytest.raises(ConfigError, match=r"is named by letters") as caught:
        KfoodConfig(name=name)
    assert str(caught.value).endswith(f"Received: name={name!r}")


@pytest.mark.parametrize("name", ["mine", "만두", "a.b-c+d_1", "320px", "x" * 200])
def test_names_that_tfds_takes_pass(name: str) -> None:
    assert KfoodConfig(name=name).name == name


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("form", ["jpeg", None, 320]),
        ("archive", [3, True, ["kfood.zip"]]),
        ("sample", ["yes", 1, None]),
        (
            "split_ratios",
            [
                ("a", 1.0),
                "train",
                {"train": "0.7"},
                {"train": True},
                {3: 1.0},
                [("a", 0.5, 0.5)],
                1.0,
                None,
                ["ab"],
            ],
        ),
        ("classes", [3.5, True, b"7", {"만두": 1}, (n for n in range(3))]),
        ("per_class", ["3", 1.5, True]),
        ("class_csv", [7, b"a.csv"]),
        ("dedup", ["no", 0, None]),
        ("manifest", [7, False]),
        ("workers", ["2", 2.0, True]),
        ("beam", ["yes", 1]),
    ],
)
def test_values_of_another_kind_are_refused_by_field(field: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(ConfigError, match=f"^{field} must be ") as caught:
            KfoodConfig(name="x", **{field: value})
        assert str(caught.value).endswith(f" Received: {field}={value!r}")


@pytest.mark.parametrize("field", ["archive", "class_csv", "manifest"])
@pytest.mark.parametrize("path", ["", "http://a/b"])
def test_paths_that_name_no_file_are_refused(field: str, path: str) -> None:
    values: dict[str, Any] = {field: path}
    with pytest.raises(ConfigError, match=f"^{field} names no file") as caught:
        KfoodConfig(name="x", **values)
    assert f"Received: {path!r}." in str(caught.value)


def test_paths_may_be_objects() -> None:
    values: dict[str, Any] = {"archive": Path("kfood.zip")}
    assert KfoodConfig(name="x", **values).digest() == KfoodConfig(name="x").digest()


def test_the_shipped_configurations_keep_the_digests_of_their_first_builds() -> None:
    assert {known.name: known.digest() for known in BUILDER_CONFIGS} == {
        "full": "3a3d73a7d0476dd7",
        "512px": "0a30759074480a80",
        "320px": "b529a7bf468cd48b",
        "320px-raw": "feb7c3c34e59bd1b",
        "sample": "79da12136b5dc0d5",
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"classes": ("만두", 7)}, {"classes": (7, "mandu")}),
        ({"classes": "49"}, {"classes": 49}),
        ({"classes": [3, 3]}, {"classes": 3}),
        ({"classes": range(150)}, {}),
        ({"split_ratios": {"all_of_it": 1}}, {"split_ratios": {"all_of_it": 1.0}}),
    ],
)
def test_classes_count_by_what_they_are(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert KfoodConfig(name="x", **one).digest() == KfoodConfig(name="x", **other).digest()


def test_builds_from_before_classes_were_looked_up_are_known_again() -> None:
    # As the digests of these values were when they were made of the words.
    for values, digest in (
        ({"classes": ("만두", 7)}, "1beed60234b0f808"),
        ({"split_ratios": {"a": 1}}, "2b4cb309107a7bec"),
    ):
        config = KfoodConfig(name="x", **values)  # type: ignore[arg-type]
        assert config.digest() != digest
        check_same(config, {"config": digest}, "/data")


def test_a_build_that_left_nothing_out_is_that_of_skip_too_but_not_the_other_way_round() -> None:
    skip = KfoodConfig(name="x", classes=3)
    strict = KfoodConfig(name="x", classes=3, on_invalid="raise")
    check_same(skip, {"config": strict.digest()}, "/data")
    check_same(strict, {"config": strict.digest()}, "/data")
    with pytest.raises(ConfigError, match="another configuration"):
        check_same(strict, {"config": skip.digest()}, "/data")
