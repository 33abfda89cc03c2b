"""Lets ``python -m kfood_tfds`` do what ``kfood-tfds`` does."""

import sys

from kfood_tfds.cli import main

if __name__ == "__main__":
    sys.exit(main())
