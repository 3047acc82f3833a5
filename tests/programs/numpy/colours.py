"""From red, green and blue to hue, saturation and value and back, with masks and fancy assignments; a small palette."""

import numpy as np

n = np.arange(16 * 12)
rgb = np.stack([(n * 37) % 256, (n * 91 + 5) % 256, (n * n) % 256], axis=-1).reshape(12, 16, 3).astype(np.uint8)


def to_hsv(rgb):
    c = rgb.astype(float) / 255
    top, low = c.max(-1), c.min(-1)
    span = top - low
    safe = np.where(span == 0, 1, span)
    r, g, b = np.moveaxis(c, -1, 0)
    hue = (
        np.select([span == 0, top == r, top == g], [0, (g - b) / safe % 6, (b - r) / safe + 2], (r - g) / safe + 4) / 6
    )
    return np.stack([hue, np.divide(span, top, out=np.zeros_like(top), where=top > 0), top], -1)


def to_rgb(hsv):
    h, s, v = (hsv[..., k] for k in range(3))
    i = np.floor(h * 6).astype(int)
    f = h * 6 - i
    p, q, t = v * (1 - s), v * (1 - s * f), v * (1 - s * (1 - f))
    parts = np.choose(np.stack([i % 6] * 3), [[v, t, p], [q, v, p], [p, v, t], [p, q, v], [t, p, v], [v, p, q]])
    return np.rint(np.moveaxis(parts, 0, -1) * 255).astype(np.uint8)


hsv = to_hsv(rgb)
assert np.array_equal(to_rgb(hsv), rgb)
vivid = hsv.copy()
vivid[..., 1] = np.minimum(1, vivid[..., 1] * 1.5)
vivid[vivid[..., 2] < 0.2, 2] = 0.2
palette = rgb.reshape(-1, 3)[::24].astype(int)
nearest = ((rgb[:, :, None].astype(int) - palette) ** 2).sum(-1).argmin(-1)
error = np.abs(palette[nearest] - rgb.astype(int)).mean(axis=(0, 1))
grey = np.dot(rgb, [0.299, 0.587, 0.114]).round().astype(np.uint8)
planes = np.unpackbits(grey[..., None], axis=-1)
assert np.array_equal(np.packbits(planes, axis=-1)[..., 0], grey)
packed = rgb[..., 0].astype(np.uint32) << 16 | rgb[..., 1].astype(np.uint32) << 8 | rgb[..., 2]
result = hsv, to_rgb(vivid), nearest, error, grey, planes.sum(axis=(0, 1)), packed, np.unique(packed).size
print(hex(int(packed[3, 4])), nearest[0, :6], grey.dtype)
