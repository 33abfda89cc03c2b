"""From encoded examples to what ``model.fit`` takes; by custom imported as ``pp``."""

from __future__ import annotations

import tensorflow_datasets as tfds

from kfood_tfds.postprocessing.auto_augment import RandAugment as RandAugment
from kfood_tfds.postprocessing.auto_augment import TrivialAugmentWide as TrivialAugmentWide
from kfood_tfds.postprocessing.color import ColorJitter as ColorJitter
from kfood_tfds.postprocessing.color import Grayscale as Grayscale
from kfood_tfds.postprocessing.conventions import preprocess_for as preprocess_for
from kfood_tfds.postprocessing.erasing import RandomErasing as RandomErasing
from kfood_tfds.postprocessing.geometry import RandomRotation as RandomRotation
from kfood_tfds.postprocessing.layer import ImagePreprocessing as ImagePreprocessing
from kfood_tfds.postprocessing.mix import CutMix as CutMix
from kfood_tfds.postprocessing.mix import MixUp as MixUp
from kfood_tfds.postprocessing.ops import BatchOp as BatchOp
from kfood_tfds.postprocessing.ops import Op as Op
from kfood_tfds.postprocessing.ops import PixelOp as PixelOp
from kfood_tfds.postprocessing.ops import RandomOp as RandomOp
from kfood_tfds.postprocessing.ops import RandomPixelOp as RandomPixelOp
from kfood_tfds.postprocessing.options import BatchOptions as BatchOptions
from kfood_tfds.postprocessing.pipeline import Pipeline as Pipeline
from kfood_tfds.postprocessing.pixels import Decode as Decode
from kfood_tfds.postprocessing.pixels import MultiCrop as MultiCrop
from kfood_tfds.postprocessing.pixels import RandomFlip as RandomFlip
from kfood_tfds.postprocessing.pixels import Resize as Resize
from kfood_tfds.postprocessing.presets import eval_pipeline as eval_pipeline
from kfood_tfds.postprocessing.presets import train_pipeline as train_pipeline
from kfood_tfds.postprocessing.testing import as_dataset_fn as as_dataset_fn
from kfood_tfds.postprocessing.testing import fake_examples as fake_examples
from kfood_tfds.postprocessing.training import AlignEpochs as AlignEpochs
from kfood_tfds.postprocessing.training import average_crops as average_crops
from kfood_tfds.postprocessing.values import Normalize as Normalize
from kfood_tfds.postprocessing.values import OneHot as OneHot
from kfood_tfds.postprocessing.values import Scale as Scale
from kfood_tfds.postprocessing.windows import CentralSquare as CentralSquare
from kfood_tfds.postprocessing.windows import CropToBox as CropToBox
from kfood_tfds.postprocessing.windows import FixedWindow as FixedWindow
from kfood_tfds.postprocessing.windows import RandomResizedCrop as RandomResizedCrop
from kfood_tfds.postprocessing.windows import RandomSquare as RandomSquare

SKIP_DECODING = {"image": tfds.decode.SkipDecoding()}
