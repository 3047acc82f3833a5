"""Pictures in files, as arrays: what of keras.utils needs Pillow."""

import os

import numpy as np

from . import config
from .utils import PyDataset

SUFFIXES = ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".webp"
MODES = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}
WAYS = {"nearest": "NEAREST", "bilinear": "BILINEAR", "bicubic": "BICUBIC", "lanczos": "LANCZOS", "box": "BOX"}


def pillow():
    """PIL.Image"""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("Could not import PIL.Image. The use of `load_img` requires PIL.") from None
    return Image


def load_img(path, color_mode="rgb", target_size=None, interpolation="nearest", keep_aspect_ratio=False):
    """A picture of a file, as Pillow has it."""
    if color_mode not in MODES:
        raise ValueError(f"color_mode must be 'grayscale', 'rgb', or 'rgba'. Received: color_mode={color_mode}")
    if interpolation not in WAYS:
        raise ValueError(f"Invalid interpolation method {interpolation} specified. Supported methods are {list(WAYS)}")
    image = pillow().open(path).convert(MODES[color_mode])
    if target_size is None:
        return image
    if keep_aspect_ratio:
        image = middle(image, target_size)
    return image.resize((target_size[1], target_size[0]), getattr(pillow(), WAYS[interpolation]))


def middle(image, size):
    """The largest part of the middle with the proportions of a size."""
    width, height = image.size
    wide = min(width, height * size[1] // size[0])
    high = min(height, width * size[0] // size[1])
    left, top = (width - wide) // 2, (height - high) // 2
    return image.crop((left, top, left + wide, top + high))


def img_to_array(img, data_format=None, dtype=None):
    """A picture as NumPy's array, colours along the last axis or the first one."""
    a = np.asarray(img, dtype=dtype or config.floatx())
    a = a[..., None] if a.ndim == 2 else a
    if a.ndim != 3:
        raise ValueError(f"Unsupported image shape: {a.shape}")
    return a if config.standardize_data_format(data_format) == "channels_last" else a.transpose(2, 0, 1)


def array_to_img(x, data_format=None, scale=True, dtype=None):
    """An array as a picture; with `scale` its numbers fill 0 to 255."""
    a = np.asarray(x, dtype=dtype or config.floatx())
    if a.ndim != 3:
        raise ValueError(f"Expected image array to have rank 3 (single image). Got array with shape: {a.shape}")
    if config.standardize_data_format(data_format) == "channels_first":
        a = a.transpose(1, 2, 0)
    if scale:
        a = a - a.min()
        a = a / (a.max() or 1) * 255
    if a.shape[2] not in (1, 3, 4):
        raise ValueError(f"Unsupported channel number: {a.shape[2]}")
    a = a.astype("uint8")
    return pillow().fromarray(a[:, :, 0] if a.shape[2] == 1 else a)


def save_img(path, x, data_format=None, file_format=None, scale=True, **kwargs):
    """Write an array as a picture."""
    array_to_img(x, data_format, scale).save(path, format=file_format, **kwargs)


class Folder(PyDataset):
    """Batches of pictures."""

    def __init__(self, paths, labels, class_names, batch_size, how):
        super().__init__()
        self.file_paths, self.class_names = paths, class_names
        self._labels, self._size, self._how = labels, batch_size, how

    def __len__(self):
        return -(-len(self.file_paths) // self._size)

    def __getitem__(self, index):
        part = slice(index * self._size, (index + 1) * self._size)
        x = np.stack([img_to_array(load_img(path, **self._how)) for path in self.file_paths[part]])
        return x if self._labels is None else (x, self._labels[part])


def _found(directory, labels, class_names, follow_links):
    """The files, the number of each one's class, and the classes' names."""
    if labels not in ("inferred", None):
        raise NotImplementedError("tutti.compat.keras does not cover labels of image_dataset_from_directory as a list")
    folders = sorted(d.name for d in os.scandir(directory) if d.is_dir()) if labels else [""]
    if labels and class_names and set(class_names) != set(folders):
        raise ValueError(f"The `class_names` passed did not match the names of the subdirectories: {folders}")
    names = list(class_names or folders)
    paths, classes = [], []
    for k, name in enumerate(names):
        for place, _, files in sorted(os.walk(os.path.join(directory, name), followlinks=follow_links)):
            mine = [os.path.join(place, f) for f in sorted(files) if f.lower().endswith(SUFFIXES)]
            paths += mine
            classes += [k] * len(mine)
    if not paths:
        raise ValueError(f"No images found in directory {directory}. Allowed formats: {SUFFIXES}")
    return paths, np.asarray(classes), names


def _labelled(classes, mode, count):
    if mode == "binary":
        if count != 2:
            raise ValueError(
                f'When passing `label_mode="binary"`, there must be exactly 2 class_names. Received: {count}'
            )
        return classes.astype("float32")[:, None]
    made = {"int": lambda: classes.astype("int32"), "categorical": lambda: np.eye(count, dtype="float32")[classes]}
    if mode not in made:
        raise ValueError(
            f"`label_mode` argument must be one of 'int', 'categorical', 'binary', or None. Received: {mode}"
        )
    return made[mode]()


def image_dataset_from_directory(
    directory, labels="inferred", label_mode="int", class_names=None, color_mode="rgb", batch_size=32,
    image_size=(256, 256), shuffle=True, seed=None, validation_split=None, subset=None, interpolation="bilinear",
    follow_links=False, crop_to_aspect_ratio=False, pad_to_aspect_ratio=False, data_format=None, verbose=True,
):  # fmt: skip
    """Batches of the pictures of a folder, whose folders are the classes."""
    if pad_to_aspect_ratio:
        raise NotImplementedError("tutti.compat.keras does not cover pad_to_aspect_ratio")
    paths, classes, names = _found(directory, labels if label_mode else None, class_names, follow_links)
    if verbose:
        print(f"Found {len(paths)} files belonging to {len(names)} classes.")
    order = np.arange(len(paths))
    if shuffle:
        np.random.RandomState(np.random.randint(2**31) if seed is None else seed).shuffle(order)
    how = {"color_mode": color_mode, "target_size": tuple(image_size), "interpolation": interpolation}
    how["keep_aspect_ratio"] = crop_to_aspect_ratio

    def part(rows):
        mine = None if not (labels and label_mode) else _labelled(classes, label_mode, len(names))[rows]
        return Folder([paths[k] for k in rows], mine, names, batch_size or max(1, len(rows)), how)

    if not validation_split:
        return part(order)
    cut = len(order) - int(validation_split * len(order))
    parts = {"training": order[:cut], "validation": order[cut:]}
    if subset not in (*parts, "both"):
        raise ValueError(f"`subset` must be either 'training', 'validation' or 'both'. Received: {subset}")
    return tuple(map(part, parts.values())) if subset == "both" else part(parts[subset])
