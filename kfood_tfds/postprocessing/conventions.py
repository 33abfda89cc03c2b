"""The pixel values that the models of keras.applications were trained on."""

from __future__ import annotations

import difflib

from kfood_tfds.postprocessing.values import Scale

_RESNETS = ("ResNet50", "ResNet101", "ResNet152")
_CONVENTIONS = {
    "caffe": (*_RESNETS, "VGG16", "VGG19"),
    "symmetric": (
        *(f"{name}V2" for name in _RESNETS),
        "InceptionResNetV2",
        "InceptionV3",
        "MobileNet",
        "MobileNetV2",
        "NASNetLarge",
        "NASNetMobile",
        "Xception",
    ),
    "imagenet": ("DenseNet121", "DenseNet169", "DenseNet201"),
    # These scale inside the model.
    "none": (
        *(f"ConvNeXt{size}" for size in ("Tiny", "Small", "Base", "Large", "XLarge")),
        *(f"EfficientNetB{number}" for number in range(8)),
        *(f"EfficientNetV2B{number}" for number in range(4)),
        *(f"EfficientNetV2{size}" for size in "SML"),
        "MobileNetV3Large",
        "MobileNetV3Small",
    ),
}


def preprocess_for(model: str) -> Scale:
    """Returns the scaling that a model of ``keras.applications`` expects.

    Args:
        model: Name of the model, such as ``"EfficientNetB3"``. It stands for the model with its
            default ``include_preprocessing``.

    Returns:
        An op; pass it as ``train_pipeline(…, scale=…)``.

    Raises:
        ValueError: If the name is unknown; the message names the nearest one.
    """
    modes = {name: mode for mode, names in _CONVENTIONS.items() for name in names}
    if model in modes:
        return Scale(modes[model])
    lower = {name.lower(): name for name in modes}
    near = difflib.get_close_matches(str(model).lower(), lower, n=1, cutoff=0.6)
    hint = f"; did you mean {lower[near[0]]!r}?" if near else f"; known are {sorted(modes)}."
    raise ValueError(f"Unknown model of keras.applications{hint} Received: model={model!r}")
