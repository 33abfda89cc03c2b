"""A cluster that is this process, and archives for it, for tests; needs apache_beam."""

from __future__ import annotations

from pathlib import Path

from apache_beam.options.pipeline_options import PipelineOptions
from etils import epath

from kfood_tfds.beam.cluster import Cluster
from kfood_tfds.raw.archive import Archive, find_archive
from kfood_tfds.raw.classes import load_class_table
from kfood_tfds.raw.sample import SampleSpec, write_sample

TABLE = load_class_table()
SPEC = SampleSpec(
    classes=("만두", "짜장면", "갈비구이"), per_class=4, box_share=0.5, faults=True, sizes=(60, 70)
)


def cluster_in(folder: Path) -> Cluster:
    return Cluster(epath.Path(folder / "work"), "FnApiRunner", PipelineOptions([]))


def drawn(folder: Path, layout: str) -> Archive:
    folder.mkdir()
    one_file = layout in ("zip", "deflated")
    write_sample(folder / "kfood.zip" if one_file else folder, SPEC, layout=layout)
    return find_archive(folder)
