"""The build as Beam pipelines, for many machines; needs the extra `tfds-cli`."""
