"""The configurations of `kfood`: which files, in which form, in which splits."""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import numbers
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import tensorflow_datasets as tfds
from etils import epath

from kfood_tfds.raw.classes import ClassTable, load_class_table
from kfood_tfds.raw.errors import ArchiveError, KfoodError
from kfood_tfds.raw.found_files import check_path
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

    Raises:
        ConfigError: For a name that can't be that of a folder, or a value of another kind.
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

    def __post_init__(self) -> None:
        """Checks the kinds of the values; `manifest_options` checks what they may be."""
        _check_own_name(self.name)
        for field, (fits, wanted) in _KINDS.items():
            value = getattr(self, field)
            if not fits(value):
                raise ConfigError(f"{field} must be {wanted}. Received: {field}={value!r}")
        for field in _PATHS:
            _check_place(field, getattr(self, field))

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

        The archive's place and the number of threads don't; of files it is the content, of classes
        it is which ones, however they are spelt.

        Raises:
            KfoodError: If the class table or the edited manifest can't be read, or a class is
                unknown.
        """
        return self._digest(self._labels())

    def _labels(self) -> tuple[int, ...] | None:
        """Returns the labels of the chosen classes; None if those are all there are."""
        chosen = _several(self.classes)
        if chosen is None:
            return None
        table = self.class_table()
        labels = tuple(food.label for food in table.find_all(chosen))
        return None if len(labels) == len(table.classes) else labels

    def _digest(self, classes: tuple[str | int, ...] | None, **values: Any) -> str:
        shaping = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(KfoodConfig)
            if field.name not in _NOT_SHAPING
        }
        shaping |= {"classes": classes, "split_ratios": _pairs(self.split_ratios)} | values
        for name in ("class_csv", "manifest"):
            shaping[name] = shaping[name] and _file_digest(name, shaping[name])
        return hashlib.sha256(repr(sorted(shaping.items())).encode()).hexdigest()[:16]

    def digests_that_do(self) -> Iterator[str]:
        """Yields the digests of all configurations whose finished build is what this one gives.

        Where "raise" went through, no image had to be left out, so it did as "skip" would have; not
        the other way round. The first builds kept the classes and shares as they were written.
        """
        written = _several(self.classes)
        ratios = self.split_ratios
        pairs = tuple(ratios.items() if isinstance(ratios, Mapping) else map(tuple, ratios))
        for on_invalid in dict.fromkeys((self.on_invalid, "raise")):
            yield self._digest(self._labels(), on_invalid=on_invalid)
            yield self._digest(written, on_invalid=on_invalid, split_ratios=pairs)


def _check_own_name(name: object) -> None:
    """Refuses a name that a folder, or TFDS's `kfood/<name>:<version>`, can't have."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name.encode()) > _NAME_BYTES:
        raise ConfigError(
            "A configuration is named by letters, digits, '_', '-', '+' and '.', not beginning "
            f"with '.', of {_NAME_BYTES} bytes at most: its build lies in a folder of that name. "
            f"Received: name={name!r}"
        )


def _check_place(field: str, path: str | None) -> None:
    if path is not None:
        try:
            check_path(os.fspath(path))
        except ArchiveError as error:
            raise ConfigError(f"{field} names no file. {error}") from error


def _is_pairs(ratios: object) -> bool:
    """Whether something is names with a number each, as a mapping or as pairs."""
    if isinstance(ratios, Mapping):
        pairs: list[Any] = list(ratios.items())
    elif isinstance(ratios, Sequence) and not isinstance(ratios, (str, bytes)):
        pairs = list(ratios)
    else:
        return False
    return all(
        isinstance(pair, (tuple, list))
        and len(pair) == 2
        and isinstance(pair[0], str)
        and isinstance(pair[1], numbers.Real)
        and not isinstance(pair[1], bool)
        for pair in pairs
    )


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_path(value: object) -> bool:
    return value is None or isinstance(value, (str, os.PathLike))


def _is_classes(value: object) -> bool:
    kinds = (type(None), str, int, Collection)
    return isinstance(value, kinds) and not isinstance(value, (bool, bytes, Mapping))


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
    return tuple((name, float(share)) for name, share in pairs)


def _several(classes: Sequence[str | int] | str | int | None) -> tuple[str | int, ...] | None:
    """Returns the classes as a tuple; a single one may stand alone."""
    if classes is None:
        return None
    return (classes,) if isinstance(classes, (str, int)) else tuple(classes)


# What TFDS takes for a name, less what is another folder than one of that name.
_NAME = re.compile(r"(?!\.)[\w+\-.]+")
_NAME_BYTES = 200
_PATHS = ("archive", "class_csv", "manifest")
_NUMBER = (_is_number, "a whole number or None")
_FLAG = (_is_flag, "True or False")
_PATH = (_is_path, "a path or None")
_KINDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "form": (
        lambda value: isinstance(value, StoredForm),
        "a StoredForm, as StoredForm('jpeg', 64)",
    ),
    "archive": _PATH,
    "sample": _FLAG,
    "split_ratios": (
        _is_pairs,
        "names with a number each, as {'train': 0.8, 'test': 0.2} or pairs of both",
    ),
    "classes": (_is_classes, "a class or several, by names or labels, or None for all"),
    "per_class": _NUMBER,
    "class_csv": _PATH,
    "dedup": _FLAG,
    "manifest": _PATH,
    "workers": _NUMBER,
    "beam": _FLAG,
}
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
    if metadata.get("config") is None:
        return
    if metadata["config"] not in set(config.digests_that_do()):
        raise ConfigError(
            f"{data_path} holds a build of another configuration that is called {config.name!r} "
            "too, with other options or another edited manifest. Give this one another name, or "
            "remove that folder."
        )


class ConfigError(KfoodError):
    """A configuration that there isn't."""
