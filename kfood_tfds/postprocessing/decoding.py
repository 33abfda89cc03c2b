"""From image bytes and a pending window to pixels.

A window is int32[4] ``(y, x, height, width)`` in pixels of the image under ``"image"``; int32[n, 4]
are several of one size. JPEGs are decoded inside the window only. TensorFlow's default DCT is used
throughout, because ``tf.io.decode_image``, and so TFDS, offers no other: pixels are the same
whether TFDS decodes or this module.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

IMAGE = "image"
# Not a name that a feature of a data set might have.
WINDOW = "pending window"
# What it comes to in a JPEG, where it was worked out ahead; see jpeg_cut.
CUT = "pending window/jpeg"
# What stands in for ``decode`` where the image is something else than its bytes; see mapped_pixels.
READER = "pending window/reader"

# libjpeg interpolates chroma between columns, and not at all in images narrower than five columns.
# A window decoded alone lacks the neighbour of its first column where that begins a block of 16,
# and of its last column where that is the second of a pair.
_JPEG_BLOCK = 16
_BMP_BITS_AT = 28


def is_encoded(example: dict[str, Any]) -> bool:
    """Whether the example's image is still a string of bytes."""
    return bool(tf.convert_to_tensor(example[IMAGE]).dtype == tf.string)


def image_size(example: dict[str, Any]) -> Any:
    """Returns int32[2]: height and width of the example's image, without decoding it.

    Encoded images take it from the features ``height`` and ``width`` where they are there, else
    from the header of the bytes. Of many examples with those features, int32[n, 2].
    """
    image = tf.convert_to_tensor(example[IMAGE])
    if image.dtype != tf.string:
        return tf.shape(image)[-3:-1]
    if "height" in example and "width" in example:
        sides = [tf.cast(example[key], tf.int32) for key in ("height", "width")]
        return tf.stack(sides, axis=-1)
    return _by_format(
        image,
        lambda: tf.image.extract_jpeg_shape(image)[:2],
        lambda: tf.abs(tf.io.decode_raw(tf.strings.substr(image, 18, 8), tf.int32)[::-1]),
        lambda: tf.shape(tf.io.decode_image(image, channels=3, expand_animations=False))[:2],
    )


def pending_window(example: dict[str, Any]) -> Any:
    """Returns the window still to be cut out, int32[4]; the whole image if there is none."""
    if WINDOW in example:
        return example[WINDOW]
    size = image_size(example)
    return tf.concat([tf.zeros_like(size), size], axis=-1)


def decoded(example: dict[str, Any]) -> dict[str, Any]:
    """Returns the example with its image as uint8[h, w, 3], cut to the window, which is then gone.

    Several windows give [n, h, w, 3]. The feature ``crop`` is rewritten to the frame of the cut
    image. Images that are decoded already are cut only, and keep their dtype.
    """
    result = dict(example)
    image = tf.convert_to_tensor(example[IMAGE])
    window, cut, reader = (result.pop(key, None) for key in (WINDOW, CUT, READER))
    if window is not None and "crop" in example and window.shape.rank == 1:
        result["crop"] = _moved_box(example["crop"], image_size(example), window)
    if window is not None and window.shape.rank == 2:
        result[IMAGE] = _several(example, window)
    elif image.dtype == tf.string:
        size = image_size(example) if window is not None or reader else None
        result[IMAGE] = (reader or decode)(image, window, size, cut)
    elif window is not None:
        result[IMAGE] = _cut(image, window)
    return result


def decode(data: Any, window: Any = None, size: Any = None, cut: Any = None) -> Any:
    """Decodes image bytes inside a window.

    Args:
        data: Scalar string: JPEG, PNG or 24-bit BMP. What else TensorFlow decodes works too.
        window: int32[4] inside the image; None for all of it.
        size: int32[2], height and width of the image; needed with a window.
        cut: ``jpeg_cut`` of the window, if it is there already.

    Returns:
        uint8[height, width, 3], equal to the same part of the wholly decoded image.
    """

    def jpeg() -> Any:
        if window is None:
            return tf.io.decode_jpeg(data, channels=3)
        parts = jpeg_cut(window, size) if cut is None else cut
        wider, first, shape = tf.split(parts, [4, 3, 3])
        return tf.slice(tf.image.decode_and_crop_jpeg(data, wider, channels=3), first, shape)

    def bmp() -> Any:
        bits = tf.io.decode_raw(tf.strings.substr(data, _BMP_BITS_AT, 2), tf.int16)[0]
        # TensorFlow decodes palette BMPs to wrong pixels without an error.
        check = tf.debugging.assert_equal(
            bits, tf.constant(24, tf.int16), "A BMP must have 24 bits per pixel; convert it to PNG."
        )
        with tf.control_dependencies([check] if check is not None else []):
            pixels = tf.io.decode_bmp(data, channels=3)
        return pixels if window is None else _cut(pixels, window)

    def other() -> Any:
        pixels = tf.io.decode_image(data, channels=3, expand_animations=False)
        return pixels if window is None else _cut(pixels, window)

    return tf.ensure_shape(_by_format(data, jpeg, bmp, other), [None, None, 3])


def jpeg_cut(window: Any, size: Any) -> Any:
    """Returns how to get a window's pixels out of a JPEG.

    Args:
        window: int32[4], or int32[n, 4] for n images.
        size: int32[2] or int32[n, 2], height and width of the image.

    Returns:
        int32[10] or int32[n, 10]: the window to decode, and where in it the wanted pixels begin and
        their shape, both as rows, columns, channels.
    """
    y, x, height, columns = tf.unstack(window, 4, axis=-1)
    left, right = _jpeg_margins(x, columns, size[..., 1])
    none = tf.zeros_like(x)
    wider = [y, x - left, height, left + columns + right]
    return tf.stack([*wider, none, left, none, height, columns, none + 3], axis=-1)


def _jpeg_margins(x: Any, columns: Any, width: Any) -> tuple[Any, Any]:
    """Returns the columns to decode left and right of a window, so that it equals the whole."""
    end = x + columns
    narrow = tf.where(columns < _JPEG_BLOCK, _JPEG_BLOCK, 0)
    left = tf.maximum(tf.cast(x % _JPEG_BLOCK == 0, tf.int32), narrow)
    right = tf.maximum(1 - end % 2, narrow)
    return tf.minimum(left, x), tf.minimum(right, width - end)


def _by_format(data: Any, jpeg: Any, bmp: Any, other: Any) -> Any:
    head = tf.strings.substr(data, 0, 2)
    return tf.cond(head == b"\xff\xd8", jpeg, lambda: tf.cond(head == b"BM", bmp, other))


def _cut(image: Any, window: Any) -> Any:
    y, x, height, width = tf.unstack(window, 4)
    return tf.slice(image, tf.stack([y, x, 0]), tf.stack([height, width, 3]))


def _several(example: dict[str, Any], windows: Any) -> Any:
    low = tf.reduce_min(windows[:, :2], axis=0)
    high = tf.reduce_max(windows[:, :2] + windows[:, 2:], axis=0)
    image = tf.convert_to_tensor(example[IMAGE])
    around = tf.concat([low, high - low], axis=0)
    if image.dtype == tf.string:
        image = example.get(READER, decode)(image, around, image_size(example))
    else:
        image = _cut(image, around)
    count = windows.shape[0]
    offset = tf.concat([low, tf.zeros([2], tf.int32)], axis=0)
    return tf.stack([_cut(image, windows[index] - offset) for index in range(count)])


def _moved_box(box: Any, size: Any, window: Any) -> Any:
    """Returns ymin, xmin, ymax, xmax in 0..1 of the window for a box in 0..1 of the image."""
    corners = tf.cast(box, tf.float32) * tf.cast(tf.tile(size, [2]), tf.float32)
    corners -= tf.cast(tf.tile(window[:2], [2]), tf.float32)
    return tf.clip_by_value(corners / tf.cast(tf.tile(window[2:], [2]), tf.float32), 0.0, 1.0)
