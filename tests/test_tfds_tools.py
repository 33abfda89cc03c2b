"""TFDS's own tools on a built `kfood`: pictures, tables, mocks, other ways to load, the card.

TFDS reads Croissant metadata and writes none, so there is none to test.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow_datasets as tfds

from kfood_tfds import postprocessing as pp


@pytest.fixture(name="folder", scope="module")
def _folder(dummy_build: dict[str, Any]) -> Path:
    """The folder of the finished build."""
    return Path(dummy_build["builder"].data_dir)


def test_show_examples(dummy_build: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib", reason="show_examples needs matplotlib")
    import matplotlib as mpl

    mpl.use("agg")
    builder = dummy_build["builder"]
    figure = tfds.show_examples(builder.as_dataset("train"), builder.info, rows=2, cols=2)
    pictures = [axes.images[0].get_array() for axes in figure.axes if axes.images]
    assert len(pictures) == 4
    assert all(picture.shape[-1] == 3 and picture.std() > 0 for picture in pictures)


def test_as_dataframe(dummy_build: dict[str, Any]) -> None:
    pytest.importorskip("pandas", reason="as_dataframe needs pandas")
    builder = dummy_build["builder"]
    frame = tfds.as_dataframe(builder.as_dataset("train").take(5), builder.info)
    assert len(frame) == 5
    assert set(frame.columns) >= {"image", "label", "id", "group"}
    ids = [name.decode() for name in frame["id"]]
    names = builder.info.features["label"].names
    # The class folder is the middle part of an id, and the label's name.
    assert [name.split("/")[1] for name in ids] == [names[label] for label in frame["label"]]
    page = frame._repr_html_()
    rows = page.split("<tr>")[-5:]
    assert all('<img src="data:image/png;base64,' in row for row in rows)
    assert names[frame["label"][0]] in page


@pytest.mark.parametrize("encoded", [True, False])
def test_mock_data(encoded: bool, tmp_path: Path) -> None:
    decoders = pp.SKIP_DECODING if encoded else None
    with tfds.testing.mock_data(as_dataset_fn=pp.as_dataset_fn(num_examples=5)):
        ds, info = tfds.load(
            "kfood/320px", split="train", data_dir=tmp_path, decoders=decoders, with_info=True
        )
    examples = list(tfds.as_numpy(ds))
    assert len(examples) == 5
    assert set(examples[0]) == set(info.features)
    for example in examples:
        ymin, xmin, ymax, xmax = example["crop"]
        assert 0 <= ymin < ymax <= 1 and 0 <= xmin < xmax <= 1
    [(images, labels)] = pp.eval_pipeline(32).batches(ds, batch_size=5)
    assert images.shape == (5, 32, 32, 3) and labels.shape == (5, 150)
    assert list(tmp_path.iterdir()) == []


def test_mock_data_leaves_nothing_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "data"
    with tfds.testing.mock_data(as_dataset_fn=pp.as_dataset_fn(num_examples=3), data_dir=place):
        assert len(list(tfds.load("kfood/320px", split="train"))) == 3
    writable = tmp_path / "data"
    with tfds.testing.mock_data(as_dataset_fn=pp.as_dataset_fn(num_examples=3), data_dir=writable):
        assert len(list(tfds.load("kfood/320px", split="train"))) == 3
    assert not writable.exists()


def test_drawn_examples_have_the_features_of_a_build(dummy_build: dict[str, Any]) -> None:
    built = dummy_build["builder"].as_dataset("train", decoders=pp.SKIP_DECODING)
    assert pp.fake_examples(2).element_spec == built.element_spec


def test_builder_from_directory(dummy_build: dict[str, Any], folder: Path) -> None:
    read = tfds.builder_from_directory(folder)
    builder = dummy_build["builder"]
    assert type(read) is not type(builder)
    assert read.info.features["label"].names == builder.info.features["label"].names
    assert read.info.features["category"].num_classes == 27
    assert read.info.metadata == builder.info.metadata
    ids, again = (
        sorted(example["id"] for example in tfds.as_numpy(b.as_dataset("train")))
        for b in (builder, read)
    )
    assert ids == again
    assert len(ids) == builder.info.splits["train"].num_examples


def test_sub_splits_cover_the_split(dummy_build: dict[str, Any]) -> None:
    builder = dummy_build["builder"]
    parts = builder.as_dataset(["train[:30%]", "train[30%:]"])
    assert sum(map(len, parts)) == builder.info.splits["train"].num_examples


def test_benchmark_counts_the_examples(dummy_build: dict[str, Any]) -> None:
    pytest.importorskip("pandas", reason="benchmark needs pandas")
    builder = dummy_build["builder"]
    ds = pp.eval_pipeline(32).batches(builder.as_dataset("train", decoders=pp.SKIP_DECODING), 8)
    result = tfds.benchmark(ds, num_iter=3, batch_size=8)
    # It doesn't count the first batch among the iterations.
    assert result.stats.loc["first+lasts", "num_examples"] == 4 * 8
    assert result.stats.loc["lasts", "num_examples"] == 3 * 8


def test_citation_and_card(dummy_build: dict[str, Any]) -> None:
    info = dummy_build["builder"].info
    assert info.citation.startswith("@misc{aihub_kfood_2017,")
    assert "한국 이미지(음식)" in info.description
    assert info.homepage.endswith("dataSetSn=79")
    assert info.supervised_keys == ("image", "label")
