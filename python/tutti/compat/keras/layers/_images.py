"""Layers that prepare images, by chance in training."""

import tutti as tt

from .. import _images, config
from .. import random as _random
from .._layer import Layer


class _ImageLayer(Layer):
    """Images, or a dict that has them beside labels, go through transform_images()."""

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = config.standardize_data_format(data_format)
        self._rows = -3 if self.data_format == "channels_last" else -2

    def call(self, data, training=True):
        """The images; labels stay."""
        if isinstance(data, dict):
            return {**data, "images": self._made(data["images"], training)}
        return self._made(data, training)

    def _made(self, images, training):
        return self.transform_images(images.astype(self.compute_dtype), training)


class Resizing(_ImageLayer):
    """Images of another size."""

    def __init__(
        self, height, width, interpolation="bilinear", crop_to_aspect_ratio=False, pad_to_aspect_ratio=False,
        fill_mode="constant", fill_value=0.0, antialias=False, data_format=None, **kwargs,
    ):  # fmt: skip
        super().__init__(data_format, **kwargs)
        self.height, self.width, self.interpolation = height, width, interpolation
        self.crop_to_aspect_ratio, self.pad_to_aspect_ratio = crop_to_aspect_ratio, pad_to_aspect_ratio
        self.fill_mode, self.fill_value, self.antialias = fill_mode, fill_value, bool(antialias)

    def _made(self, images, training):
        return _images.resize(
            images, (self.height, self.width), self.interpolation, self.antialias, self.crop_to_aspect_ratio,
            self.pad_to_aspect_ratio, self.fill_mode, self.fill_value, self.data_format,
        )  # fmt: skip


class CenterCrop(_ImageLayer):
    """The middle of images; of those that are smaller the largest part of the same shape, in the new size."""

    def __init__(self, height, width, data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        self.height, self.width = height, width

    def transform_images(self, images, training):
        """The middle."""
        n, m = images.shape[self._rows], images.shape[self._rows + 1]
        if n < self.height or m < self.width:
            size = self.height, self.width
            return _images.resize(images, size, crop_to_aspect_ratio=True, data_format=self.data_format)
        top, left = (n - self.height) // 2, (m - self.width) // 2
        return _images.crop_images(
            images, top, left, target_height=self.height, target_width=self.width, data_format=self.data_format
        )


class _RandomLayer(_ImageLayer):
    """Each image of a batch has numbers of its own; nothing happens where there is no training."""

    def __init__(self, seed=None, data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        self.seed, self.generator = seed, _random.SeedGenerator(seed)

    def _made(self, images, training):
        images = images.astype(self.compute_dtype)
        return self.transform_images(images, training) if training else images

    def _drawn(self, images, low, high):
        """A number of each image."""
        n = 1 if images.ndim == 3 else images.shape[0]
        return _random.uniform((n,), low, high, dtype="float32", seed=self.generator)

    def _each(self, images, low, high):
        """A number of each image, with an axis for each of its own."""
        made = self._drawn(images, low, high).astype(images.dtype)
        return made.reshape((1, 1, 1) if images.ndim == 3 else (-1, 1, 1, 1))


class RandomCrop(_RandomLayer):
    """A part of the images, the same of all in a batch; smaller images are resized."""

    def __init__(self, height, width, seed=None, data_format=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        self.height, self.width = height, width

    def transform_images(self, images, training):
        """The part."""
        n, m = images.shape[self._rows], images.shape[self._rows + 1]
        size = self.height, self.width
        if n <= self.height or m <= self.width:
            return _images.resize(images, size, crop_to_aspect_ratio=True, data_format=self.data_format)
        top, left = (
            int(_random.randint((), 0, whole - part + 1, seed=self.generator).item())
            for whole, part in ((n, self.height), (m, self.width))
        )
        return _images.crop_images(
            images, top, left, target_height=self.height, target_width=self.width, data_format=self.data_format
        )


class RandomFlip(_RandomLayer):
    """Images, turned over or not."""

    def __init__(self, mode="horizontal_and_vertical", seed=None, data_format=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        if mode not in ("horizontal", "vertical", "horizontal_and_vertical"):
            raise ValueError(f"Unknown `mode`: {mode}. It is 'horizontal', 'vertical' or 'horizontal_and_vertical'.")
        self.mode = mode

    def transform_images(self, images, training):
        """Turned over by chance, along each axis of the mode."""
        for word, axis in ("horizontal", self._rows + 1), ("vertical", self._rows):
            if word in self.mode:
                images = tt.where(self._each(images, 0.0, 1.0) < 0.5, tt.flip(images, axis), images)
        return images


def _pair(name, factor, low, high, even=True):
    """The two ends of a factor: a number stands for itself and what is opposite, or 0."""
    if isinstance(factor, (tuple, list)):
        if len(factor) != 2:
            raise ValueError(f"The `{name}` argument should be a number (or a list of two numbers). Received: {factor}")
        ends = tuple(sorted(factor))
    else:
        ends = (-abs(factor), abs(factor)) if even else (0, abs(factor))
    if not low <= ends[0] <= ends[1] <= high:
        raise ValueError(
            f"The `{name}` argument should be a number (or a list of two numbers) in the range [{low}, {high}]. "
            f"Received: {factor}"
        )
    return ends


class _Moving(_RandomLayer):
    """Images whose elements come from other places."""

    def __init__(self, fill_mode, interpolation, fill_value, seed, data_format, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        _images.check_affine(interpolation, fill_mode)
        self.fill_mode, self.interpolation, self.fill_value = fill_mode, interpolation, fill_value

    def transform_images(self, images, training):
        """The elements of the places that a map gives."""
        sides = images.shape[self._rows], images.shape[self._rows + 1]
        return _images.affine_transform(
            images, self._map(images, *sides), self.interpolation, self.fill_mode, self.fill_value, self.data_format
        )


class RandomRotation(_Moving):
    """Images, turned by a share of a full circle."""

    def __init__(
        self, factor, fill_mode="reflect", interpolation="bilinear", seed=None, fill_value=0.0, data_format=None,
        **kwargs,
    ):  # fmt: skip
        super().__init__(fill_mode, interpolation, fill_value, seed, data_format, **kwargs)
        self.factor = _pair("factor", factor, -1.0, 1.0)

    def _map(self, images, height, width):
        low, high = (2 * _images._PI * f for f in self.factor)
        return _images.turning(self._drawn(images, low, high), height, width)


class RandomTranslation(_Moving):
    """Images, shifted by a share of their sides."""

    def __init__(
        self, height_factor, width_factor, fill_mode="reflect", interpolation="bilinear", seed=None, fill_value=0.0,
        data_format=None, **kwargs,
    ):  # fmt: skip
        super().__init__(fill_mode, interpolation, fill_value, seed, data_format, **kwargs)
        self.height_factor, self.width_factor = height_factor, width_factor
        self._ends = [
            _pair(name, factor, -1.0, 1.0)
            for name, factor in (("height_factor", height_factor), ("width_factor", width_factor))
        ]

    def _map(self, images, height, width):
        down, right = (self._drawn(images, *ends) for ends in self._ends)
        return _images.shifting(down * height, right * width)


class RandomZoom(_Moving):
    """Images that are zoomed around their middles: below 0 they grow."""

    def __init__(
        self, height_factor, width_factor=None, fill_mode="reflect", interpolation="bilinear", seed=None,
        fill_value=0.0, data_format=None, **kwargs,
    ):  # fmt: skip
        super().__init__(fill_mode, interpolation, fill_value, seed, data_format, **kwargs)
        self.height_factor, self.width_factor = height_factor, width_factor
        self._ends = [
            factor if factor is None else _pair(name, factor, -1.0, 1.0)
            for name, factor in (("height_factor", height_factor), ("width_factor", width_factor))
        ]

    def _map(self, images, height, width):
        down, right = (ends and self._drawn(images, 1.0 + ends[0], 1.0 + ends[1]) for ends in self._ends)
        return _images.zooming(down, down if right is None else right, height, width)


class RandomContrast(_RandomLayer):
    """Images whose colours go away from their mean, or nearer to it."""

    def __init__(self, factor, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(seed, **kwargs)
        self.factor, self.value_range = _pair("factor", factor, 0, 1, even=False), value_range
        if not isinstance(factor, (tuple, list)):
            self.factor = (factor, factor)

    def transform_images(self, images, training):
        """The colours times a factor."""
        mean = tt.mean(images, (self._rows, self._rows + 1), keepdims=True)
        factor = self._each(images, 1.0 - self.factor[0], 1.0 + self.factor[1])
        return tt.clip((images - mean) * factor + mean, *self.value_range)


class RandomBrightness(_RandomLayer):
    """Images that are lighter or darker."""

    def __init__(self, factor, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(seed, **kwargs)
        self.factor, self.value_range = _pair("factor", factor, -1.0, 1.0), sorted(value_range)

    def transform_images(self, images, training):
        """The colours and a number."""
        low, high = self.value_range
        return tt.clip(images + self._each(images, *self.factor) * (high - low), low, high)


class RandomGrayscale(_RandomLayer):
    """Some images without colours."""

    def __init__(self, factor=0.5, data_format=None, seed=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        if not 0 <= factor <= 1:
            raise ValueError(f"`factor` should be between 0 and 1. Received: factor={factor}")
        self.factor = factor

    def transform_images(self, images, training):
        """The lightness in place of each colour, by chance."""
        gray = tt.broadcast_to(_images.rgb_to_grayscale(images, self.data_format), images.shape)
        return tt.where(self._each(images, 0.0, 1.0) < self.factor, gray, images)


NAMES = [
    "CenterCrop", "RandomBrightness", "RandomContrast", "RandomCrop", "RandomFlip", "RandomGrayscale", "RandomRotation",
    "RandomTranslation", "RandomZoom", "Resizing",
]  # fmt: skip
