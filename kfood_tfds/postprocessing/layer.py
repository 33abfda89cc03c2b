"""A Keras layer that takes raw image bytes, saved inside the model."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from kfood_tfds.postprocessing.pipeline import Pipeline
from kfood_tfds.postprocessing.serving import example_of


@keras.saving.register_keras_serializable(package="kfood_tfds")
class ImagePreprocessing(keras.layers.Layer):
    """Decodes and prepares images as ``Pipeline.preprocess`` does; needs the TensorFlow backend.

    The input is a batch of encoded images, strings of shape (batch,) or (batch, 1); the output
    (batch, height, width, 3). The pipeline is saved with the model, as its JSON. To load the model,
    import ``kfood_tfds.postprocessing`` first.
    """

    def __init__(self, pipeline: str, **kwargs: Any) -> None:
        """Builds the layer.

        Args:
            pipeline: The pipeline's JSON.
            **kwargs: Those of ``keras.layers.Layer``.

        Raises:
            ValueError: If the JSON is invalid, or Keras runs on another backend.
        """
        if keras.backend.backend() != "tensorflow":
            raise ValueError(
                "ImagePreprocessing takes strings, which only Keras's TensorFlow backend has; call "
                "Pipeline.preprocess outside of the model instead. "
                f"Received: backend {keras.backend.backend()!r}"
            )
        super().__init__(**kwargs)
        self._pipeline = Pipeline.from_json(pipeline).serving()
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
        return {**super().get_config(), "pipeline": self._pipeline.to_json()}
