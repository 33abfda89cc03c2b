"""The configurations of `kfood`: which files, in which form, in which splits."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
from collections.abc import Mapping, Sequence

import tensorflow_datasets as tfds
from etils import epath

from kfood_tfds.raw.classes import ClassTable, load_class_table
from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.raw.manifest_maker import ManifestOptions
from kfood_tfds.raw.splits import DEFAULT_RATIOS
from kfood_tfds.raw.stored_images import StoredForm


@dataclasses.dataclass(eq=False, kw_only=True)
class KfoodConfig(tfds.core.BuilderConfig):
    """What to build from the archive.

    Attributes:
        form: How the images are stored.
        archive: Path of the archive, a file or a folder; None is TFDS's `manual_dir`.
        sample: True draws a small archive instead; no download needed.
        split_ratios: Names and shares of the splits, adding up to 1.
        classes: The classes to keep, by Korean name, alias, romanised name or label; None is all.
            Labels and features stay those of the whole class table.
        per_class: At most so many images of a class over all splits; None is all.
        class_csv: A class table of one's own; None is that of AI Hub's 150 classes.
        two_value_boxes: What a crop row `w,h` means: "image" is no box, "origin" a box at 0,0.
        on_invalid: "skip" leaves unusable files out, "raise" names them all and stops.
        on_conflict: The same picture under two labels: "keep", or "drop" from all splits.
        dedup: True keeps one image of each set of exact duplicates in the first split.
        manifest: An edited `manifest.csv` whose verdicts, labels, splits and boxes hold.
        workers: Number of threads; None is one per core, with `beam` one per worker process.
        beam: True builds by Beam pipelines; so do `beam_runner` and `beam_options` of TFDS's
            `DownloadConfig`, and `tfds build --beam_pipeline_options=…`. The content is the same.
    """

    form: StoredForm = dataclasses.field(default_factory=StoredForm)
    archive: str | None = None
    sample: bool = False
    split_ratios: Mapping[str, float] | tuple[tuple[str, float], ...] = DEFAULT_RATIOS
    classes: Sequence[str | int] | str | int | None = None
    per_class: int | None = None
    class_csv: str | None = None
    two_value_boxes: str = "image"
    on_invalid: str = "skip"
    on_conflict: str = "keep"
    dedup: bool = False
    manifest: str | None = None
    workers: int | None = None
    beam: bool = False

    def class_table(self) -> ClassTable:
        """Loads and checks the class table."""
        return load_class_table(self.class_csv)

    def manifest_options(self) -> ManifestOptions:
        """Returns what shapes the manifest; checks the values."""
        return ManifestOptions(
            split_ratios=_pairs(self.split_ratios),
            classes=_several(self.classes),
            per_class=self.per_class,
            on_invalid=self.on_invalid,
            on_conflict=self.on_conflict,
            dedup=self.dedup,
            edited_manifest=self.manifest,
        )

    def digest(self) -> str:
        """Returns what tells configurations of one name apart: all that shapes the examples.

        The archive's place and the number of threads don't; of files it is the content.

        Raises:
            ConfigError: If the class table or the edited manifest can't be read.
        """
        shaping = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(KfoodConfig)
            if field.name not in _NOT_SHAPING
        }
        shaping["classes"] = _several(self.classes)
        shaping["split_ratios"] = _pairs(self.split_ratios)
        for name in ("class_csv", "manifest"):
            shaping[name] = shaping[name] and _file_digest(name, shaping[name])
        return hashlib.sha256(repr(sorted(shaping.items())).encode()).hexdigest()[:16]


def _file_digest(name: str, path: str) -> str:
    try:
        return hashlib.sha256(epath.Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(
            f"The configuration needs the file that {name} names, to build and to know its build "
            f"again, and it can't be read ({error}). Put it back, or correct the path. "
            f"Received: {name}={path!r}"
        ) from error


def _pairs(
    ratios: Mapping[str, float] | Sequence[tuple[str, float]],
) -> tuple[tuple[str, float], ...]:
    """Returns the splits' shares as pairs; they may come as a mapping, or as lists from JSON."""
    pairs = ratios.items() if isinstance(ratios, Mapping) else ratios
    return tuple((pair[0], pair[1]) if isinstance(pair, list) else pair for pair in pairs)


def _several(classes: Sequence[str | int] | str | int | None) -> tuple[str | int, ...] | None:
    """Returns the classes as a tuple; a single one may stand alone."""
    if classes is None:
        return None
    return (classes,) if isinstance(classes, (str, int)) else tuple(classes)


_NOT_SHAPING = frozenset(
    [field.name for field in dataclasses.fields(tfds.core.BuilderConfig)]
    + ["archive", "workers", "beam"]
)

BUILDER_CONFIGS = [
    KfoodConfig(name="full", description="The archive's own bytes."),
    KfoodConfig(
        name="512px",
        description="Shrunk so that the crop box's shorter side is 512 pixels, JPEG quality 90.",
        form=StoredForm("jpeg", 512),
    ),
    KfoodConfig(
        name="320px",
        description="Shrunk so that the crop box's shorter side is 320 pixels, JPEG quality 90.",
        form=StoredForm("jpeg", 320),
    ),
    KfoodConfig(
        name="320px-raw",
        description="The pixels of 320px uncompressed, as 24-bit BMP: no JPEG decoding.",
        form=StoredForm("bmp", 320),
    ),
    KfoodConfig(
        name="sample",
        description="Drawn dishes of 20 classes, made on the spot: no download needed.",
        sample=True,
    ),
]


def check_name(config: object) -> None:
    """Refuses the name of a configuration that there isn't, with a suggestion.

    Args:
        config: What a user gave as `config`; only strings are looked at.

    Raises:
        ConfigError: Naming all configurations.
    """
    names = [known.name for known in BUILDER_CONFIGS]
    if not isinstance(config, str) or config in names:
        return
    near = difflib.get_close_matches(config, names, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise ConfigError(
        f"kfood has no configuration {config!r}. {hint}There are {', '.join(names)}; for one of "
        "your own pass config=kfood_tfds.KfoodConfig(name=…, …)."
    )


def check_same(config: KfoodConfig, metadata: Mapping[str, object], data_path: object) -> None:
    """Refuses to take a finished build for one of another configuration of the same name.

    Args:
        config: The configuration asked for.
        metadata: Of the build that is there.
        data_path: Where it is, for the message.

    Raises:
        ConfigError: If it was made with other options, another class table or edited manifest.
    """
    if metadata and metadata.get("config", config.digest()) != config.digest():
        raise ConfigError(
            f"{data_path} holds a build of another configuration that is called {config.name!r} "
            "too, with other options or another edited manifest. Give this one another name, or "
            "remove that folder."
        )


class ConfigError(KfoodError):
    """A configuration that there isn't."""
