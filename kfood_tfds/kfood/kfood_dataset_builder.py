"""The TFDS builder of `kfood`: yields what the manifest accepts."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.core.utils import tqdm_utils

from kfood_tfds.inspection import sum_up, write_files
from kfood_tfds.kfood import configs, guards
from kfood_tfds.kfood.examples import keyed_example
from kfood_tfds.raw.archive import Archive, find_archive
from kfood_tfds.raw.classes import ClassTable
from kfood_tfds.raw.crop_area import STATUSES
from kfood_tfds.raw.manifest_maker import Arrange, Manifest, arrange, check_options, make_manifest
from kfood_tfds.raw.sample import find_or_draw_sample
from kfood_tfds.raw.stored_images import least_bytes, stored_images
from kfood_tfds.raw.survey_store import Survey, survey
from kfood_tfds.words import noted_in_korean

# Of each shard that is being read, bytes that stay in the processor's cache. TFDS's 8 MB are made
# for buckets, where every read is a request.
_LOCAL_READ_BYTES = 256 * 1024


class Builder(tfds.core.GeneratorBasedBuilder):
    """AI Hub's "한국 이미지(음식)": photos of 150 Korean dishes in 27 categories."""

    VERSION = tfds.core.Version("1.0.0")
    RELEASE_NOTES: ClassVar[dict[str, str]] = {"1.0.0": "First release."}
    BUILDER_CONFIGS = configs.BUILDER_CONFIGS
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    AI Hub gives the archive to registered users on application: https://aihub.or.kr, data set 79,
    "한국 이미지(음식)". Put kfood.zip, or whatever the portal's downloader left (the .tar, its part
    files, the 27 category zips, extracted folders), into the manual folder as it is.
    The configuration `kfood/sample` needs no download.
    """

    def __init__(self, **kwargs: Any) -> None:
        """Takes TFDS's arguments: `config`, `data_dir`, `version`, `file_format`."""
        configs.check_name(kwargs.get("config"))
        super().__init__(**kwargs)
        self._cluster: Any = None

    @property
    def config(self) -> configs.KfoodConfig:
        """The configuration being built or read."""
        return self.builder_config

    def _info(self) -> tfds.core.DatasetInfo:
        table = self.config.class_table()
        return self.dataset_info_from_configs(
            features=tfds.features.FeaturesDict(
                {
                    "image": tfds.features.Image(shape=(None, None, 3)),
                    "label": tfds.features.ClassLabel(names=list(table.names)),
                    "category": tfds.features.ClassLabel(names=list(table.categories)),
                    "crop": tfds.features.BBoxFeature(),
                    "crop_status": tfds.features.ClassLabel(names=list(STATUSES)),
                    "height": tfds.features.Scalar(np.int32),
                    "width": tfds.features.Scalar(np.int32),
                    "id": tfds.features.Text(),
                    "group": tfds.features.Scalar(np.int64),
                }
            ),
            supervised_keys=("image", "label"),
            homepage="https://aihub.or.kr/aihubdata/data/view.do?dataSetSn=79",
            metadata=tfds.core.MetadataDict(),
        )

    def download_and_prepare(self, **kwargs: Any) -> None:
        """Builds the data set unless it is there; see TFDS. One process at a time."""
        if super().download_and_prepare.__module__ != tfds.core.DatasetBuilder.__module__:
            # Replaced, as by `tfds.testing.mock_data`: nothing is built, so nothing to guard.
            super().download_and_prepare(**kwargs)
            return
        asked = kwargs.get("download_config") or tfds.download.DownloadConfig()
        again = tfds.GenerateMode(asked.download_mode).overwrite_dataset
        if self.is_prepared() and not again:  # Nothing to guard, and it may be read-only.
            configs.check_same(self.config, self.info.metadata, self.data_path)
            super().download_and_prepare(**kwargs)
            return
        with guards.exclusive_build(self.data_path, self._cache_dir, self.config.name):
            if self.is_prepared() and not again:  # By another process, while this one waited.
                self.info.read_from_directory(self.data_path)
                configs.check_same(self.config, self.info.metadata, self.data_path)
                return
            with self._on_cluster(asked):
                super().download_and_prepare(**kwargs)

    @contextlib.contextmanager
    def _on_cluster(self, download_config: Any) -> Iterator[None]:
        """Makes the build a Beam pipeline if the configuration, or TFDS's options, ask for one."""
        runner = getattr(download_config, "beam_runner", None)
        options = getattr(download_config, "beam_options", None)
        if not (self.config.beam or runner or options):
            yield
            return
        guards.check_beam()
        from kfood_tfds.beam.cluster import Cluster, shared_folder

        with shared_folder(self._cache_dir) as folder:
            self._cluster = Cluster(folder, runner, options, self.config.workers or 1)
            try:
                yield
            finally:
                self._cluster = None

    @noted_in_korean()
    def _split_generators(self, dl_manager: tfds.download.DownloadManager) -> dict[str, Any]:
        options, table = self.config.manifest_options(), self.config.class_table()
        check_options(options, table)
        archive, shuffled_here = self._archive(dl_manager), self._cluster is None
        guards.check_room(self.data_path, self._least_bytes(archive), shuffled_here)
        found = self._survey(archive, table)
        manifest = make_manifest(found, table, options, self._arrange())
        needed = manifest.estimated_bytes(found, self.config.form)
        guards.check_room(self.data_path, needed, shuffled_here)
        summed_up = sum_up(found, manifest, table, found.archive.place)
        write_files(self.data_path, summed_up, found, table)
        self.info.metadata.update(manifest.metadata() | {"config": self.config.digest()})
        return {split: self._generate_examples(found, manifest, split) for split in manifest.splits}

    def _archive(self, dl_manager: tfds.download.DownloadManager) -> Archive:
        if self.config.archive is not None:
            return find_archive(self.config.archive)
        if self.config.sample:
            return find_archive(find_or_draw_sample(self._cache_dir))
        return find_archive(dl_manager.manual_dir)

    def _least_bytes(self, archive: Archive) -> int:
        """Returns what the examples take at least; 0 if not all of the archive is asked for."""
        config = self.config
        if config.classes is not None or config.per_class is not None or config.manifest:
            return 0
        return least_bytes(archive.image_bytes(), config.form)

    @property
    def _cache_dir(self) -> tfds.core.Path:
        """Where surveys are kept: shared by all configurations of one data folder."""
        return self.data_path.parents[2] / "downloads" / "kfood"

    def _survey(self, archive: Archive, table: ClassTable) -> Survey:
        modes, workers, examiner = self.config.two_value_boxes, self.config.workers, None
        if self._cluster is not None:
            from kfood_tfds.beam.examining import examine_on

            examiner = functools.partial(examine_on, self._cluster, archive, modes)
        return survey(archive, table, self._cache_dir, modes, workers, tqdm_utils.tqdm, examiner)

    def _arrange(self) -> Arrange:
        if self._cluster is None:
            return arrange
        from kfood_tfds.beam.arranging import arrange_on

        return functools.partial(arrange_on, self._cluster)

    def as_dataset(
        self, split: Any = None, *, read_config: tfds.ReadConfig | None = None, **kwargs: Any
    ) -> Any:
        """Reads the data set; see TFDS. Small ones aren't cached: decoded images fill memory."""
        if read_config is None:
            buffer = _LOCAL_READ_BYTES if guards.is_local(self.data_path) else None
            read_config = tfds.ReadConfig(try_autocache=False, override_buffer_size=buffer)
        return super().as_dataset(split=split, read_config=read_config, **kwargs)

    def _generate_examples(self, found: Survey, manifest: Manifest, split: str) -> Any:
        files = manifest.files_of(split, found.planned)
        if self._cluster is None:
            images = stored_images(found.archive, files, self.config.form, self.config.workers)
            return map(keyed_example, images)
        from kfood_tfds.beam.storing import store_on

        return store_on(self._cluster, found.archive, list(files), self.config.form, keyed_example)
