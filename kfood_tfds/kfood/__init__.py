"""The TFDS data set `kfood`."""

from kfood_tfds.kfood.configs import KfoodConfig as KfoodConfig
from kfood_tfds.kfood.kfood_dataset_builder import Builder as Builder

__all__ = ["Builder", "KfoodConfig"]
