"""The layer from image bytes, saved inside a model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from kfood_tfds import postprocessing as pp

PREDICT = """
import sys
import keras, numpy as np, tensorflow as tf
import kfood_tfds.postprocessing
model = keras.models.load_model(sys.argv[1])
data = tf.constant([open(path, "rb").read() for path in sys.argv[3:]])
np.save(sys.argv[2], model.predict(data, verbose=0))
"""


# An op of one's own, as a user would write it in a module of theirs.
OWN_OP = """
import dataclasses
import tensorflow as tf
from kfood_tfds import postprocessing as pp

@dataclasses.dataclass(frozen=True)
class Inverted(pp.PixelOp):
    top: float = 255.0

    def apply(self, example):
        return {**example, "image": self.top - tf.cast(example["image"], tf.float32)}
"""
KNOWN = 'custom_objects={"Inverted": Inverted})'


@pytest.fixture(name="files", scope="module")
def _files(tmp_path_factory: Any, photo: Any, encode: Any) -> list[Path]:
    folder = tmp_path_factory.mktemp("photos")
    files = []
    for index, form in enumerate(("JPEG", "PNG", "BMP", "JPEG")):
        path = folder / f"{index}.{form.lower()}"
        path.write_bytes(encode(photo(30 + index, 40 - index, index), form))
        files.append(path)
    return files


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_gives_what_preprocess_gives(files: list[Path], dtype: str) -> None:
    pipeline = pp.train_pipeline(16, dtype=dtype)
    layer = pipeline.as_layer()
    data = tf.constant([path.read_bytes() for path in files])
    expected = np.stack([pipeline.preprocess(path) for path in files])
    np.testing.assert_array_equal(layer(data), expected)
    np.testing.assert_array_equal(layer(data[:, None]), expected)
    assert layer(data).dtype == dtype
    symbolic = layer(keras.Input((), dtype="string"))
    assert symbolic.shape == (None, 16, 16, 3) and symbolic.dtype == dtype


@pytest.fixture(name="own_op")
def _own_op() -> Any:
    names: dict[str, Any] = {"__name__": __name__}
    exec(OWN_OP, names)
    return names["Inverted"]


def test_takes_ops_of_ones_own(files: list[Path], own_op: Any) -> None:
    pipeline = pp.Pipeline((pp.CentralSquare(), pp.Resize(8), own_op(200.0)))
    layer = pipeline.as_layer(name="bytes")
    data = tf.constant([path.read_bytes() for path in files])
    plain = pp.Pipeline((pp.CentralSquare(), pp.Resize(8)))
    expected = np.stack([200.0 - plain.preprocess(path) for path in files])
    np.testing.assert_array_equal(layer(data), expected)
    with keras.saving.custom_object_scope({"Inverted": own_op}):
        again = pp.ImagePreprocessing.from_config(layer.get_config())
    np.testing.assert_array_equal(again(data), expected)
    assert again.get_config() == layer.get_config()


def test_names_the_ops_that_keras_was_not_told_of(own_op: Any) -> None:
    config = pp.Pipeline((pp.Resize(8), own_op())).as_layer().get_config()
    # Keras makes a TypeError of whatever goes wrong in from_config.
    with pytest.raises(TypeError, match=r"custom_objects=\{'Inverted': Inverted\}\)"):
        pp.ImagePreprocessing.from_config(config)
    # Whatever else bears the name isn't taken for the op.
    for wrong in (keras.layers.Dense, lambda: own_op()):
        with (
            keras.saving.custom_object_scope({"Inverted": wrong}),
            pytest.raises(TypeError, match=r"Received: op 'Inverted'"),
        ):
            pp.ImagePreprocessing.from_config(config)


def test_refuses_an_op_named_like_one_of_ours(own_op: Any) -> None:
    class Resize(own_op):  # type: ignore[misc]
        """Another class of the name."""

    with pytest.raises(ValueError, match="rename yours. Received: .*Resize and kfood_tfds"):
        pp.Pipeline((Resize(),)).as_layer()
    config = pp.Pipeline((pp.Resize(8),)).as_layer().get_config()
    with (
        keras.saving.custom_object_scope({"Resize": Resize}),
        pytest.raises(TypeError, match="rename yours"),
    ):
        pp.ImagePreprocessing.from_config(config)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "read from the JSON that to_json"),
        ('{"version": 9, "ops": [{"op": "Resize", "size": 8}]}', "version=9"),
        ('{"version": 9, "ops": [{"op": "Later"}]}', "version=9"),
        ('{"version": 1, "ops": [{"op": 5}]}', "Unknown op 5"),
        ('{"version": 1, "ops": [{"op": "Resize", "bigness": 8}]}', "no field.s. 'bigness'"),
    ],
)
def test_says_what_is_wrong_with_json(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        pp.ImagePreprocessing(text)


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True])
def test_saved_model_predicts_the_same_in_another_process(
    tmp_path: Path, files: list[Path], own_op: Any, own: bool
) -> None:
    pipeline = pp.eval_pipeline(16, scale="symmetric")
    program = PREDICT
    if own:
        pipeline = pp.Pipeline((*pipeline.ops, own_op(1.0)))
        program = OWN_OP + PREDICT.replace("argv[1])", f"argv[1], {KNOWN}")
    inner = keras.Sequential([keras.Input((16, 16, 3)), keras.layers.Flatten()])
    inner.add(keras.layers.Dense(3))
    data = keras.Input((), dtype="string", name="data")
    keras.Model(data, inner(pipeline.as_layer(name="bytes")(data))).save(tmp_path / "m.keras")
    subprocess.run(
        [sys.executable, "-c", program, tmp_path / "m.keras", tmp_path / "out.npy", *files],
        env={"PYTHONPATH": ":".join(sys.path), "CUDA_VISIBLE_DEVICES": "-1"},
        check=True,
    )
    images = np.stack([pipeline.preprocess(path) for path in files])
    expected = inner.predict(images, verbose=0)
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), expected, rtol=1e-5, atol=1e-6)


def test_config_holds_the_pipeline() -> None:
    layer = pp.train_pipeline(16, "window").as_layer(name="bytes")
    again = pp.ImagePreprocessing.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    assert pp.Pipeline.from_json(again.get_config()["pipeline"]).ops == (
        pp.CropToBox(),
        pp.FixedWindow(16, "central"),
        pp.Resize(16, dtype="uint8"),
        pp.Scale("unit"),
    )
