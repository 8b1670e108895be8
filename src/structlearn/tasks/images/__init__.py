"""Segmentation of images: a class for every pixel."""
