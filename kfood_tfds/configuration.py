"""An experiment's data from one JSON file: change the file, and the experiment is another.

The file's form is ``config.schema.json`` beside this module, which editors can check against too.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import tensorflow_datasets as tfds

from kfood_tfds.raw.errors import KfoodError
from kfood_tfds.split_sizes import split_names, split_size

SCHEMA_FILE = "config.schema.json"

_PRESET = ("size", "crop", "flip", "dtype", "one_hot", "smoothing", "method", "antialias", "margin")
_EVAL_PRESET = tuple(name for name in _PRESET if name not in ("flip", "smoothing"))
_STREAM_SAMPLERS = ("shuffle", "resample")

Config = dict[str, Any]
_T = TypeVar("_T")


class ConfigurationError(KfoodError):
    """A configuration that is no valid JSON, or whose values can't be."""


@dataclasses.dataclass(frozen=True)
class Experiment:
    """What a configuration gives.

    Attributes:
        train: ``tf.data.Dataset`` of training batches ``(images, labels)``, with ``class_weights``
            ``(images, labels, weights)``.
        validation: The same for validation, without chance and weights; None if there is no split
            for it.
        info: The data set's ``tfds.core.DatasetInfo``.
        train_pipeline: What is done to training examples.
        eval_pipeline: What is done to validation examples, and to be done to those of a served
            model.
        config: The configuration with every default filled in.
        place: Name of the file; ``"config"`` for one that was given as a dict.
    """

    train: Any
    validation: Any
    info: Any
    train_pipeline: Any
    eval_pipeline: Any
    config: Config
    place: str


def load(config: str | os.PathLike[str] | Mapping[str, Any]) -> Experiment:
    """Loads the training and validation batches that a configuration describes.

    Args:
        config: Path of the JSON file, or its content as a dict. See ``config.schema.json``; the
            least is ``{"dataset": {"name": "kfood/sample"}, "pipeline": {"size": 96},
            "batch_size": 32}``.

    Returns:
        The batches and what they were made with.

    Raises:
        ConfigurationError: If the file can't be read or isn't valid. Every fault is named by its
            place in the file, such as ``sampler.weights``.
        KfoodError: If the data set can't be built or read.
    """
    place, folder, content = _read(config)
    filled = with_defaults(content, place)
    named = functools.partial(_named, place)
    builder = named("dataset", lambda: _builder(filled["dataset"], folder))
    _check_splits(builder, filled["dataset"], named)
    pipelines = _pipelines(filled["pipeline"], builder, filled["dataset"], named)
    train_pipeline, eval_pipeline = pipelines
    train = _train_batches(filled, builder, train_pipeline, named)
    validation = None
    if filled["dataset"]["validation"] is not None:
        stream = _stream(builder, filled["dataset"]["validation"])
        validation = eval_pipeline.batches(stream, filled["batch_size"])
    return Experiment(train, validation, builder.info, train_pipeline, eval_pipeline, filled, place)


def _jsonschema() -> Any:
    try:
        return importlib.import_module("jsonschema")
    except ImportError as error:
        raise ConfigurationError(
            'Configuration files are checked by jsonschema: pip install "kfood-tfds[config]".'
        ) from error


def with_defaults(config: Mapping[str, Any], place: str = "config") -> Config:
    """Checks a configuration against the schema and fills in its defaults.

    Args:
        config: The configuration; left as it is.
        place: What to call it in errors.

    Raises:
        ConfigurationError: If it isn't valid; names every fault by its place.
    """
    jsonschema = _jsonschema()
    schema = load_schema()
    validator = jsonschema.Draft202012Validator(schema)
    faults = sorted(validator.iter_errors(config), key=lambda fault: list(map(str, fault.path)))
    if faults:
        raise ConfigurationError(
            "\n".join(f"{place}: {_words(fault)}" for fault in faults)
            + f"\nThe form of a configuration is described in {_schema_path()}."
        )
    filled = _filled(config, schema)
    sampler = filled["sampler"]
    for branch in schema["properties"]["sampler"]["allOf"]:
        if jsonschema.Draft202012Validator(branch["if"]).is_valid(sampler):
            filled["sampler"] = _filled(sampler, branch["then"])
    return filled


def load_schema() -> Config:
    """Returns the JSON schema of a configuration."""
    schema: Config = json.loads(_schema_path().read_text(encoding="utf-8"))
    return schema


def _schema_path() -> Path:
    return Path(__file__).with_name(SCHEMA_FILE)


def _read(
    config: str | os.PathLike[str] | Mapping[str, Any],
) -> tuple[str, Path, Mapping[str, Any]]:
    if isinstance(config, Mapping):
        return "config", Path(), config
    path = Path(config)
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(
            f"The configuration {str(path)!r} can't be read; give a JSON file ({error})."
        ) from error
    except ValueError as error:
        raise ConfigurationError(f"{path} must be JSON in UTF-8; correct it: {error}.") from error
    if not isinstance(content, dict):
        raise ConfigurationError(
            f"{path} must hold a JSON object. Received: {type(content).__name__}"
        )
    return str(path), path.parent, content


def _words(fault: Any) -> str:
    """Says what is wrong in one line that begins with the place in the file."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault.path)
    where = f"{path.lstrip('.')}: " if path else ""
    if fault.validator == "additionalProperties":
        known = sorted(fault.schema["properties"])
        unknown = sorted(set(fault.instance) - set(known))
        return f"{where}unknown key(s) {', '.join(unknown)}; known are {', '.join(known)}."
    if fault.validator == "required":
        missing = [name for name in fault.validator_value if name not in fault.instance]
        return f"{where}the key(s) {', '.join(missing)} must be there."
    if fault.validator == "enum":
        choices = ", ".join(json.dumps(choice) for choice in fault.validator_value)
        return f"{where}must be one of {choices}. Received: {_shown(fault.instance)}"
    if fault.validator == "type":
        types = fault.validator_value
        wanted = types if isinstance(types, str) else " or ".join(types)
        return f"{where}must be of type {wanted}. Received: {_shown(fault.instance)}"
    if fault.validator == "anyOf":
        options = "; or ".join(_words(_deepest(branch)) for branch in _branches(fault))
        return f"{where}{options}"
    return f"{where}{fault.message}."


def _branches(fault: Any) -> list[list[Any]]:
    by_branch: dict[int, list[Any]] = {}
    for inner in fault.context:
        by_branch.setdefault(inner.schema_path[0], []).append(inner)
    return [by_branch[number] for number in sorted(by_branch)]


def _deepest(faults: list[Any]) -> Any:
    return max(faults, key=lambda fault: len(fault.path))


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _filled(config: Mapping[str, Any], schema: Mapping[str, Any]) -> Config:
    """Returns the object with the schema's defaults, at every level."""
    result = dict(config)
    for name, rule in schema["properties"].items():
        if not isinstance(rule, Mapping):
            continue
        if name not in result and "default" in rule:
            result[name] = json.loads(json.dumps(rule["default"]))
        if "properties" in rule and isinstance(result.get(name), Mapping):
            result[name] = _filled(result[name], rule)
    return result


def _named(place: str, path: str, make: Callable[[], _T]) -> _T:
    """Puts the place in the file before the message of a ValueError."""
    try:
        return make()
    except ConfigurationError:
        raise
    except ValueError as error:
        raise ConfigurationError(f"{place}: {path}: {error}") from error


def _builder(dataset: Config, folder: Path) -> Any:
    data_dir = dataset["data_dir"]
    if data_dir is not None and "://" not in data_dir:
        data_dir = str(folder / Path(data_dir).expanduser())
    try:
        builder = tfds.builder(dataset["name"], data_dir=data_dir)
    except tfds.core.registered.DatasetNotFoundError as error:
        # TFDS goes on to list all of its hundreds of data sets.
        raise ValueError(f"{str(error).splitlines()[0]} Received: {dataset['name']!r}") from error
    manual = dataset["manual_dir"]
    manual = None if manual is None else str(folder / Path(manual).expanduser())
    # Does nothing where the data set is there already.
    builder.download_and_prepare(download_config=tfds.download.DownloadConfig(manual_dir=manual))
    return builder


def _check_splits(builder: Any, dataset: Config, named: Any) -> None:
    for key in ("train", "validation"):
        if dataset[key] is not None:
            named(f"dataset.{key}", functools.partial(split_size, builder.info, dataset[key]))


def _pipelines(settings: Config, builder: Any, dataset: Config, named: Any) -> tuple[Any, Any]:
    from kfood_tfds import postprocessing as pp
    from kfood_tfds.postprocessing import catalogue
    from kfood_tfds.postprocessing.ops import from_config

    scale: Any = settings["scale"]
    if scale == "dataset":
        names = split_names(dataset["train"])
        split = names[0] if len(names) == 1 else dataset["train"]
        scale = named("pipeline.scale", lambda: pp.Normalize.from_info(builder.info, split))
    augment = [
        named(f"pipeline.augment[{number}]", functools.partial(from_config, op, catalogue.OPS))
        for number, op in enumerate(settings["augment"])
    ]
    fixed = {"scale": scale, "num_classes": builder.info.features["label"].num_classes}
    chosen = {name: settings[name] for name in _PRESET}
    train = named("pipeline", lambda: pp.train_pipeline(**chosen, **fixed, augment=augment))
    chosen = {name: settings[name] for name in _EVAL_PRESET}
    return train, named("pipeline", lambda: pp.eval_pipeline(**chosen, **fixed))


def _train_batches(config: Config, builder: Any, pipeline: Any, named: Any) -> Any:
    from kfood_tfds import sampling

    split = config["dataset"]["train"]
    weights = None
    if config["class_weights"] is not None:
        counts = named("class_weights", lambda: _counts(builder, split))
        weights = sampling.class_weights(counts, scheme=config["class_weights"])
    shared = {
        "seed": config["seed"],
        "epochs": config["epochs"],
        "drop_remainder": config["drop_remainder"],
        "sample_weights": weights,
    }
    if config["sampler"]["name"] in _STREAM_SAMPLERS:
        stream = _stream(builder, split)
        if config["sampler"]["name"] == "resample":
            stream = named("sampler", lambda: _resampled(stream, config, builder))
        size = config["batch_size"]
        return named("batch_size", lambda: pipeline.batches(stream, size, shuffle=True, **shared))
    source = named("dataset", lambda: _source(builder, split))
    sampler = named("sampler", lambda: _sampler(source, config))
    return named(
        "batch_size",
        lambda: sampling.dataset(source, sampler, pipeline, config["batch_size"], **shared),
    )


def _stream(builder: Any, split: str) -> Any:
    from kfood_tfds.postprocessing import SKIP_DECODING

    # Cached, TFDS would keep a small data set in memory as it was in the first epoch.
    read_config = tfds.ReadConfig(try_autocache=False)
    return builder.as_dataset(split, decoders=SKIP_DECODING, read_config=read_config)


def _source(builder: Any, split: str) -> Any:
    from kfood_tfds.sources import RandomAccess

    return RandomAccess(str(builder.data_dir), split, "encoded")


def _counts(builder: Any, split: str) -> Any:
    from kfood_tfds import sampling

    if split in (builder.info.metadata or {}).get("class_counts", {}):
        return sampling.class_counts(builder.info, split)
    return sampling.class_counts(
        _stream(builder, split), num_classes=builder.info.features["label"].num_classes
    )


def _resampled(stream: Any, config: Config, builder: Any) -> Any:
    from kfood_tfds import sampling
    from kfood_tfds.sampling.categories import default_categories

    settings, split = config["sampler"], config["dataset"]["train"]
    counts, categories = _counts(builder, split), None
    if settings["rates"] == "balanced_categories":
        categories = default_categories(stream, builder.info, len(counts))
    return sampling.resample(
        stream,
        settings["rates"],
        config["seed"],
        counts=counts,
        length=settings["length"],
        categories=categories,
    )


def _sampler(source: Any, config: Config) -> Any:
    from kfood_tfds import sampling

    settings, seed = config["sampler"], config["seed"]
    if settings["name"] == "sequential":
        return sampling.Sequential(source)
    if settings["name"] == "random":
        return sampling.Random(source, settings["replacement"], settings["num_samples"], seed)
    if settings["name"] == "balanced":
        categories = sampling.category_of_class(source) if settings["categories"] else None
        return sampling.Balanced(source, settings["per_class"], categories, seed)
    labels, weights = source.column("label"), settings["weights"]
    if isinstance(weights, str):
        classes = source.info.features["label"].num_classes
        counts = np.bincount(labels, minlength=classes)
        weights = sampling.class_weights(counts, scheme=weights)
    else:
        weights = dict(enumerate(weights))
    return sampling.Weighted(
        sampling.example_weights(labels, weights),
        settings["num_samples"] or len(source),
        settings["replacement"],
        seed,
    )
