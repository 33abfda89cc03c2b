"""The PyTorch loader that `throughput.py` compares with: Pillow, two worker processes."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from throughput_data import Photo

SCALE = 0.9


@dataclasses.dataclass(frozen=True)
class Photos(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """Decoded, cropped and resized photos, float32[3, size, size] in 0..1, with their labels."""

    folder: Path
    photos: list[Photo]
    size: int

    def __len__(self) -> int:
        """Number of photos."""
        return len(self.photos)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        """One photo: the crop, a random 90 % square of it, bilinear."""
        photo = self.photos[index]
        with Image.open(self.folder / photo.id) as opened:
            image = opened.convert("RGB")
        x, y, width, height = photo.box or (0, 0, image.width, image.height)
        side = round(SCALE * min(width, height))
        x += int(torch.randint(width - side + 1, ()))
        y += int(torch.randint(height - side + 1, ()))
        image = image.crop((x, y, x + side, y + side))
        image = image.resize((self.size, self.size), Image.Resampling.BILINEAR)
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255
        return pixels, photo.label


def loader(folder: Path, photos: list[Photo], size: int, batch_size: int) -> Any:
    """Returns a shuffling DataLoader of two workers."""
    return torch.utils.data.DataLoader(
        Photos(folder, photos, size),
        batch_size=batch_size,
        shuffle=True,
        num_workers=2,
        persistent_workers=True,
        # TensorFlow's threads don't survive a fork.
        multiprocessing_context="forkserver",
    )
