"""Reads the archive as downloaded: members, classes, crop boxes, images, splits."""
