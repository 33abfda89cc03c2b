"""From each layout of the archive to what `tfds.load` gives, against what was drawn."""

from __future__ import annotations

import functools
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds
from PIL import Image

import kfood_tfds
from kfood_tfds import postprocessing as pp
from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.sample import SampleReport, SampleSpec, write_sample

SPEC = SampleSpec(
    classes=("만두", "짜장면", "갈비구이"), per_class=8, box_share=0.5, faults=True, sizes=(60, 80)
)
LAYOUTS = ("zip", "tar", "parts", "lone-part", "category-zips", "folders", "doubled", "flat")


@functools.cache
def _expected() -> dict[str, Any]:
    """What the drawer says that a reader must find: accepted ids with label, size and box."""
    import tempfile

    report = write_sample(Path(tempfile.mkdtemp()) / "kfood.zip", SPEC)
    return {f.id: (f.label, f.size, f.box) for f in report.files if f.verdict == "accepted"}


def _draw(folder: Path, layout: str, names: str = "cp949") -> SampleReport:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder if layout != "zip" else folder / "kfood.zip"
    target = folder / "kfood.tar" if layout == "tar" else target
    return write_sample(target, SPEC, layout=layout, names=names)


def _build(folder: Path, data_dir: Path, config: Any = "full", **kwargs: Any) -> kfood_tfds.Builder:
    builder = kfood_tfds.Builder(config=config, data_dir=data_dir, **kwargs)
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(manual_dir=str(folder))
    )
    return builder


def _examples(builder: kfood_tfds.Builder) -> dict[str, dict[str, Any]]:
    ds = builder.as_dataset(split="all", decoders=pp.SKIP_DECODING)
    return {e["id"].decode(): e for e in tfds.as_numpy(ds)}


def _found(examples: dict[str, dict[str, Any]]) -> dict[str, Any]:
    found = {}
    for file_id, example in examples.items():
        size = (int(example["height"]), int(example["width"]))
        box = np.round(example["crop"] * np.array([*size, *size])).astype(int).tolist()
        found[file_id] = (int(example["label"]), size, box)
    return found


def _drawn() -> dict[str, Any]:
    return {
        file_id: (label, tuple(size), [box.ymin, box.xmin, box.ymax, box.xmax])
        for file_id, (label, size, box) in _expected().items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_examples_that_were_drawn(layout: str, tmp_path: Path) -> None:
    _draw(tmp_path / "manual", layout)
    before = sorted(p.name for p in (tmp_path / "manual").rglob("*"))
    builder = _build(tmp_path / "manual", tmp_path / "data")
    assert _found(_examples(builder)) == _drawn()
    assert sorted(p.name for p in (tmp_path / "manual").rglob("*")) == before
    assert not list((tmp_path / "data").rglob("*.jpg"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "names"),
    [
        ("zip", "utf-8"),
        ("zip", "nfd"),
        ("zip", "corrupt-extra"),
        ("category-zips", "nfd"),
        ("folders", "nfd"),
        ("deflated", "cp949"),
    ],
)
def test_every_spelling_of_names_gives_the_same(layout: str, names: str, tmp_path: Path) -> None:
    target = tmp_path / "manual" / "kfood.zip" if layout in ("zip", "deflated") else None
    (tmp_path / "manual").mkdir()
    write_sample(target or tmp_path / "manual", SPEC, layout=layout, names=names)
    assert _found(_examples(_build(tmp_path / "manual", tmp_path / "data"))) == _drawn()


@pytest.fixture(name="built", scope="module")
def _built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("built")
    _draw(root / "manual", "zip")
    builders = {
        config: _build(root / "manual", root / "data", config)
        for config in ("full", "320px", "320px-raw")
    }
    return {"root": root, "builders": builders}


@pytest.mark.slow
def test_all_configurations_have_the_same_splits_and_groups(built: dict[str, Any]) -> None:
    def facts(builder: kfood_tfds.Builder) -> dict[str, Any]:
        return {
            (split, e["id"]): (int(e["label"]), int(e["group"]))
            for split in builder.info.splits
            for e in tfds.as_numpy(builder.as_dataset(split=split, decoders=pp.SKIP_DECODING))
        }

    full, *others = (facts(builder) for builder in built["builders"].values())
    assert len(full) == len(_drawn())
    assert all(other == full for other in others)


def test_a_second_configuration_reuses_the_survey(built: dict[str, Any]) -> None:
    surveys = list((built["root"] / "data" / "downloads" / "kfood" / "kfood_survey").iterdir())
    assert len(surveys) == 1


def test_groups_never_straddle_splits(built: dict[str, Any]) -> None:
    builder = built["builders"]["full"]
    where: dict[int, set[str]] = {}
    for split in builder.info.splits:
        for e in tfds.as_numpy(builder.as_dataset(split=split, decoders=pp.SKIP_DECODING)):
            where.setdefault(int(e["group"]), set()).add(split)
    assert max(len(splits) for splits in where.values()) == 1


@pytest.mark.parametrize("config", ["full", "320px", "320px-raw"])
def test_decoded_images_are_what_pillow_sees(built: dict[str, Any], config: str) -> None:
    builder = built["builders"][config]
    stored = _examples(builder)
    for e in tfds.as_numpy(builder.as_dataset(split="all")):
        data = stored[e["id"].decode()]["image"]
        pillow = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
        assert e["image"].shape == pillow.shape == (e["height"], e["width"], 3)
        assert np.abs(e["image"].astype(int) - pillow).mean() <= 2


def test_supervised_subsplits_and_shuffled_files(built: dict[str, Any]) -> None:
    builder = built["builders"]["full"]
    train = builder.info.splits["train"].num_examples
    image, label = next(iter(builder.as_dataset(split="train", as_supervised=True)))
    assert image.dtype == tf.uint8
    assert image.shape[-1] == 3
    assert label.dtype == tf.int64
    first, rest = builder.as_dataset(split=["train[:50%]", "train[50%:]"])
    assert len(first) + len(rest) == train
    shuffled = builder.as_dataset(split="train", shuffle_files=True, decoders=pp.SKIP_DECODING)
    assert len({e["id"] for e in tfds.as_numpy(shuffled)}) == train


def test_metadata_counts_what_is_there(built: dict[str, Any]) -> None:
    builder = built["builders"]["full"]
    for split in builder.info.splits:
        labels = [
            int(e["label"])
            for e in tfds.as_numpy(builder.as_dataset(split=split, decoders=pp.SKIP_DECODING))
        ]
        counts = builder.info.metadata["class_counts"][split]
        assert counts == np.bincount(labels, minlength=150).tolist()


def test_metadata_has_the_mean_and_deviation_of_the_crop_boxes(built: dict[str, Any]) -> None:
    builder = built["builders"]["full"]
    boxes = []
    for e in tfds.as_numpy(builder.as_dataset(split="train", decoders=pp.SKIP_DECODING)):
        size = np.array([e["height"], e["width"]] * 2)
        ymin, xmin, ymax, xmax = np.round(e["crop"] * size).astype(int)
        image = np.asarray(Image.open(io.BytesIO(e["image"])).convert("RGB"))
        boxes.append(image[ymin:ymax, xmin:xmax].reshape(-1, 3))
    pixels = np.concatenate(boxes) / 255
    metadata = builder.info.metadata
    assert metadata["mean"]["train"] == pytest.approx(pixels.mean(0).tolist(), abs=1e-4)
    assert metadata["std"]["train"] == pytest.approx(pixels.std(0).tolist(), abs=1e-4)


@pytest.mark.slow
def test_batches_go_into_model_fit(built: dict[str, Any]) -> None:
    import keras

    builder = built["builders"]["320px"]
    train_ds, val_ds = (
        builder.as_dataset(split=s, decoders=pp.SKIP_DECODING) for s in ("train", "validation")
    )
    train = pp.train_pipeline(32).batches(train_ds, batch_size=8, seed=0)
    val = pp.eval_pipeline(32).batches(val_ds, batch_size=8)
    model = keras.Sequential([keras.Input((32, 32, 3)), keras.layers.Flatten()])
    model.add(keras.layers.Dense(150, activation="softmax"))
    model.compile(optimizer="sgd", loss="categorical_crossentropy")
    history = model.fit(train, validation_data=val, epochs=2, verbose=0)
    assert len(history.history["val_loss"]) == 2


@pytest.mark.slow
def test_shards_weigh_little_more_than_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "manual" / "만두"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for n in range(20):
        noise = Image.fromarray(rng.integers(0, 256, (220, 260, 3), np.uint8))
        noise.save(folder / f"Img_049_{n:04d}.jpg", quality=85)
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert size / 20 > 40_000
    builder = _build(tmp_path / "manual", tmp_path / "data")
    shards = sum(path.stat().st_size for path in Path(builder.data_path).glob("*.tfrecord*"))
    assert shards <= 1.02 * size


@pytest.mark.slow
def test_a_configuration_of_ones_own(built: dict[str, Any]) -> None:
    config = kfood_tfds.KfoodConfig(
        name="mine",
        classes=("mandu", "자장면"),
        per_class=5,
        split_ratios=(("train", 0.6), ("test", 0.4)),
    )
    builder = _build(built["root"] / "manual", built["root"] / "data", config)
    examples = _examples(builder)
    assert {int(e["label"]) for e in examples.values()} == {49, 57}
    assert set(builder.info.splits) <= {"train", "test"}
    counts = np.bincount([int(e["label"]) for e in examples.values()])
    assert counts.max() <= 5


@pytest.mark.slow
def test_invalid_files_can_stop_the_build(built: dict[str, Any]) -> None:
    config = kfood_tfds.KfoodConfig(name="strict", on_invalid="raise")
    with pytest.raises(KfoodError, match=r"(?s)can't be used.*empty.*on_invalid='skip'"):
        _build(built["root"] / "manual", built["root"] / "data", config)


@pytest.mark.slow
def test_an_edited_manifest_goes_back_in(built: dict[str, Any], tmp_path: Path) -> None:
    builder = built["builders"]["full"]
    text = (builder.data_path / "manifest.csv").read_text("utf-8")
    lines = text.splitlines()
    number = next(i for i, line in enumerate(lines) if ",accepted,,train,49," in line)
    moved = lines[number].split(",")[0]
    lines[number] = lines[number].replace(",accepted,,train,49,", ",accepted,,test,짜장면,")
    (tmp_path / "edited.csv").write_text("\n".join(lines), "utf-8")
    config = kfood_tfds.KfoodConfig(name="relabelled", manifest=str(tmp_path / "edited.csv"))
    edited = _build(built["root"] / "manual", built["root"] / "data", config)
    test = tfds.as_numpy(edited.as_dataset(split="test", decoders=pp.SKIP_DECODING))
    labels = {e["id"].decode(): int(e["label"]) for e in test}
    assert labels[moved] == 57


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"classes": ("kimchi-jjigea",)}, "Did you mean '김치찌개'"),
        ({"per_class": 0}, "per_class must be at least 1"),
        ({"on_invalid": "ignore"}, "on_invalid must be one of"),
        ({"on_conflict": "x"}, "on_conflict must be one of"),
        ({"split_ratios": (("train", 0.9), ("test", 0.3))}, "ratios"),
        ({"two_value_boxes": "middle"}, "two_value_boxes"),
        ({"workers": -1}, "workers"),
        ({"manifest": "/nowhere/my.csv"}, "can't be read"),
    ],
)
def test_wrong_configurations_are_refused_before_the_archive_is_read(
    config: dict[str, Any], message: str, built: dict[str, Any], tmp_path: Path
) -> None:
    wrong = kfood_tfds.KfoodConfig(name="wrong", **config)
    with pytest.raises(KfoodError, match=message):
        _build(built["root"] / "manual", tmp_path, wrong)
    assert not list(tmp_path.rglob("survey.csv"))


def test_one_class_may_be_given_without_a_list() -> None:
    for spelling in ("만두", 49):
        config = kfood_tfds.KfoodConfig(name="one", classes=spelling)
        assert config.manifest_options().classes == (spelling,)


def test_a_build_of_the_same_name_and_other_options_is_not_taken_for_it(
    built: dict[str, Any],
) -> None:
    where = built["root"] / "manual", built["root"] / "data"
    _build(*where, kfood_tfds.KfoodConfig(name="named", per_class=3))
    _build(*where, kfood_tfds.KfoodConfig(name="named", per_class=3, workers=1))
    with pytest.raises(KfoodError, match=r"another configuration that is called 'named'"):
        _build(*where, kfood_tfds.KfoodConfig(name="named", per_class=4))


def test_an_unknown_configuration_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no configuration '640px'. Did you mean '320px'"):
        tfds.builder("kfood/640px", data_dir=tmp_path)


def test_a_class_table_with_a_double_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("label,name,category\n0,만두,만두\n1,만두,만두\n", "utf-8")
    config = kfood_tfds.KfoodConfig(name="mine", class_csv=str(tmp_path / "mine.csv"))
    with pytest.raises(KfoodError, match="names both label 0 and label 1"):
        kfood_tfds.Builder(config=config, data_dir=tmp_path)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"readme.txt": b"hello"}, "holds no kfood archive"),
        ({"kfood.zip.crdownload": b"PK"}, "unfinished download"),
        ({"kfood.zip": b"PK\3\4" + bytes(500)}, "kfood.zip"),
        ({"kfood.zip.part0": b"PK\3\4", "kfood.zip.part2": b"x"}, r"lacks .*\.part1"),
        ({"beach/a.jpg": b"sand"}, "beach"),
    ],
)
def test_useless_folders_end_in_one_clear_message(
    files: dict[str, bytes], message: str, tmp_path: Path
) -> None:
    for name, content in files.items():
        path = tmp_path / "manual" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    with pytest.raises(KfoodError, match=message):
        _build(tmp_path / "manual", tmp_path / "data")
    assert not list((tmp_path / "data").rglob("*.tfrecord*"))


def test_the_archive_may_be_given_by_its_path(built: dict[str, Any], tmp_path: Path) -> None:
    config = kfood_tfds.KfoodConfig(name="there", archive=str(built["root"] / "manual/kfood.zip"))
    builder = kfood_tfds.Builder(config=config, data_dir=tmp_path)
    builder.download_and_prepare()
    assert len(_examples(builder)) == len(_drawn())
