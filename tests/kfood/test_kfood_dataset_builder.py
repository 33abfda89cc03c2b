"""The builder: TFDS's own test case over the dummy archive, and what this one adds to TFDS."""

from __future__ import annotations

import contextlib
import csv
import io
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import tensorflow_datasets as tfds
from etils import epath

from kfood_tfds.kfood import Builder, KfoodConfig, guards
from kfood_tfds.kfood.configs import BUILDER_CONFIGS
from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.stored_images import StoredForm

pytest.importorskip("dill", reason="TFDS's DatasetBuilderTestCase needs dill")

SPLITS = {"train": 55, "validation": 8, "test": 15}


class KfoodTest(tfds.testing.DatasetBuilderTestCase):
    """Builds each configuration from `dummy_data/` and checks it against TFDS's rules."""

    DATASET_CLASS = Builder
    EXAMPLE_DIR = Path(__file__).parents[2] / "dummy_data"
    BUILDER_CONFIG_NAMES_TO_TEST = ("full", "512px", "320px", "320px-raw")
    SPLITS: ClassVar[dict[str, int]] = SPLITS
    SKIP_CHECKSUMS = True


def _from(manual: Path) -> Any:
    return tfds.download.DownloadConfig(manual_dir=str(manual))


def test_features_are_the_same_in_every_configuration(tmp_path: Path) -> None:
    builders = [Builder(config=known.name, data_dir=tmp_path) for known in BUILDER_CONFIGS]
    first, *others = (builder.info.features.to_json() for builder in builders)
    assert len(others) == 4 and all(other == first for other in others)


def test_names_are_stored_in_an_order_that_stays(tmp_path: Path) -> None:
    features = Builder(config="full", data_dir=tmp_path).info.features
    # Shards hold the numbers of these alone.
    assert features["crop_status"].names == ["annotated", "clipped", "missing", "unusable"]
    labels = features["label"]
    assert (labels.num_classes, features["category"].num_classes) == (150, 27)
    assert (labels.int2str(0), labels.int2str(49), labels.int2str(149)) == (
        "갈비구이",
        "만두",
        "육회",
    )


def test_labels_are_those_of_ones_own_class_table(tmp_path: Path) -> None:
    text = "label,name,category\n2,soup,warm\n0,waffle,sweet\n1,pie,sweet\n"
    (tmp_path / "mine.csv").write_text(text, "utf-8")
    config = KfoodConfig(name="mine", class_csv=str(tmp_path / "mine.csv"), classes="pie")
    features = Builder(config=config, data_dir=tmp_path).info.features
    # All of the table, whichever are chosen.
    assert features["label"].names == ["waffle", "pie", "soup"]
    assert features["category"].names == ["sweet", "warm"]


def test_what_a_build_says_of_itself_adds_up(dummy_build: dict[str, Any]) -> None:
    builder = dummy_build["builder"]
    metadata = builder.info.metadata
    text = (Path(builder.data_dir) / "manifest.csv").read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert metadata["verdicts"] == dict(Counter(row["verdict"] for row in rows))
    assert Counter(row["split"] for row in rows if row["verdict"] == "accepted") == SPLITS
    assert {split: sum(counts) for split, counts in metadata["class_counts"].items()} == SPLITS
    assert metadata["config"] == KfoodConfig(name="another").digest()
    assert (Path(builder.data_dir) / "report.html").exists()


def test_a_finished_build_needs_neither_archive_nor_lock(
    dummy_build: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*arguments: object) -> None:
        raise AssertionError("there is nothing to guard")

    monkeypatch.setattr(guards, "exclusive_build", locked)
    builder = Builder(config="full", data_dir=dummy_build["data_dir"])
    builder.download_and_prepare()
    assert {name: split.num_examples for name, split in builder.info.splits.items()} == SPLITS


def _build_meanwhile(monkeypatch: pytest.MonkeyPatch, built: str) -> None:
    """Makes a wait for another process end with a copy of a build in place."""

    @contextlib.contextmanager
    def waited(data_path: Path, cache_dir: Path, config: str) -> Iterator[None]:
        shutil.copytree(built, data_path)
        yield

    monkeypatch.setattr(guards, "exclusive_build", waited)


def test_what_another_process_built_meanwhile_is_taken(
    dummy_build: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _build_meanwhile(monkeypatch, dummy_build["builder"].data_dir)
    builder = Builder(config="full", data_dir=tmp_path)
    assert not builder.info.splits
    builder.download_and_prepare()
    assert {name: split.num_examples for name, split in builder.info.splits.items()} == SPLITS
    assert builder.info.metadata == dummy_build["builder"].info.metadata


def test_what_another_process_built_by_other_options_is_not_taken(
    dummy_build: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _build_meanwhile(monkeypatch, dummy_build["builder"].data_dir)
    builder = Builder(config=KfoodConfig(name="few", per_class=1), data_dir=tmp_path)
    with pytest.raises(KfoodError, match="another configuration that is called 'few'"):
        builder.download_and_prepare()


def test_overwriting_a_build_is_guarded_and_may_change_its_options(
    dummy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guarded: list[str] = []
    exclusive = guards.exclusive_build

    @contextlib.contextmanager
    def recorded(data_path: Any, cache_dir: Any, config: str) -> Iterator[None]:
        guarded.append(config)
        with exclusive(data_path, cache_dir, config):
            yield

    monkeypatch.setattr(guards, "exclusive_build", recorded)
    counts = []
    for classes in ("만두", ("만두", "깍두기")):
        config = KfoodConfig(name="some", classes=classes, archive=str(dummy_data))
        builder = Builder(config=config, data_dir=tmp_path)
        mode = tfds.GenerateMode.REUSE_CACHE_IF_EXISTS
        builder.download_and_prepare(
            download_config=tfds.download.DownloadConfig(download_mode=mode)
        )
        counts.append(sum(split.num_examples for split in builder.info.splits.values()))
    assert guarded == ["some", "some"]
    assert 0 < counts[0] < counts[1]


def _bytes_of_images(archive: Path) -> int:
    """What the images take in the dummy archive, by Python's own zipfile."""
    total = 0
    with zipfile.ZipFile(archive, metadata_encoding="cp949") as outer:
        for name in outer.namelist():
            with zipfile.ZipFile(io.BytesIO(outer.read(name)), metadata_encoding="cp949") as inner:
                for member in inner.infolist():
                    path = Path(member.filename)
                    kinds = (".jpg", ".jpeg", ".png", ".gif", ".bmp")
                    if path.suffix.lower() in kinds and not path.name.startswith("._"):
                        total += member.compress_size
    return total


@pytest.mark.parametrize(
    ("config", "share"),
    [
        ("full", 0.9),
        ("512px", 0.1),
        (KfoodConfig(name="small", form=StoredForm("jpeg", 64)), 0.0),
        (KfoodConfig(name="dumplings", classes="만두"), 0.0),
        (KfoodConfig(name="few", per_class=3), 0.0),
    ],
    ids=["full", "512px", "small", "dumplings", "few"],
)
def test_room_is_asked_for_before_the_archive_is_read(
    config: Any,
    share: float,
    dummy_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, bool]] = []

    def none_left(data_path: Path, needed: int, shuffled_here: bool) -> None:
        asked.append((needed, shuffled_here))
        raise KfoodError("no room")

    monkeypatch.setattr(guards, "check_room", none_left)
    with pytest.raises(KfoodError, match="no room"):
        Builder(config=config, data_dir=tmp_path).download_and_prepare(
            download_config=_from(dummy_data)
        )
    # Of parts of the archive nobody knows yet how much they are.
    assert asked == [(int(share * _bytes_of_images(dummy_data / "kfood.zip")), True)]
    assert not list(tmp_path.rglob("survey.csv"))


def test_without_an_archive_it_is_said_where_to_get_it(tmp_path: Path) -> None:
    builder = Builder(config="full", data_dir=tmp_path / "data")
    with pytest.raises(AssertionError, match=r"(?s)nowhere.*https://aihub\.or\.kr, data set 79"):
        builder.download_and_prepare(download_config=_from(tmp_path / "nowhere"))


def test_reading_caches_nothing_unless_asked_to(
    dummy_build: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tfds.core.DatasetBuilder, "as_dataset", lambda self, **kwargs: kwargs)
    builder = dummy_build["builder"]
    handed_on = builder.as_dataset("train", shuffle_files=True)
    assert handed_on.pop("read_config").try_autocache is False
    assert handed_on == {"split": "train", "shuffle_files": True}
    own = tfds.ReadConfig(try_autocache=True)
    assert builder.as_dataset(read_config=own) == {"split": None, "read_config": own}


def test_small_pieces_are_read_of_files_and_large_ones_of_buckets(
    dummy_build: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tfds.core.DatasetBuilder, "as_dataset", lambda self, **kwargs: kwargs)
    builder = dummy_build["builder"]
    # No more than a processor's own cache, in whole pages; TFDS's default is 8 MB.
    size = builder.as_dataset()["read_config"].override_buffer_size
    assert 4096 <= size <= 1 << 20 and size % 4096 == 0
    monkeypatch.setattr(guards, "is_local", lambda path: False)
    assert builder.as_dataset()["read_config"].override_buffer_size is None


def test_what_lies_in_a_bucket_is_not_local(tmp_path: Path) -> None:
    assert guards.is_local(epath.Path(tmp_path)) and guards.is_local(epath.Path("data"))
    assert not guards.is_local(epath.Path("gs://bucket/kfood"))
