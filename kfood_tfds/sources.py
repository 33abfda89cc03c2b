"""Examples by number: a built data set as a sequence, for torch, Grain, Keras and plain Python.

Rests on TFDS's data source over ArrayRecord files. Reading loads no TensorFlow, which keeps worker
processes small and quick to start.
"""

from __future__ import annotations

import importlib.util
import io
import operator
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self, SupportsIndex, overload

import numpy as np
import tensorflow_datasets as tfds
from numpy.typing import NDArray
from PIL import Image

from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.split_sizes import split_size

IMAGE_FORMS = ("decoded", "encoded")

_ARRAY_RECORD = "array_record"
_READ_AT_ONCE = 256

Example = dict[str, Any]
Transform = Callable[[Example], Any]


class SourceError(KfoodError):
    """A data set is not there, or not in a format with random access."""


class RandomAccess(Sequence[Any]):
    """A split of a built data set as a sequence of example dicts.

    ``source[i]`` is one example; ``source[[i, j, k]]``, ``source[i:j]`` and ``source[mask]``, with
    bool[len(source)], are lists of examples that are read in one go. An example is a dict with the
    features' numpy values; ``id`` is a ``str``. Pickling takes the place of the files, not what
    they hold, and each process opens them for itself; a source can be shared by threads.

    Attributes:
        directory: Folder of the shards.
        split: Name of the split, or a part of one such as ``"train[:10%]"``.
        image: ``"decoded"``: uint8[height, width, 3], by Pillow. ``"encoded"``: the stored bytes.
        transform: What is done to each example on its way out, or None.
    """

    def __init__(
        self,
        directory: str,
        split: str,
        image: str = "decoded",
        transform: Transform | None = None,
    ) -> None:
        """Opens the files; see ``random_access`` for a source by name.

        Raises:
            SourceError: If the folder has no data set with random access, or no such split, or
                that has no example.
            ValueError: If ``image`` is none of the two.
        """
        if image not in IMAGE_FORMS:
            raise ValueError(f"image must be one of {IMAGE_FORMS}. Received: image={image!r}")
        self.directory = str(directory)
        self.split = split
        self.image = image
        self.transform = transform
        self._open()

    def _open(self) -> None:
        _check_array_record()
        builder = tfds.builder_from_directory(self.directory)
        self.info: tfds.core.DatasetInfo = builder.info
        self._columns: dict[str, NDArray[Any]] = {}
        formats = {item.value for item in builder.info.available_file_formats()}
        if _ARRAY_RECORD not in formats:
            raise SourceError(
                "Random access takes ArrayRecord files; "
                "kfood_tfds.sources.convert_to_array_record puts them beside the others, once. "
                f"Received: {self.directory} with {', '.join(sorted(formats))} files"
            )
        try:
            split_size(builder.info, self.split)
        except ValueError as error:
            raise SourceError(f"{self.directory}: {error}") from error
        raw = tfds.decode.DeserializeMethod.RAW_BYTES
        self._records = builder.as_data_source(
            self.split, deserialize_method=raw, file_format=_ARRAY_RECORD
        )

    def __getstate__(self) -> dict[str, Any]:
        """Returns where the data is, for pickling."""
        names = ("directory", "split", "image", "transform")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Opens the files anew."""
        self.__dict__.update(state)
        self._open()

    def __repr__(self) -> str:
        """Names the place, the split and the number of examples."""
        return f"RandomAccess({self.directory!r}, {self.split!r}, {self.image!r}, len={len(self)})"

    def __len__(self) -> int:
        """Returns the number of examples."""
        return len(self._records)

    @overload
    def __getitem__(self, key: SupportsIndex) -> Any: ...

    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[np.integer[Any]]) -> list[Any]: ...

    def __getitem__(
        self, key: SupportsIndex | slice | Sequence[int] | NDArray[np.integer[Any]]
    ) -> Any:
        """Returns one example, or a list of those at a slice, at several indices or in a mask.

        Raises:
            IndexError: If an index lies outside -len..len-1, or a mask has another length.
            TypeError: If the indices are neither whole numbers nor a mask.
        """
        if isinstance(key, slice):
            return self.__getitems__(range(*key.indices(len(self))))
        if isinstance(key, SupportsIndex) and not (isinstance(key, np.ndarray) and key.ndim):
            return self._finished(self.records([operator.index(key)])[0])
        return self.__getitems__(key)

    def __getitems__(self, keys: Sequence[int] | NDArray[np.integer[Any]]) -> list[Any]:
        """Returns the examples at several indices; torch's and Grain's way to read a batch."""
        return [self._finished(record) for record in self.records(keys)]

    def __iter__(self) -> Iterator[Any]:
        """Gives all examples in their order."""
        for start in range(0, len(self), _READ_AT_ONCE):
            stop = min(start + _READ_AT_ONCE, len(self))
            for record in self.records(range(start, stop)):
                yield self._finished(record)

    def records(self, keys: Sequence[int] | NDArray[np.integer[Any]]) -> list[bytes]:
        """Returns the serialised examples at several indices, read in one go.

        Raises:
            IndexError: If an index lies outside -len..len-1, or a mask has another length.
            TypeError: If the indices are neither whole numbers nor a mask.
        """
        length = len(self)
        indices = _whole_numbers(keys, length)
        outside = (indices < -length) | (indices >= length)
        if outside.any():
            raise IndexError(
                f"Indices must be in {-length}..{length - 1}. Received: {int(indices[outside][0])}"
            )
        # The reader takes no empty list.
        if not indices.size:
            return []
        return list(self._records.__getitems__((indices % length).tolist()))

    def column(self, name: str) -> NDArray[Any]:
        """Returns one feature of all examples in their order; see ``columns``."""
        return self.columns(name)[name]

    def columns(self, *names: str) -> dict[str, NDArray[Any]]:
        """Returns features of all examples in their order, as arrays by name.

        The first call for a feature reads the split once from end to end without decoding images.

        Raises:
            SourceError: If there is no such feature.
        """
        features = self.info.features
        unknown = [name for name in names if name not in features]
        if unknown:
            raise SourceError(
                f"The data set has the features {sorted(features)}. Received: {', '.join(unknown)}"
            )
        missing = [name for name in names if name not in self._columns]
        if missing:
            few = tfds.features.FeaturesDict({name: features[name] for name in missing})
            found: dict[str, list[Any]] = {name: [] for name in missing}
            for start in range(0, len(self), _READ_AT_ONCE):
                keys = range(start, min(start + _READ_AT_ONCE, len(self)))
                for record in self.records(keys):
                    for feature, value in _read(record, few).items():
                        found[feature].append(value)
            self._columns.update({name: np.asarray(values) for name, values in found.items()})
        return {name: self._columns[name] for name in names}

    def with_transform(self, transform: Transform | None) -> Self:
        """Returns a source that hands out ``transform(example)``, in place of any transform before.

        Args:
            transform: A function of the example dict, at module level if worker processes are to
                have it; or None for the example itself.
        """
        return type(self)(self.directory, self.split, self.image, transform)

    def encoded(self) -> Self:
        """Returns a source of the same examples with their images as stored bytes."""
        return type(self)(self.directory, self.split, "encoded", self.transform)

    def _finished(self, record: bytes) -> Any:
        example = _read(record, self.info.features)
        if self.image == "decoded" and "image" in example:
            example["image"] = decode_image(example["image"])
        return example if self.transform is None else self.transform(example)


def random_access(
    name: str = "kfood",
    split: str = "train",
    data_dir: str | None = None,
    image: str = "decoded",
) -> RandomAccess:
    """Returns a split of a built data set as a sequence.

    Args:
        name: Name of the data set and its config, such as ``"kfood/320px"``.
        split: Name of the split, or a part of one such as ``"train[:10%]"``.
        data_dir: TFDS's data folder; by default TFDS's own default.
        image: ``"decoded"``: uint8[height, width, 3], by Pillow. ``"encoded"``: the stored bytes.

    Raises:
        SourceError: If the data set is not built, or not as ArrayRecord files.
    """
    return RandomAccess(built_directory(name, data_dir), split, image)


def convert_to_array_record(name: str = "kfood", data_dir: str | None = None) -> str:
    """Puts ArrayRecord files beside the TFRecord files of a finished build, once.

    The copy is made by TFDS's own converter, of the serialised examples as they are.
    ``random_access`` then finds it under the same name and data folder, and ``tfds.load`` goes on
    reading the TFRecord files. An interrupted conversion goes on where it stopped when called
    again.

    Args:
        name: Name of the data set and its config, such as ``"kfood/320px"``.
        data_dir: TFDS's data folder; by default TFDS's own default.

    Returns:
        The folder that now holds both.

    Raises:
        SourceError: If the data set is not built, what the converter needs is not installed, or it
            has left files missing.
    """
    directory = built_directory(name, data_dir)
    _check_array_record()
    if _has_array_record(directory):
        return directory
    if importlib.util.find_spec("apache_beam") is None:
        raise SourceError(
            "TFDS's converter imports apache_beam, which is not installed. "
            "pip install 'kfood-tfds[tfds-cli]', or build with --file_format=array_record."
        )
    from tensorflow_datasets.scripts.cli import convert_format_utils

    convert_format_utils.convert_dataset(
        out_dir=None,
        out_file_format=_ARRAY_RECORD,
        dataset_version_dir=directory,
        # With more workers the converter drops the errors of its threads.
        num_workers=1,
        fail_on_error=True,
    )
    if not _has_array_record(directory):
        raise SourceError(
            "TFDS's converter has not entered the ArrayRecord files in dataset_info.json; delete "
            f"the files *.{_ARRAY_RECORD}-* and convert again. Received: {directory}"
        )
    return directory


def collate(examples: Sequence[Any], channels_first: bool = False) -> Any:
    """Stacks examples to a batch of torch tensors, for ``DataLoader(collate_fn=…)``.

    Args:
        examples: Dicts, tuples or single values, all alike: arrays, numbers or strings.
        channels_first: Whether to turn arrays [height, width, channels] to [channels, height,
            width].

    Returns:
        The same structure with a tensor [n, …] in place of arrays and numbers, a list of strings
        in place of strings.

    Raises:
        ValueError: If arrays that belong together differ in shape.
    """
    first = examples[0]
    if isinstance(first, dict):
        return {
            key: collate([example[key] for example in examples], channels_first) for key in first
        }
    if isinstance(first, tuple):
        columns = zip(*examples, strict=True)
        return tuple(collate(column, channels_first) for column in columns)
    if isinstance(first, str | bytes):
        return list(examples)
    import torch

    arrays = [np.asarray(example) for example in examples]
    shapes = sorted({array.shape for array in arrays})
    if len(shapes) > 1:
        raise ValueError(
            "Images of one batch must have one size; resize them in source.with_transform(…). "
            f"Received: shapes {shapes[:5]}"
        )
    batch = np.stack(arrays)
    if channels_first and batch.ndim == 4:
        batch = np.ascontiguousarray(batch.transpose(0, 3, 1, 2))
    return torch.from_numpy(batch)


def decode_image(data: bytes) -> NDArray[np.uint8]:
    """Decodes stored image bytes with Pillow to uint8[height, width, 3]."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


def _whole_numbers(keys: Any, length: int) -> NDArray[np.int64]:
    """Returns indices, or the places where a mask is true, as int64[n]."""
    array = np.asarray(keys)
    if array.dtype == np.bool_ and array.ndim == 1:
        if len(array) != length:
            raise IndexError(
                f"A mask must have an entry for each of the {length} examples. "
                f"Received: {len(array)} entries"
            )
        return np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(
            "Several examples are named by a list or an array of whole numbers, or by a mask, "
            f"bool[{length}]. Received: {array.dtype}{list(array.shape)} {array.ravel()[:5]}"
        )
    return array.astype(np.int64)


def built_directory(name: str, data_dir: str | None) -> str:
    """Returns the folder of a built data set.

    Raises:
        SourceError: If it is unknown or not built.
    """
    try:
        builder = tfds.builder(name, data_dir=data_dir)
    except tfds.core.registered.DatasetNotFoundError as error:
        # TFDS goes on to list all of its hundreds of data sets.
        reason = str(error).splitlines()[0]
        raise SourceError(
            f"{reason} Import kfood_tfds, or give the data_dir that has it. "
            f"Received: name={name!r}, data_dir={data_dir!r}"
        ) from error
    if not builder.info.splits:
        raise SourceError(
            f"{name} is not built in {builder.data_dir}. Build it: tfds build {name} "
            "--imports=kfood_tfds --file_format=array_record, with --data_dir and --manual_dir. "
            f"Received: name={name!r}, data_dir={data_dir!r}"
        )
    directory = str(builder.data_dir)
    # TFDS's converter loses its way from a relative path; so would a worker in another folder.
    return directory if "://" in directory else os.path.abspath(directory)


def _has_array_record(directory: str) -> bool:
    formats = tfds.builder_from_directory(directory).info.available_file_formats()
    return _ARRAY_RECORD in {item.value for item in formats}


def _check_array_record() -> None:
    if importlib.util.find_spec("array_record") is None:
        raise SourceError(
            "Random access needs the package array_record, which exists for Linux and macOS. "
            "pip install 'kfood-tfds[array-record]'."
        )


def _skip_images(features: Any) -> dict[str, Any]:
    return {
        name: tfds.decode.SkipDecoding()
        for name, feature in features.items()
        if isinstance(feature, tfds.features.Image)
    }


def _read(record: bytes, features: Any) -> Example:
    """Returns an example with texts as str, where TFDS gives bytes, and images as stored."""
    example = features.deserialize_example_np(record, decoders=_skip_images(features))
    return {
        name: value.decode() if isinstance(features[name], tfds.features.Text) else value
        for name, value in example.items()
    }
