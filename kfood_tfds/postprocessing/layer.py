"""A Keras layer that takes raw image bytes, saved inside the model."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf

from kfood_tfds.postprocessing.catalogue import OPS
from kfood_tfds.postprocessing.ops import Op, UnknownOp
from kfood_tfds.postprocessing.pipeline import Pipeline
from kfood_tfds.postprocessing.serving import example_of


@keras.saving.register_keras_serializable(package="kfood_tfds")
class ImagePreprocessing(keras.layers.Layer):
    """Decodes and prepares images as ``Pipeline.preprocess`` does; needs the TensorFlow backend.

    The input is a batch of encoded images, strings of shape (batch,) or (batch, 1); the output
    (batch, height, width, 3). The pipeline is saved with the model, as its JSON. To load the model,
    import ``kfood_tfds.postprocessing`` first, and name the ops of your own that are in it:
    ``keras.models.load_model(path, custom_objects={"MyOp": MyOp})``.
    """

    def __init__(self, pipeline: Pipeline | str, **kwargs: Any) -> None:
        """Builds the layer.

        Args:
            pipeline: The pipeline, or its JSON.
            **kwargs: Those of ``keras.layers.Layer``.

        Raises:
            ValueError: If the JSON is invalid or names an op that neither this package nor Keras
                knows, if the pipeline can't be written as JSON, or if Keras runs on another
                backend.
        """
        if keras.backend.backend() != "tensorflow":
            raise ValueError(
                "ImagePreprocessing takes strings, which only Keras's TensorFlow backend has; call "
                "Pipeline.preprocess outside of the model instead. "
                f"Received: backend {keras.backend.backend()!r}"
            )
        super().__init__(**kwargs)
        whole = _from_json(pipeline) if isinstance(pipeline, str) else pipeline
        self._pipeline = whole.serving()
        # Here, as a model that can't be saved is noticed too late, after its training.
        self._json = self._pipeline.to_json()
        spec = tf.TensorSpec([], tf.string)
        traced = tf.function(self._one).get_concrete_function(spec)
        self._output = tf.TensorSpec(traced.output_shapes, traced.output_dtypes)

    def _one(self, data: Any) -> Any:
        return self._pipeline({**example_of(b""), "image": data})["image"]

    def call(self, inputs: Any) -> Any:
        """Returns the prepared images."""
        flat = tf.reshape(inputs, [-1])
        return tf.map_fn(self._one, flat, fn_output_signature=self._output)

    def compute_output_spec(self, inputs: Any) -> Any:
        """Returns shape and dtype of the prepared images."""
        shape = (inputs.shape[0], *self._output.shape)
        return keras.KerasTensor(shape, dtype=self._output.dtype.name)

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return {**super().get_config(), "pipeline": self._json}


def _from_json(text: str) -> Pipeline:
    own = _own_ops(text)
    try:
        return Pipeline.from_json(text, extra_ops=tuple(own.values()))
    except UnknownOp as error:
        unknown = sorted(_op_names(text) - set(OPS) - set(own))
        if not unknown:  # The name is no string.
            raise
        objects = ", ".join(f"{name!r}: {name}" for name in unknown)
        raise ValueError(
            "Ops of your own in a saved model must be made known to Keras: "
            f"keras.models.load_model(path, custom_objects={{{objects}}}). "
            f"Received: op {unknown[0]!r}"
        ) from error


def _own_ops(text: str) -> Mapping[str, type[Op]]:
    """Returns those ops in a pipeline's JSON that Keras has been told of."""
    found = {name: keras.saving.get_registered_object(name) for name in _op_names(text)}
    return {name: op for name, op in found.items() if inspect.isclass(op) and issubclass(op, Op)}


def _op_names(text: str) -> set[str]:
    """Returns the names of all ops in a pipeline's JSON, also of those inside others."""
    names: set[str] = set()

    def note(config: dict[str, Any]) -> dict[str, Any]:
        if isinstance(config.get("op"), str):
            names.add(config["op"])
        return config

    try:
        json.loads(text, object_hook=note)
    except (ValueError, RecursionError):
        # What is wrong with it is for Pipeline.from_json to say.
        return set()
    return names
