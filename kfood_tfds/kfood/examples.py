"""From a stored image to a TFDS example."""

from __future__ import annotations

from typing import Any

import tensorflow_datasets as tfds

from kfood_tfds.raw.stored_images import StoredImage

Example = dict[str, Any]


def keyed_example(image: StoredImage) -> tuple[str, Example]:
    """Returns an image's id and its example."""
    return image.row.id, example_of(image)


def example_of(image: StoredImage) -> Example:
    """Returns one TFDS example, before encoding."""
    row, box = image.row, image.box
    return {
        "image": image.data,
        "label": row.label,
        "category": row.category,
        "crop": tfds.features.BBox(
            ymin=box.ymin / image.height,
            xmin=box.xmin / image.width,
            ymax=box.ymax / image.height,
            xmax=box.xmax / image.width,
        ),
        "crop_status": row.crop_status,
        "height": image.height,
        "width": image.width,
        "id": row.id,
        "group": row.group,
    }
