"""Images in other sizes and places: what keras.ops.image and the layers that prepare images share."""

import tutti as _tt

from . import config as _config

_PI = 3.141592653589793


def _place(images, data_format):
    """Where rows and columns are."""
    if images.ndim not in (3, 4):
        raise ValueError(
            "Invalid images rank: expected rank 3 (single image) or rank 4 (batch of images). Received input with "
            f"shape: images.shape={tuple(images.shape)}"
        )
    return -3 if _config.standardize_data_format(data_format) == "channels_last" else -2


def _sinc(x):
    return _tt.sinc(x)


def _triangle(x):
    return _tt.maximum(1.0 - x, 0)


def _cubic(x):
    """Keys' cubic."""
    near = ((1.5 * x - 2.5) * x) * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return _tt.where(x >= 2, 0.0, _tt.where(x >= 1, far, near))


def _lanczos(n):
    return lambda x: _tt.where(x > n, 0.0, _sinc(x) * _sinc(x / n))


_KERNELS = {"bilinear": _triangle, "bicubic": _cubic, "lanczos3": _lanczos(3), "lanczos5": _lanczos(5)}
_RESIZES = "bilinear", "nearest", "lanczos3", "lanczos5", "bicubic"


def _weights(n, to, kernel, antialias):
    """The share of each of n elements in each of the new ones, [to, n]."""
    scale = n / to
    sample = (_tt.arange(to) + 0.5) * scale - 0.5
    x = abs(sample[:, None] - _tt.arange(n)) / (max(scale, 1.0) if antialias else 1.0)
    made = kernel(x)
    return (made / _tt.sum(made, 1, keepdims=True)).astype("float32")


def _along(x, axis, to, interpolation, antialias):
    n = x.shape[axis]
    if n == to:
        return x
    if interpolation == "nearest":
        places = _tt.minimum(_tt.floor((_tt.arange(to) + 0.5) * (n / to)).astype("int64"), n - 1)
        return _tt.take(x, places, axis)
    weights = _weights(n, to, _KERNELS[interpolation], antialias).astype(x.dtype)
    return _tt.moveaxis(_tt.tensordot(weights, x, ([1], [axis % x.ndim])), 0, axis)


def _cut(x, axis, start, n):
    index = [slice(None)] * x.ndim
    index[axis] = slice(start, start + n)
    return x[tuple(index)]


def aspect(height, width, to_height, to_width):
    """The sides of the largest part of an image that has the shape of another size."""
    return (
        max(min(height, int(float(width * to_height) / to_width)), 1),
        max(min(width, int(float(height * to_width) / to_height)), 1),
    )


def _cropped(x, axis, size):
    sides = aspect(x.shape[axis], x.shape[axis + 1], *size)
    for k, n in enumerate(sides):
        x = _cut(x, axis + k, int(float(x.shape[axis + k] - n) / 2), n)
    return x


def _padded(x, axis, size, fill_value):
    height, width = x.shape[axis], x.shape[axis + 1]
    sides = max(height, int(float(width * size[0]) / size[1])), max(width, int(float(height * size[1]) / size[0]))
    for k, n in enumerate(sides):
        more = int(float(n - x.shape[axis + k]) / 2)
        if more > 0:
            room = [(0, 0)] * x.ndim
            room[axis + k] = (more, more)
            return _tt.pad(x, room, constant_values=fill_value)
    return x


def resize(
    images, size, interpolation="bilinear", antialias=False, crop_to_aspect_ratio=False, pad_to_aspect_ratio=False,
    fill_mode="constant", fill_value=0.0, data_format=None,
):  # fmt: skip
    """Images of another size."""
    if interpolation not in _RESIZES:
        raise ValueError(
            f"Invalid value for argument `interpolation`. Expected of one {_RESIZES}. Received: "
            f"interpolation={interpolation}"
        )
    if fill_mode != "constant":
        raise ValueError(
            "Invalid value for argument `fill_mode`. Only `'constant'` is supported. Received: "
            f"fill_mode={fill_mode}"
        )
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError("Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.")
    if len(size) != 2:
        raise ValueError(f"Argument `size` must be a tuple of two elements (height, width). Received: size={size}")
    axis, kind = _place(images, data_format), images.dtype
    x = images
    if crop_to_aspect_ratio:
        x = _cropped(x, axis, size)
    elif pad_to_aspect_ratio:
        x = _padded(x, axis, size, fill_value)
    whole = kind.kind in "iub" and interpolation != "nearest"
    x = x.astype("float32") if whole else x
    for k in (0, 1):
        x = _along(x, axis + k, size[k], interpolation, antialias)
    return saturated(_tt.round(x), kind) if whole else x


def saturated(x, dtype):
    """Numbers in a type of whole ones; those that it has no room for are its last ones."""
    limits = _tt.iinfo(dtype)
    return _tt.clip(x, limits.min, limits.max).astype(dtype)


# ---- places by a map


def _inside(places, n, mode):
    """Places on an axis, of which some are outside, and which of them count."""
    if mode == "constant":
        return _tt.clip(places, 0, n - 1), (places >= 0) & (places < n)
    if mode == "nearest":
        return _tt.clip(places, 0, n - 1), None
    if mode == "wrap":
        return places % n, None
    if mode == "mirror":
        around = places % max(2 * (n - 1), 1)
        return _tt.where(around >= n, 2 * (n - 1) - around, around), None
    around = places % (2 * n)
    return _tt.where(around >= n, 2 * n - 1 - around, around), None


def _taken(images, y, x, mode, fill_value):
    """The elements of images [n, height, width, channels] at whole places [n, ...]."""
    n, height, width, channels = images.shape
    (y, in_y), (x, in_x) = _inside(y, height, mode), _inside(x, width, mode)
    first = _tt.arange(n).reshape(n, 1, 1) * (height * width)
    made = _tt.take(images.reshape(n * height * width, channels), first + y * width + x, 0)
    return made if in_y is None else _tt.where((in_y & in_x)[..., None], made, fill_value)


_FILLS = "constant", "nearest", "wrap", "mirror", "reflect"


def at_places(images, y, x, interpolation, fill_mode, fill_value):
    """The elements of images [n, height, width, channels] at places [n, rows, columns] between them."""
    if interpolation == "nearest":
        return _taken(images, *(_tt.round(p).astype("int64") for p in (y, x)), fill_mode, fill_value)
    low = [_tt.floor(p) for p in (y, x)]
    parts = [(p - q).astype(images.dtype)[..., None] for p, q in zip((y, x), low)]
    made = 0.0
    for down in (0, 1):
        for right in (0, 1):
            places = [(q + step).astype("int64") for q, step in zip(low, (down, right))]
            share = (parts[0] if down else 1 - parts[0]) * (parts[1] if right else 1 - parts[1])
            made = made + _taken(images, *places, fill_mode, fill_value) * share
    return made


def check_affine(interpolation, fill_mode):
    """What an affine map takes."""
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError(
            "Invalid value for argument `interpolation`. Expected of one {'nearest', 'bilinear'}. Received: "
            f"interpolation={interpolation}"
        )
    if fill_mode not in _FILLS:
        raise ValueError(
            f"Invalid value for argument `fill_mode`. Expected of one {_FILLS}. Received: fill_mode={fill_mode}"
        )


def affine_transform(images, transform, interpolation="bilinear", fill_mode="constant", fill_value=0, data_format=None):
    """Images whose elements come from the places that a map, of eight numbers, gives of their own."""
    check_affine(interpolation, fill_mode)
    first = _place(images, data_format) == -2
    if transform.ndim not in (1, 2):
        raise ValueError(
            "Invalid transform rank: expected rank 1 (single transform) or rank 2 (batch of transforms). Received "
            f"input with shape: transform.shape={tuple(transform.shape)}"
        )
    single = images.ndim == 3
    x = images[None] if single else images
    x = _tt.moveaxis(x, 1, -1) if first else x
    t = transform.reshape(-1, 8)[:, :, None, None]
    down, right = _tt.arange(x.shape[1], dtype=t.dtype)[:, None], _tt.arange(x.shape[2], dtype=t.dtype)
    across, along = t[:, 0] * right + t[:, 1] * down + t[:, 2], t[:, 3] * right + t[:, 4] * down + t[:, 5]
    shape = (x.shape[0], *along.shape[1:])
    made = at_places(x, *(_tt.broadcast_to(p, shape) for p in (along, across)), interpolation, fill_mode, fill_value)
    made = _tt.moveaxis(made, -1, 1) if first else made
    return made[0] if single else made


def _rows(*numbers):
    """A map of each image."""
    n = max(getattr(x, "shape", (1,))[0] for x in numbers)
    return _tt.stack([_tt.broadcast_to(_tt.asarray(x, "float32"), (n,)) for x in numbers], -1)


def turning(angles, height, width):
    """Maps that turn images around their middles."""
    cos, sin = _tt.cos(angles), _tt.sin(angles)
    across = ((width - 1) - (cos * (width - 1) - sin * (height - 1))) / 2
    down = ((height - 1) - (sin * (width - 1) + cos * (height - 1))) / 2
    return _rows(cos, -sin, across, sin, cos, down, 0.0, 0.0)


def shifting(down, right):
    """Maps that shift images."""
    return _rows(1.0, 0.0, -right, 0.0, 1.0, -down, 0.0, 0.0)


def zooming(down, right, height, width):
    """Maps that zoom images around their middles."""
    return _rows(right, 0.0, (width - 1) / 2 * (1 - right), 0.0, down, (height - 1) / 2 * (1 - down), 0.0, 0.0)


def rgb_to_grayscale(images, data_format=None):
    """The lightness of colours."""
    channel = -1 if _place(images, data_format) == -3 else -3
    weights = _tt.array([0.2989, 0.587, 0.114], dtype=images.dtype)
    gray = _tt.tensordot(_tt.moveaxis(images, channel, -1), weights, 1)
    return _tt.expand_dims(gray, channel)


def pad_images(
    images, top_padding=None, left_padding=None, bottom_padding=None, right_padding=None, target_height=None,
    target_width=None, data_format=None,
):  # fmt: skip
    """Images with zeros around them."""
    axis = _place(images, data_format)
    room = [(0, 0)] * images.ndim
    for k, (before, after, to) in enumerate(
        ((top_padding, bottom_padding, target_height), (left_padding, right_padding, target_width))
    ):
        n = images.shape[axis + k]
        before = to - n - after if before is None else before
        room[axis + k] = (before, to - n - before if after is None else after)
    return _tt.pad(images, room)


def crop_images(
    images, top_cropping=None, left_cropping=None, bottom_cropping=None, right_cropping=None, target_height=None,
    target_width=None, data_format=None,
):  # fmt: skip
    """Images without what is around a part."""
    axis = _place(images, data_format)
    for k, (before, after, to) in enumerate(
        ((top_cropping, bottom_cropping, target_height), (left_cropping, right_cropping, target_width))
    ):
        n = images.shape[axis + k]
        before = n - to - after if before is None else before
        images = _cut(images, axis + k, before, n - before - after if to is None else to)
    return images
