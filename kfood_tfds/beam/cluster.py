"""Where pipelines run, and the folder that they share."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from etils import epath

from kfood_tfds.beam import work


@dataclass(frozen=True)
class Cluster:
    """Runs pipelines.

    Attributes:
        folder: A folder that every machine reads and writes; see `shared_folder`.
        runner: A runner or its name; None is what the options say.
        options: Beam's `PipelineOptions`; None takes them from the command line, as TFDS does.
        threads: Threads of one worker process.
    """

    folder: epath.Path
    runner: Any = None
    options: Any = None
    threads: int = 1

    def run(self, build: Callable[[Any], None]) -> None:
        """Runs the pipeline that `build` makes, and waits for its end."""
        options = PipelineOptions() if self.options is None else self.options
        with beam.Pipeline(runner=self.runner, options=options) as pipeline:
            build(pipeline)

    def new_folder(self, name: str) -> epath.Path:
        """Makes a new folder for the work of one pipeline."""
        folder = self.folder / f"{name}-{uuid.uuid4().hex[:8]}"
        folder.mkdir(parents=True)
        return folder


@contextlib.contextmanager
def shared_folder(cache_dir: epath.Path) -> Iterator[epath.Path]:
    """Makes a folder for the work of one build, and removes it at the end."""
    folder = work.absolute(cache_dir) / f"beam-{uuid.uuid4().hex}"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        folder.rmtree(missing_ok=True)
        work.load.cache_clear()
