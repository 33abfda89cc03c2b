"""Work that lies as files on a shared path; none of it needs Beam."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from archives import kfood_zip, write_files
from etils import epath

from kfood_tfds.beam import work
from kfood_tfds.raw.archive import Archive, find_archive
from kfood_tfds.raw.errors import SurveyError

# Four files of 구이, one of 만두, two of 한과.
SIZES = (4, 1, 2)
ROW = np.dtype([("rank", "<u4"), ("split", "<u2")])


def _archive(folder: Path, deflated: bool = False) -> Archive:
    return find_archive(write_files(folder, {"kfood.zip": kfood_zip(deflated=deflated)}))


def _stored(folder: Path, archive: Archive) -> list[work.Chunk]:
    members = archive.members()
    return work.store_by_unit(epath.Path(folder), archive, [m.path for m in members], members)


def _spans(chunks: list[work.Chunk]) -> list[tuple[str, int, int]]:
    return [(Path(chunk.path).name, chunk.start, chunk.stop) for chunk in chunks]


def test_paths_mean_the_same_in_another_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert work.absolute(epath.Path("data/x")) == epath.Path(tmp_path / "data" / "x")
    assert work.absolute(epath.Path("../x")) == epath.Path(tmp_path.parent / "x")
    assert work.absolute(epath.Path("~/x")) == epath.Path(tmp_path / "home" / "x")
    assert work.absolute(epath.Path("/data/x")) == epath.Path("/data/x")
    assert work.absolute(epath.Path("gs://bucket/x")) == epath.Path("gs://bucket/x")


def test_saving_again_replaces_and_leaves_nothing_beside(tmp_path: Path) -> None:
    for data in (b"a longer first text", b"second", b""):
        work.save(epath.Path(tmp_path / "part"), data)
        assert (tmp_path / "part").read_bytes() == data
    assert [path.name for path in tmp_path.iterdir()] == ["part"]


def test_what_was_loaded_is_kept_until_the_end_of_the_build(tmp_path: Path) -> None:
    path = work.store(epath.Path(tmp_path / "item"), {"만두": (1, 2)})
    assert path == str(tmp_path / "item")
    first = work.load(path)
    assert first == {"만두": (1, 2)}
    (tmp_path / "item").unlink()
    assert work.load(path) is first
    work.load.cache_clear()
    with pytest.raises(FileNotFoundError):
        work.load(path)


@pytest.mark.parametrize(
    ("files", "spans"),
    [
        (2, [(0, 2), (2, 4), (0, 1), (0, 2)]),
        (3, [(0, 3), (3, 4), (0, 1), (0, 2)]),
        (4, [(0, 4), (0, 1), (0, 2)]),
    ],
)
def test_units_are_cut_into_chunks_and_nothing_is_lost(
    files: int, spans: list[tuple[int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "CHUNK_FILES", files)
    archive = _archive(tmp_path / "archive")
    chunks = _stored(tmp_path, archive)
    assert [(chunk.start, chunk.stop) for chunk in chunks] == spans
    assert len({chunk.path for chunk in chunks}) == len(SIZES)
    found = [item for chunk in chunks for item in work.items_of(chunk)]
    assert found == [member.path for member in archive.members()]


def test_a_unit_that_has_to_be_unpacked_first_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "CHUNK_FILES", 2)
    chunks = _stored(tmp_path, _archive(tmp_path / "archive", deflated=True))
    assert _spans(chunks) == [
        (f"unit-{number:05}.pickle", 0, size) for number, size in enumerate(SIZES)
    ]


def test_every_item_needs_its_member(tmp_path: Path) -> None:
    archive = _archive(tmp_path / "archive")
    with pytest.raises(ValueError, match="shorter"):
        work.store_by_unit(epath.Path(tmp_path), archive, ["one"], archive.members())


@pytest.mark.parametrize(
    ("count", "spans"),
    [(0, []), (1, [(0, 1)]), (4, [(0, 4)]), (5, [(0, 4), (4, 5)]), (8, [(0, 4), (4, 8)])],
)
def test_records_are_cut_into_chunks(count: int, spans: list[tuple[int, int]]) -> None:
    chunks = work.record_chunks("x", count, 4)
    assert chunks == [work.Chunk("x", start, stop) for start, stop in spans]


def test_records_are_read_from_their_place(tmp_path: Path) -> None:
    rows = np.array([(rank, rank % 3) for rank in range(5)], ROW)
    (tmp_path / "rows").write_bytes(rows.tobytes())
    found = work.read_records(work.Chunk(str(tmp_path / "rows"), 1, 4), ROW)
    assert found.tolist() == [(1, 1), (2, 2), (3, 0)]
    assert work.read_records(work.Chunk(str(tmp_path / "rows"), 5, 5), ROW).tolist() == []


def test_records_beyond_the_end_are_refused(tmp_path: Path) -> None:
    work.save(epath.Path(tmp_path / "records"), np.arange(5, dtype="<u4").tobytes())
    chunk = work.Chunk(str(tmp_path / "records"), 2, 5)
    assert work.read_records(chunk, "<u4").tolist() == [2, 3, 4]
    with pytest.raises(SurveyError, match="records ends before record 6"):
        work.read_records(work.Chunk(chunk.path, 2, 6), "<u4")
    (tmp_path / "records").write_bytes(bytes(19))  # A record is torn.
    with pytest.raises(SurveyError, match="records ends before record 5"):
        work.read_records(chunk, "<u4")


def test_parts_hold_fifty_thousand_rows_each() -> None:
    numbers = (0, 49_999, 50_000, 99_999, 100_000)
    assert [work.part_of(number) for number in numbers] == [0, 0, 1, 1, 2]


def test_parts_come_back_sorted_whatever_came_first(tmp_path: Path) -> None:
    work.save_part((10, iter([(500_001, 2), (500_000, 1)])), str(tmp_path), "splits", ROW)
    work.save_part((9, [(499_999, 0)]), str(tmp_path), "splits", ROW)
    work.save_part((0, [(7, 7)]), str(tmp_path), "groups", ROW)
    # What a worker that was killed left.
    (tmp_path / "splits-00011.bin.0123abcd.tmp").write_bytes(b"half")
    found = work.read_parts(epath.Path(tmp_path), "splits", ROW)
    assert found.tolist() == [(499_999, 0), (500_000, 1), (500_001, 2)]


def test_a_part_done_twice_counts_once(tmp_path: Path) -> None:
    for _ in range(2):
        work.save_part((0, [(1, 1), (0, 0)]), str(tmp_path), "splits", ROW)
    assert work.read_parts(epath.Path(tmp_path), "splits", ROW).tolist() == [(0, 0), (1, 1)]


def test_a_result_without_rows_is_empty(tmp_path: Path) -> None:
    found = work.read_parts(epath.Path(tmp_path), "pairs", ROW)
    assert found.shape == (0,) and found.dtype == ROW
