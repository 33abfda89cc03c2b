"""Drawn dishes: the same everywhere, told apart by the food alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from kfood_tfds.raw import dishes
from kfood_tfds.raw.crop_area import CropBox
from kfood_tfds.raw.dishes import draw_dish, recipes
from kfood_tfds.raw.errors import KfoodError

LABELS = (7, 17, 27, 30, 44, 48, 49, 57, 64, 69, 82, 92, 95, 96, 98, 113, 123, 127, 141, 143)
PER_CLASS = 24

Pixels = npt.NDArray[np.uint8]


@pytest.mark.parametrize("size", [(32, 32), (75, 140), (160, 90)])
@pytest.mark.parametrize("label", [0, 69, 149])
def test_pictures_have_the_size_asked_for_and_a_box_inside(
    label: int, size: tuple[int, int]
) -> None:
    for key in range(5):
        pixels, box = draw_dish(label, key, size)
        assert pixels.shape == (*size, 3) and pixels.dtype == np.uint8
        assert 0 <= box.ymin < box.ymax <= size[0] and 0 <= box.xmin < box.xmax <= size[1]
        # A plate is 72 to 90 % of the shorter side, and its box little more.
        assert 0.7 * min(size) <= box.width <= 0.9 * min(size) + 8
        assert 0.55 * min(size) <= box.height <= box.width + 2


def test_same_arguments_give_the_same_picture_and_others_another() -> None:
    first, box = draw_dish(27, 3, (90, 120))
    again, same_box = draw_dish(27, 3, (90, 120))
    np.testing.assert_array_equal(first, again)
    assert box == same_box
    others = [
        draw_dish(28, 3, (90, 120)),
        draw_dish(27, 4, (90, 120)),
        draw_dish(27, 3, (90, 120), 1),
    ]
    for other, _ in others:
        assert np.abs(first.astype(int) - other).mean() > 5


def test_drawings_stay_as_they_are() -> None:
    """Whoever changes the drawings on purpose raises `sample.DRAWING_VERSION` and these numbers."""
    pixels, box = draw_dish(69, 0, (96, 128))
    coarse = np.asarray(Image.fromarray(pixels).convert("L").reduce(32)).astype(int)
    assert box == CropBox(26, 36, 92, 112)
    expected = [[98, 94, 89, 99], [100, 90, 118, 91], [93, 89, 92, 90]]
    assert np.abs(coarse - np.array(expected)).max() <= 3


def test_no_two_classes_have_one_recipe() -> None:
    assert len(recipes()) == 150
    assert len(set(recipes())) == 150


def test_the_class_shows_in_the_box_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    own = recipes()
    for key, label in enumerate((27, 57, 69, 96)):
        first, box = draw_dish(label, key, (120, 150))
        with monkeypatch.context() as patch:
            patch.setattr(dishes, "recipes", lambda: own[40:] + own[:40])
            second, same_box = draw_dish(label, key, (120, 150))
        assert same_box == box
        differs = np.any(first != second, axis=-1)
        assert differs[box.ymin : box.ymax, box.xmin : box.xmax].mean() > 0.2
        differs[box.ymin : box.ymax, box.xmin : box.xmax] = False
        assert not differs.any()


@pytest.fixture(name="drawn", scope="module")
def _drawn() -> list[tuple[Pixels, CropBox]]:
    return [draw_dish(label, key, (72, 84)) for label in LABELS for key in range(PER_CLASS)]


def _accuracy(features: list[npt.ArrayLike]) -> float:
    """Share of the last third of each class that its five nearest neighbours name rightly."""
    values = np.array(features, np.float64)
    values = (values - values.mean(0)) / (values.std(0) + 1e-6)
    classes = np.repeat(np.arange(len(LABELS)), PER_CLASS)
    known = np.tile(np.arange(PER_CLASS) < PER_CLASS * 2 // 3, len(LABELS))
    distances = ((values[~known][:, None] - values[known][None]) ** 2).sum(-1)
    near = classes[known][np.argsort(distances, axis=1)[:, :5]]
    votes = np.array([np.bincount(row, minlength=len(LABELS)).argmax() for row in near])
    return float((votes == classes[~known]).mean())


def _inside(pixels: Pixels, box: CropBox) -> Pixels:
    return pixels[box.ymin : box.ymax, box.xmin : box.xmax]


def test_the_surroundings_tell_nothing(drawn: list[tuple[Pixels, CropBox]]) -> None:
    surroundings = []
    for pixels, box in drawn:
        copy = pixels.copy()
        copy[box.ymin : box.ymax, box.xmin : box.xmax] = 0
        surroundings.append(np.asarray(Image.fromarray(copy).resize((12, 12))).ravel())
    assert _accuracy(surroundings) < 0.15  # Chance is 0.05.


def test_the_mean_colour_tells_little(drawn: list[tuple[Pixels, CropBox]]) -> None:
    assert _accuracy([_inside(*picture).mean((0, 1)) for picture in drawn]) < 0.45


def test_the_food_tells_the_class(drawn: list[tuple[Pixels, CropBox]]) -> None:
    # Colours of the plate's middle, of all kinds: far from what a network sees, far above chance.
    histograms = []
    for picture in drawn:
        inside = _inside(*picture)
        height, width = inside.shape[:2]
        middle = inside[height // 4 : -height // 4, width // 4 : -width // 4].reshape(-1, 3)
        bins = (middle // 52) @ np.array([25, 5, 1])
        histograms.append(np.sqrt(np.bincount(bins, minlength=125) / len(bins)))
    assert _accuracy(histograms) > 0.3


@pytest.mark.parametrize(
    ("label", "size"), [(-1, (90, 90)), (150, (90, 90)), (3, (31, 90)), (3, (90, 2049))]
)
def test_what_cannot_be_drawn_is_refused(label: int, size: tuple[int, int]) -> None:
    with pytest.raises(KfoodError, match="Received"):
        draw_dish(label, 0, size)
