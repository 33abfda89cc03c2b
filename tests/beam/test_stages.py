"""What Beam reads from our functions, and what it doesn't."""

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("apache_beam", reason="pipelines need apache_beam")

import apache_beam as beam
from pipelines import cluster_in

import kfood_tfds.beam
from kfood_tfds.beam import work
from kfood_tfds.beam.stages import flat_map_each, map_each

_NUMBER = np.dtype([("number", "<u8")])

# Annotations in this module are no strings, so that every release of Beam can read them.


def _large(number: int) -> Iterator[int]:
    yield 2**number
    yield 2 ** (number + 1) - 1


def _keyed(number: int) -> tuple[int, tuple[int]]:
    return 0, (number,)


def test_hashes_of_64_bits_go_from_stage_to_stage(tmp_path: Path) -> None:
    cluster = cluster_in(tmp_path)
    folder = cluster.new_folder("numbers")
    cluster.run(
        lambda pipeline: (
            pipeline
            | beam.Create([63])
            | flat_map_each(_large)
            | map_each(_keyed)
            | beam.GroupByKey()
            | map_each(work.save_part, str(folder), "numbers", _NUMBER)
        )
    )
    found = work.read_parts(folder, "numbers", _NUMBER)
    assert found["number"].tolist() == [2**63, 2**64 - 1]


def _folder() -> Path:
    return Path(kfood_tfds.beam.__file__).parent


def test_no_stage_goes_round_the_ones_of_this_module() -> None:
    seen = 0
    for path in _folder().glob("*.py"):
        if path.name == "stages.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "beam":
                seen += 1
                assert node.attr not in ("Map", "FlatMap", "MapTuple", "FlatMapTuple"), path.name
    assert seen > 10


@pytest.mark.parametrize("name", ["examining._Examine", "storing._Store"])
def test_annotations_of_workers_are_not_read(name: str) -> None:
    module, kind = name.split(".")
    source = ast.parse((_folder() / f"{module}.py").read_text("utf-8"))
    [worker] = [node for node in source.body if getattr(node, "name", "") == kind]
    assert isinstance(worker, ast.ClassDef)
    [process] = [node for node in worker.body if getattr(node, "name", "") == "process"]
    assert isinstance(process, ast.FunctionDef)
    assert [ast.unparse(decorator) for decorator in process.decorator_list] == ["no_annotations"]
