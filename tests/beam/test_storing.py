"""The examples as a transform, in this process, against the archive's own files."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from pathlib import Path

import pytest
from archives import write_files
from PIL import Image
from surveys import noisy_jpeg

pytest.importorskip("apache_beam", reason="pipelines need apache_beam")

from apache_beam.testing.util import assert_that, equal_to
from pipelines import TABLE, cluster_in, drawn

from kfood_tfds.beam import work
from kfood_tfds.beam.storing import store_on
from kfood_tfds.raw.archive import Archive, find_archive
from kfood_tfds.raw.errors import ArchiveError
from kfood_tfds.raw.manifest import ManifestRow
from kfood_tfds.raw.planned_files import PlannedFile
from kfood_tfds.raw.stored_images import StoredForm, StoredImage
from kfood_tfds.raw.survey_store import Survey, survey

# JPEGs of 90 x 120, and a file that is no image.
CONTENT = {
    **{f"만두/만두/Img_049_000{n}.jpg": noisy_jpeg(n) for n in range(3)},
    "만두/만두/Img_049_0003.jpg": b"<html>gone</html>",
    "구이/불고기/Img_007_0000.jpg": noisy_jpeg(9),
}
IMAGES = {name: data for name, data in CONTENT.items() if not data.startswith(b"<")}


@pytest.fixture(name="archive")
def _archive(tmp_path: Path) -> Archive:
    return find_archive(write_files(tmp_path / "archive", CONTENT))


def _accepted(found: Survey) -> list[tuple[PlannedFile, ManifestRow]]:
    pairs = zip(found.planned, found.rows, strict=True)
    return [(planned, row) for planned, row in pairs if row.accepted]


def _id_of(image: StoredImage) -> str:
    return image.row.id


def _digest_of(image: StoredImage) -> tuple[str, str, int, int]:
    return image.row.id, hashlib.sha256(image.data).hexdigest(), image.height, image.width


def _decoded(image: StoredImage) -> tuple[str, str | None, tuple[int, int], tuple[int, int]]:
    with Image.open(io.BytesIO(image.data)) as picture:
        picture.load()
        return image.row.id, picture.format, picture.size, (image.box.height, image.box.width)


def test_every_accepted_file_comes_out_once_and_as_it_was(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "CHUNK_FILES", 2)
    cluster = cluster_in(tmp_path)
    files = _accepted(survey(archive, TABLE))
    transform = store_on(cluster, archive, files, StoredForm(), _digest_of)
    expected = [(name, hashlib.sha256(data).hexdigest(), 90, 120) for name, data in IMAGES.items()]
    cluster.run(lambda pipeline: assert_that(pipeline | transform, equal_to(expected)))


@pytest.mark.parametrize(("encoding", "kind"), [("jpeg", "JPEG"), ("bmp", "BMP")])
def test_workers_bring_images_into_the_form(
    encoding: str, kind: str, archive: Archive, tmp_path: Path
) -> None:
    cluster = replace(cluster_in(tmp_path), threads=2)
    form = StoredForm(encoding, shorter_side=45)
    transform = store_on(cluster, archive, _accepted(survey(archive, TABLE)), form, _decoded)
    # Without a crop row the whole image is the box: both are halved.
    expected = [(name, kind, (60, 45), (45, 60)) for name in IMAGES]
    cluster.run(lambda pipeline: assert_that(pipeline | transform, equal_to(expected)))


def test_nothing_to_store_gives_no_example(archive: Archive, tmp_path: Path) -> None:
    cluster = cluster_in(tmp_path)
    transform = store_on(cluster, archive, [], StoredForm(), _id_of)
    cluster.run(lambda pipeline: assert_that(pipeline | transform, equal_to([])))


def test_only_a_list_of_files_lies_in_the_shared_folder(archive: Archive, tmp_path: Path) -> None:
    cluster = cluster_in(tmp_path)
    store_on(cluster, archive, _accepted(survey(archive, TABLE)), StoredForm(), _id_of)
    [folder] = cluster.folder.iterdir()
    found = {path.name: path.stat().length for path in folder.iterdir()}
    assert sorted(found) == ["archive.pickle", "unit-00000.pickle", "unit-00001.pickle"]
    assert sum(found.values()) < sum(map(len, CONTENT.values()))


@pytest.mark.slow
def test_a_file_that_changed_after_the_survey_is_named(tmp_path: Path) -> None:
    archive = drawn(tmp_path / "archive", "folders")
    files = _accepted(survey(archive, TABLE))
    cluster = cluster_in(tmp_path)
    transform = store_on(cluster, archive, files, StoredForm(), _id_of)
    first = files[0][0].member
    path = next(p for p in (tmp_path / "archive").rglob(first.filename) if p.is_file())
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(Exception, match=f"{files[0][1].id} is not the file that was surveyed"):
        cluster.run(lambda pipeline: pipeline | transform)
    with pytest.raises(ArchiveError, match="was changed after it was looked at"):
        store_on(cluster, archive, files, StoredForm(), _id_of)
