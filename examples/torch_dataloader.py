"""Trains a small PyTorch model by a DataLoader over examples with random access."""

from __future__ import annotations

import argparse
import functools
from typing import Any

import numpy as np
import tensorflow_datasets as tfds
import torch

# Optimizers load it. After TensorFlow, as loaded below, torch 2.13 for CUDA would crash at that.
import torch._dynamo
from PIL import Image

from kfood_tfds import sampling
from kfood_tfds.sources import collate, convert_to_array_record, random_access


def to_pair(example: dict[str, Any], size: int) -> tuple[np.ndarray, np.int64]:
    """Crops to the box, resizes, and scales to 0..1; the workers run it."""
    ymin, xmin, ymax, xmax = example["crop"]
    height, width = example["image"].shape[:2]
    box = (xmin * width, ymin * height, xmax * width, ymax * height)
    image = Image.fromarray(example["image"]).resize((size, size), box=box)
    return np.asarray(image, np.float32) / 255, example["label"]


def make_model(num_classes: int) -> torch.nn.Module:
    """Returns a small CNN."""
    layers: list[torch.nn.Module] = []
    for before, after in ((3, 32), (32, 64), (64, 96)):
        layers += [
            torch.nn.Conv2d(before, after, 3, padding=1, bias=False),
            torch.nn.BatchNorm2d(after),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
        ]
    head = torch.nn.Linear(96, num_classes)
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), head)


def read_arguments() -> argparse.Namespace:
    """Returns what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="TFDS's data folder")
    parser.add_argument("--dataset", default="kfood/sample")
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--steps", type=int, help="batches an epoch; default: all")
    return parser.parse_args()


def main() -> None:
    """Trains and says how well."""
    args = read_arguments()
    torch.manual_seed(0)

    # Both do nothing where the files are there already.
    tfds.builder(args.dataset, data_dir=args.data_dir).download_and_prepare()
    convert_to_array_record(args.dataset, args.data_dir)
    train, val = (
        random_access(args.dataset, split, args.data_dir).with_transform(
            functools.partial(to_pair, size=args.size)
        )
        for split in ("train", "validation")
    )
    stacked = functools.partial(collate, channels_first=True)
    train_loader = torch.utils.data.DataLoader(
        train,
        args.batch_size,
        sampler=sampling.Random(train, seed=0),  # Another order each epoch.
        collate_fn=stacked,
        num_workers=args.workers,
        # A fork would copy the threads of TensorFlow and of the reader, which ends badly.
        multiprocessing_context="spawn" if args.workers else None,
        persistent_workers=args.workers > 0,
    )
    val_loader = torch.utils.data.DataLoader(val, args.batch_size, collate_fn=stacked)

    model = make_model(train.info.features["label"].num_classes)
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for epoch in range(args.epochs):
        for step, (images, labels) in enumerate(train_loader, 1):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step == args.steps:
                break
        print(f"Epoch {epoch + 1}: loss {loss.item():.3f} after batches {tuple(images.shape)}")

    model.eval()
    with torch.no_grad():
        right = sum(int((model(x).argmax(1) == y).sum()) for x, y in val_loader)
    print(f"Validation accuracy: {right / len(val):.3f} of {len(val)} images")


if __name__ == "__main__":
    main()
