"""Which examples come how often and in what order: class balance, resampling, index samplers."""

from __future__ import annotations

from typing import Any

from kfood_tfds.sampling.categories import category_of_class as category_of_class
from kfood_tfds.sampling.class_balance import add_weights as add_weights
from kfood_tfds.sampling.class_balance import class_counts as class_counts
from kfood_tfds.sampling.class_balance import class_weights as class_weights
from kfood_tfds.sampling.class_balance import example_weights as example_weights
from kfood_tfds.sampling.index_samplers import Batch as Batch
from kfood_tfds.sampling.index_samplers import IndexSampler as IndexSampler
from kfood_tfds.sampling.index_samplers import Random as Random
from kfood_tfds.sampling.index_samplers import Sequential as Sequential
from kfood_tfds.sampling.index_samplers import Shard as Shard
from kfood_tfds.sampling.index_samplers import Subset as Subset
from kfood_tfds.sampling.keras_data import dataset as dataset
from kfood_tfds.sampling.resampling import balanced_rates as balanced_rates
from kfood_tfds.sampling.resampling import exact_length as exact_length
from kfood_tfds.sampling.resampling import expected_length as expected_length
from kfood_tfds.sampling.resampling import resample as resample
from kfood_tfds.sampling.splitting import split_indices as split_indices
from kfood_tfds.sampling.weighted_samplers import Balanced as Balanced
from kfood_tfds.sampling.weighted_samplers import Weighted as Weighted


def __getattr__(name: str) -> Any:
    """Gives ``PyDataset``, whose module imports Keras, when it is asked for."""
    if name == "PyDataset":
        from kfood_tfds.sampling.py_dataset import PyDataset

        return PyDataset
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
