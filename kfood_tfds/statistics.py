"""Figures of a data set: channel mean and deviation, image sizes, examples per class.

Each works on a stream of examples in one pass, and takes what the build has already counted where
it can. ``kfood_tfds.plots`` draws them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tensorflow_datasets.core.utils import tqdm_utils

from kfood_tfds.raw.channel_sums import ChannelSums, merge_sums
from kfood_tfds.raw.classes import load_class_table
from kfood_tfds.sampling.class_balance import class_counts

Triple = tuple[float, float, float]

_SIZE_FEATURES = ("height", "width", "crop")


@dataclasses.dataclass(frozen=True)
class ChannelStats:
    """Mean and standard deviation per channel.

    Attributes:
        mean: Red, green, blue in 0..1.
        std: The deviation of the pooled pixels (ddof=0), likewise.
        count: Number of pixels; None where a build's metadata doesn't tell.
        images: Number of images; likewise.
        per_class: The same by label, if asked for; labels without images are left out.
    """

    mean: Triple
    std: Triple
    count: int | None = None
    images: int | None = None
    per_class: Mapping[int, ChannelStats] = dataclasses.field(default_factory=dict)

    def normalization(self) -> Any:
        """Returns a ``keras.layers.Normalization`` of these figures, for images in 0..1."""
        import keras

        variance = [deviation**2 for deviation in self.std]
        return keras.layers.Normalization(mean=list(self.mean), variance=variance)


@dataclasses.dataclass(frozen=True)
class ImageSizes:
    """Sizes in pixels, one entry per example, in the order of the data set.

    Attributes:
        heights: Of the stored images, int64[n].
        widths: Likewise.
        crop_heights: Of the crop boxes, int64[n]; the image's where there is no usable box.
        crop_widths: Likewise.
    """

    heights: NDArray[np.int64]
    widths: NDArray[np.int64]
    crop_heights: NDArray[np.int64]
    crop_widths: NDArray[np.int64]

    def __len__(self) -> int:
        """Returns the number of examples."""
        return len(self.heights)

    @property
    def crop_shorter_sides(self) -> NDArray[np.int64]:
        """Shorter side of each crop box: a larger input blows the box up."""
        return np.minimum(self.crop_heights, self.crop_widths)

    def percentiles(self, at: Iterable[float] = (0, 5, 25, 50, 75, 95, 100)) -> dict[str, Any]:
        """Returns percentiles of every size, by name, float64 each.

        Raises:
            ValueError: If there are no examples.
        """
        if not len(self):
            raise ValueError("There are no sizes to take percentiles of. Received: no examples")
        points = list(at)
        names = [field.name for field in dataclasses.fields(self)]
        arrays = {name: getattr(self, name) for name in (*names, "crop_shorter_sides")}
        return {name: np.percentile(values, points) for name, values in arrays.items()}


@dataclasses.dataclass(frozen=True)
class ClassDistribution:
    """Number of examples per class and split.

    Attributes:
        names: Class names, AI Hub's in Korean, in the order of the labels.
        counts: int64[classes] by name of the split.
    """

    names: tuple[str, ...]
    counts: Mapping[str, NDArray[np.int64]]

    @property
    def imbalance(self) -> dict[str, float]:
        """Count of the largest class divided by that of the smallest that has any, by split."""
        return {
            split: float(counts.max() / counts[counts > 0].min())
            for split, counts in self.counts.items()
            if counts.any()
        }


def channel_stats(
    source: Any,
    split: str | None = None,
    *,
    per_class: bool = False,
    num_parallel_calls: int | None = None,
) -> ChannelStats:
    """Returns mean and standard deviation per channel over the crop boxes.

    They are those of all the boxes' pixels together, exact whatever the order: the deviation is
    not a mean of the images' deviations. Of examples they are those of the pixels that a training
    gets, by TensorFlow's fast JPEG decoding; the metadata's are of exact decoding and,
    in boxes of more than 256 rows, of up to 64 of them, and up to 0.01 apart.

    Args:
        source: Example dicts as ``tfds.load("kfood")`` gives them, images encoded or as uint8,
            read once; or the ``tfds.core.DatasetInfo``, whose metadata has the figures.
        split: Name of the split; for an info only, and needed there.
        per_class: Whether to give the figures by class too; for examples only.
        num_parallel_calls: Images to decode at a time; by default TensorFlow tunes it.

    Raises:
        ValueError: If the info has no figures for the split, there are no examples, or their
            pixels are not as decoded.
    """
    if hasattr(source, "metadata"):
        if per_class:
            raise ValueError(
                "The metadata has no figures by class; give the data set itself. "
                "Received: an info and per_class=True"
            )
        return _stats_of_info(source, split)
    sums: dict[int, ChannelSums] = {}
    for pixels, label in _boxes(source, per_class, num_parallel_calls):
        sums[label] = sums.get(label, ChannelSums()).add(pixels)
    by_class = {label: _stats(sums[label]) for label in sorted(sums)} if per_class else {}
    return dataclasses.replace(_stats(merge_sums(sums.values())), per_class=by_class)


def image_sizes(source: Any) -> ImageSizes:
    """Returns the sizes of images and crop boxes, without decoding any.

    Args:
        source: Example dicts as ``tfds.load("kfood", decoders=SKIP_DECODING)`` gives them, read
            once; or what ``random_access`` gives.

    Raises:
        ValueError: If the examples have no features height, width and crop.
    """
    if hasattr(source, "columns"):
        columns = source.columns(*_SIZE_FEATURES)
        heights, widths, crops = (columns[name] for name in _SIZE_FEATURES)
    else:
        heights, widths, crops = _size_columns(source)
    sizes = np.stack([heights, widths], axis=1).astype(np.int64).reshape(-1, 2)
    corners = np.asarray(crops, dtype=np.float64).reshape(-1, 4) * np.tile(sizes, 2)
    low, high = np.rint(corners[:, :2]), np.rint(corners[:, 2:])
    box = (high - low).astype(np.int64)
    return ImageSizes(sizes[:, 0], sizes[:, 1], box[:, 0], box[:, 1])


def class_distribution(
    source: Any, split: str | None = None, *, names: Sequence[str] | None = None
) -> ClassDistribution:
    """Returns the number of examples per class.

    Args:
        source: The ``tfds.core.DatasetInfo``; or anything that ``sampling.class_counts`` takes.
        split: Name of the split; by default all that the info has. For anything else what to call
            it, by default ``"all"``.
        names: Class names in the order of the labels; by default those of the source's info, or
            AI Hub's where the source, such as a ``tf.data.Dataset``, doesn't tell.

    Raises:
        ValueError: If the info has no counts, or a label has no name.
    """
    if not hasattr(source, "metadata"):
        own = getattr(source, "info", None)
        told = load_class_table().names if own is None else own.features["label"].names
        chosen = tuple(told if names is None else names)
        counts = class_counts(source, num_classes=len(chosen))
        return ClassDistribution(chosen, {split or "all": counts})
    splits = [split] if split is not None else list((source.metadata or {}).get("class_counts", ()))
    if not splits:
        raise ValueError(
            "The data set's metadata has no class counts; build it with kfood_tfds, or give the "
            f"data set itself. Received: metadata keys {sorted(source.metadata or {})}"
        )
    chosen = tuple(source.features["label"].names if names is None else names)
    by_split = {name: class_counts(source, name, len(chosen)) for name in splits}
    return ClassDistribution(chosen, by_split)


def _stats(sums: ChannelSums) -> ChannelStats:
    return ChannelStats(sums.mean, sums.std, sums.count, sums.images)


def _stats_of_info(info: Any, split: str | None) -> ChannelStats:
    metadata = info.metadata or {}
    known = sorted(metadata.get("mean", {}))
    if split not in known:
        raise ValueError(
            f"The data set's metadata has channel figures for the splits {known} only; for another "
            f"split, or a part of one, give the data set itself. Received: split={split!r}"
        )
    mean, std = (tuple(float(value) for value in metadata[name][split]) for name in ("mean", "std"))
    return ChannelStats(mean, std)  # type: ignore[arg-type]


def _boxes(
    ds: Any, with_label: bool, num_parallel_calls: int | None
) -> Iterator[tuple[NDArray[np.uint8], int]]:
    """Gives the pixels inside each crop box, and the label or 0."""
    import tensorflow as tf

    from kfood_tfds import postprocessing as pp

    _check_examples(ds, ("image", "crop", "label") if with_label else ("image", "crop"))
    crop, decode = pp.CropToBox(), pp.Decode()

    def inside(example: dict[str, Any]) -> tuple[Any, Any]:
        label = example["label"] if with_label else tf.zeros([], tf.int64)
        return decode(crop(example))["image"], label

    # The sums are exact, so the order doesn't matter.
    boxes = ds.map(inside, num_parallel_calls or tf.data.AUTOTUNE, deterministic=False)
    for pixels, label in _progress(boxes.prefetch(tf.data.AUTOTUNE), "Channel statistics"):
        yield pixels, int(label)


def _size_columns(ds: Any) -> tuple[NDArray[Any], ...]:
    import tensorflow as tf

    _check_examples(ds, _SIZE_FEATURES)
    few = ds.map(lambda example: tuple(example[name] for name in _SIZE_FEATURES))
    batches = list(few.batch(1024).prefetch(tf.data.AUTOTUNE).as_numpy_iterator())
    if not batches:
        empty = np.zeros(0, np.int64)
        return empty, empty, np.zeros((0, 4))
    return tuple(np.concatenate(column) for column in zip(*batches, strict=True))


def _progress(ds: Any, description: str) -> Iterator[Any]:
    cardinality = int(ds.cardinality())
    total = cardinality if cardinality >= 0 else None
    bar = tqdm_utils.tqdm(ds.as_numpy_iterator(), desc=description, unit=" images", total=total)
    yield from bar


def _check_examples(ds: Any, names: tuple[str, ...]) -> None:
    spec = getattr(ds, "element_spec", None)
    missing = [name for name in names if not isinstance(spec, Mapping) or name not in spec]
    if missing:
        raise ValueError(
            f"These figures need example dicts with {', '.join(names)}; load the data set without "
            f"as_supervised=True. Received: {type(ds).__name__} without {', '.join(missing)}"
        )
