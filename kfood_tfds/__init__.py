"""AI Hub's Korean food photos as the TFDS data set `kfood`; importing this registers it."""
