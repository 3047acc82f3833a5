"""Images in other sizes and places by Keras, and a few numbers of what it gives.

python tests/compat/keras_images.py     with Keras installed: prints WANT anew
"""

import json

import numpy as np

R = np.random.default_rng(0)
IMAGES = R.random((2, 7, 9, 3)).astype("float32") * 255
MAPS = (np.array([1, 0.2, -1.3, -0.3, 0.9, 0.7, 0, 0]) + R.random((2, 8)) * 0.1).astype("float32")
MAPS[:, 6:] = 0
KINDS = "bilinear", "nearest", "lanczos3", "lanczos5", "bicubic"
SIZES = [
    dict(size=size, interpolation=kind, antialias=antialias)
    for size in ((4, 5), (14, 18), (7, 3))
    for kind in KINDS
    for antialias in (False, True)
]
SIZES += [dict(size=(5, 5), crop_to_aspect_ratio=True), dict(size=(5, 5), pad_to_aspect_ratio=True, fill_value=3.0)]
PLACES = [
    dict(interpolation=kind, fill_mode=mode, fill_value=2.0)
    for kind in KINDS[:2]
    for mode in ("constant", "nearest", "wrap", "mirror", "reflect")
]


def numbers(array):
    """The shape, the mean and one that depends on the places."""
    array = np.asarray(array).astype("float64")
    places = np.cos(np.arange(array.size)).reshape(array.shape)
    return [list(array.shape), round(float(array.mean()), 4), round(float((array * places).mean()), 4)]


def run(keras):
    """All cases."""
    image, layers, own = keras.ops.image, keras.layers, keras.ops.convert_to_tensor
    x, first = own(IMAGES), own(IMAGES.transpose(0, 3, 1, 2).copy())
    made = [image.resize(x, **how) for how in SIZES] + [image.resize(first, (5, 8), data_format="channels_first")]
    made += [image.affine_transform(x, own(MAPS), **how) for how in PLACES]
    made += [layers.Resizing(4, 4)(IMAGES.astype("uint8")), layers.CenterCrop(4, 5)(x), layers.CenterCrop(9, 5)(x)]
    made += [image.rgb_to_grayscale(x), image.pad_images(x, 1, 2, target_height=10, target_width=12)]
    made += [image.crop_images(x, 1, 2, target_height=3, right_cropping=1)]
    return [numbers(a) for a in made]


# As Keras 3.16 with JAX gave them.
WANT = [
    [[2, 4, 5, 3], 129.6448, -1.9699],
    [[2, 4, 5, 3], 134.7743, -0.5572],
    [[2, 4, 5, 3], 124.1832, -2.9528],
    [[2, 4, 5, 3], 124.1832, -2.9528],
    [[2, 4, 5, 3], 129.8418, -2.8334],
    [[2, 4, 5, 3], 134.5381, -0.8616],
    [[2, 4, 5, 3], 131.6747, -2.8241],
    [[2, 4, 5, 3], 134.3426, -0.9027],
    [[2, 4, 5, 3], 128.5822, -2.5311],
    [[2, 4, 5, 3], 134.821, -0.8303],
    [[2, 14, 18, 3], 134.982, 0.0653],
    [[2, 14, 18, 3], 134.982, 0.0653],
    [[2, 14, 18, 3], 134.982, 0.0726],
    [[2, 14, 18, 3], 134.982, 0.0726],
    [[2, 14, 18, 3], 134.931, 0.1112],
    [[2, 14, 18, 3], 134.931, 0.1112],
    [[2, 14, 18, 3], 134.7647, 0.13],
    [[2, 14, 18, 3], 134.7647, 0.13],
    [[2, 14, 18, 3], 134.9813, 0.0778],
    [[2, 14, 18, 3], 134.9813, 0.0778],
    [[2, 7, 3, 3], 132.7585, -1.7048],
    [[2, 7, 3, 3], 134.6708, -1.4515],
    [[2, 7, 3, 3], 132.7585, -1.7048],
    [[2, 7, 3, 3], 132.7585, -1.7048],
    [[2, 7, 3, 3], 132.7585, -1.7048],
    [[2, 7, 3, 3], 134.6009, -1.7333],
    [[2, 7, 3, 3], 132.7585, -1.7048],
    [[2, 7, 3, 3], 134.6367, -1.8139],
    [[2, 7, 3, 3], 132.7585, -1.7048],
    [[2, 7, 3, 3], 134.6278, -1.6113],
    [[2, 5, 5, 3], 136.306, 0.612],
    [[2, 5, 5, 3], 105.992, -0.1945],
    [[2, 3, 5, 8], 136.3598, -0.6682],
    [[2, 7, 9, 3], 113.9864, -0.914],
    [[2, 7, 9, 3], 135.1167, 0.8117],
    [[2, 7, 9, 3], 135.122, -0.2846],
    [[2, 7, 9, 3], 135.2659, 0.7846],
    [[2, 7, 9, 3], 135.2431, 0.8296],
    [[2, 7, 9, 3], 115.3082, -4.1295],
    [[2, 7, 9, 3], 135.8618, -0.5835],
    [[2, 7, 9, 3], 134.8393, -1.4564],
    [[2, 7, 9, 3], 134.7163, -0.1903],
    [[2, 7, 9, 3], 136.0383, -0.4257],
    [[2, 4, 4, 3], 136.3333, 2.2966],
    [[2, 4, 5, 3], 140.3246, -0.307],
    [[2, 9, 5, 3], 143.3476, -0.0394],
    [[2, 7, 9, 1], 136.0896, -2.0027],
    [[2, 10, 12, 3], 70.8655, -0.1075],
    [[2, 3, 6, 3], 143.7067, 4.24],
]  # fmt: skip

if __name__ == "__main__":
    import keras

    for row in run(keras):
        print(json.dumps(row) + ",")
