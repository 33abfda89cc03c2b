"""What ``model.fit`` needs beside the batches."""

from __future__ import annotations

from typing import Any

import keras


class AlignEpochs(keras.callbacks.Callback):
    """Makes the data's epochs those of ``model.fit``, so that a restarted training goes on exactly.

    For ``batches`` without ``epochs``. With ``keras.callbacks.BackupAndRestore`` beside it, a
    training that was killed in epoch k begins with the data of epoch k again, in the same order and
    with the same augmentation, as does ``model.fit(initial_epoch=k)``.
    """

    def __init__(self, batches: Any) -> None:
        """Takes the data set.

        Args:
            batches: What ``Pipeline.batches`` returned, before any other map.

        Raises:
            ValueError: If it doesn't count epochs: it is not from ``batches``, is one long data set
                (``epochs=``), or has the same batches every time.
        """
        super().__init__()
        if not hasattr(batches, "position"):
            raise ValueError(
                "AlignEpochs needs the data set that batches() returned without epochs= for a "
                f"shuffled or random pipeline. Received: batches={batches!r}"
            )
        self._position = batches.position
        self._steps = int(batches.cardinality())

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        """Sets the data's epoch."""
        del logs
        self._position.assign(epoch * self._steps)


def average_crops(model: Any, crops: int = 5) -> Any:
    """Returns a model that averages a model's predictions over the crops of ``MultiCrop``.

    Args:
        model: A Keras model of one input, (batch, height, width, 3), and one output.
        crops: Number of crops of an image.

    Returns:
        A Keras model that takes (batch, crops, height, width, 3), sharing the weights.
    """
    single = tuple(model.input_shape[1:])
    inputs = keras.Input((crops, *single))
    flat = keras.ops.reshape(inputs, (-1, *single))
    outputs = model(flat)
    apart = keras.ops.reshape(outputs, (-1, crops, *outputs.shape[1:]))
    return keras.Model(inputs, keras.ops.mean(apart, axis=1), name=f"{model.name}_crops")
