"""Scaling by model name, against what keras.applications itself does."""

from __future__ import annotations

import inspect
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp
from kfood_tfds.postprocessing.conventions import _CONVENTIONS

NAMES = sorted(name for names in _CONVENTIONS.values() for name in names)


def module_of(name: str) -> Any:
    if name.startswith("MobileNetV3"):
        return keras.applications.mobilenet_v3
    for module in vars(keras.applications).values():
        if inspect.ismodule(module) and hasattr(module, name):
            return module
    raise AssertionError(f"keras.applications has no {name}")


@pytest.mark.parametrize("name", NAMES)
def test_scaling_is_that_of_the_models_module(name: str) -> None:
    image = np.random.default_rng(0).integers(0, 256, (1, 4, 5, 3)).astype(np.float32)
    expected = module_of(name).preprocess_input(image.copy())
    result = pp.preprocess_for(name)({"image": tf.constant(image)})["image"]
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def test_every_model_of_keras_is_named() -> None:
    models = {
        name
        for name, value in vars(keras.applications).items()
        if inspect.isfunction(value) and name[0].isupper()
    }
    assert models == set(NAMES)


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(ValueError, match="did you mean 'EfficientNetB3'"):
        pp.preprocess_for("efficientnet_b3")
    with pytest.raises(ValueError, match="known are .*ResNet50"):
        pp.preprocess_for("?")
