"""Short programs of everyday NumPy, statement by statement in both libraries.

A program has a few arrays and some ten statements: indexing, shapes, statistics, linear algebra, sets, sorting, stores,
printing, Python's own protocols, ufunc methods. Each statement is a text with slots; a slot takes an array that suits,
from those there are (NumPy runs first and tells their shapes) or a new one. Compared are what each statement gives
(values, types, shapes, orders of memory, texts), what it leaves in all arrays, its warnings, and errors by their type.

    python tests/fuzz/everyday.py FIRST COUNT [--group NAME]

COUNT 0: without end. A program that differs is printed up to the statement that does.
"""

import argparse
import copy
import itertools
import math
import pickle
import random
import re
import sys
import warnings

import numpy as np
import odd_arguments
import tutti as tt

TYPES = ["float64", "float64", "float64", "int64", "int64", "float32", "int32", "uint8", "int8", "uint16", "bool",
         "complex128", "complex64", "float16", "uint32", "uint64", "int16"]  # fmt: skip
# What a slot takes: (types by kind, numbers of axes).
SLOTS = {"x": ("biufc", (1, 2, 3)), "y": ("biufc", (1, 2, 3)), "r": ("biuf", (1, 2, 3)), "f": ("f", (1, 2, 3)),
         "i": ("iu", (1, 2, 3)), "v": ("biufc", (1,)), "w": ("biuf", (1,)), "m": ("biufc", (2,)), "q": ("f", (2,)),
         "t": ("biuf", (2, 3)), "z": ("c", (1, 2)), "o": ("b", (1, 2, 3))}  # fmt: skip

STATEMENTS = {
    "index": """
{x}[{n}] | {x}[-1] | {x}[{s}] | {x}[..., {s}] | {x}[::-1] | {x}[None] | {x}[..., None] | {x}[{s}, None]
{m}[{s}, {s}] | {m}[:, {n}] | {m}[{n}, {s}] | {m}[[0, -1]] | {m}[:, [0, 0]] | {m}[[[0], [1]], [0, 1]]
{m}[[0, 1], {s}] | {r}[{r} > 3] | {m}[{m}[:, 0] > 1] | {m}[:, {m}[0] != 2] | {x}[m.ix_([0, 1], [0])] | {x}[()]
{x}[...] | {x}[[]] | {x}[True] | {x}[m.array([0, 1])] | {x}[m.array([[0, 1], [1, 0]])] | {m}[0][1]
{m}[m.arange(2), m.arange(2)] | {x}[{n}:{n}] | {x}[m.nonzero({x})] | {x}[m.argsort({v}, kind='stable')]
{x}[~m.isnan({f})] | {m}[{s}, [0, 1], None] | {x}[[True, False]] | {v}.flat[{s}] | {x}.flat[{n}]
{x}[m.newaxis, ..., 0] | {x}.take([0, 1]) | m.take({m}, [1, 0], axis={a}) | {x}[m.where({r} > 2)[0]]
m.take_along_axis({m}, m.argsort({m}, axis=1, kind='stable'), axis=1) | {x}[1.0] | {x}['a'] | {x}[{n}, {n}, {n}, {n}]
{x}[m.array(1)]
""",
    "store": """
{x}[{n}] = {c} | {x}[{s}] = {c} | {x}[{s}] = {y} | {x}[{r} > 2] = {c} | {x}[...] = {c} | {m}[:, 0] = {v}
{m}[{n}] += {c} | {m}[[0, 1]] = {m}[[1, 0]] | {x}[::-1] = {x} | {m}[:, {s}] *= 2 | {x} += {c} | {x} -= {y}
{x} *= {c} | {x} /= 2 | {i} //= 2 | {x} **= 2 | {i} %= 3 | {i} &= 3 | {o} |= {o} | {i} <<= 1
{m}[m.ix_([0, 1], [1])] = {c} | {x}.flat[0] = {c} | {x}.flat = {c} | {x}.fill({c}) | {v}[[0, 0, 1]] += 1
m.put({x}, [0, 1], {c}) | {x}.sort() | m.copyto({x}, {y}) | m.copyto({x}, {c}, where={x} > 1)
m.putmask({x}, {r} > 1, {c}) | m.place({x}, {x} != 0, [1, 2]) | m.fill_diagonal({m}, {c}) | {m}.T[0] = {c}
{x}.real = 1 | {z}.imag = 2 | {x}.shape = (-1,) | {m}[{n}, {n}] = {y} | m.put_along_axis({m}, m.array([[0]]), {c}, 0)
{f}[{f} < 1] = m.nan | {x}[{n}] = [{c}, {c}] | {x}[1:] += {x}[:-1] | m.clip({x}, 1, 3, out={x}) | m.sqrt({f}, out={f})
m.add({x}, {y}, out={x}, where={o}) | {x}[:] = [{c}] * len({x}) | {x}[{o}] = {v} | {m}[{o}, 0] = 1
{x}[m.array([1, 0])] = {y}
""",
    "shape": """
{x}.reshape(-1) | {x}.reshape({x}.shape[::-1]) | {x}.reshape(2, -1) | {x}.T | {x}.transpose() | {t}.swapaxes(0, 1)
{x}.ravel() | {x}.ravel('F') | {x}.flatten('F') | m.moveaxis({t}, 0, -1) | m.squeeze({x}[None])
m.expand_dims({x}, {a}) | {x}.squeeze() | m.concatenate([{x}, {x}]) | m.concatenate([{x}, {y}], axis={a})
m.stack([{x}, {x}], axis=0) | m.stack([{x}, {x}], axis=-1) | m.vstack([{x}, {y}]) | m.hstack([{x}, {y}])
m.dstack([{x}, {x}]) | m.column_stack([{v}, {v}]) | m.split({x}, 2) | m.array_split({x}, 3, axis={a})
m.tile({x}, {n}) | m.tile({x}, (2, 1)) | m.repeat({x}, 2) | m.repeat({x}, 2, axis={a}) | m.roll({x}, {n})
m.roll({x}, 1, axis={a}) | m.flip({x}) | m.flip({x}, {a}) | m.rot90({m}) | m.rot90({m}, 2) | m.pad({x}, 1)
m.pad({x}, (1, 2), mode='edge') | {x}.T.copy() | m.pad({x}, 1, mode='reflect') | m.pad({v}, (2, 0), constant_values=7)
m.pad({x}, 1, 'wrap') | m.broadcast_to({v}, (2, len({v}))) | m.atleast_2d({x}) | m.diag({v}) | m.diag({m}, {n})
m.tril({m}) | m.triu({m}, 1) | m.block([[{m}, {m}], [{m}, {m}]]) | m.insert({x}, 1, {c})
m.insert({x}, [0, 1], {c}, axis={a}) | m.delete({x}, 0) | m.delete({x}, [0, 1], axis={a}) | m.append({x}, {y})
m.append({x}, {x}, axis={a}) | m.resize({x}, (3, 3)) | {x}.reshape(3, 5) | m.meshgrid({v}, {v})
m.meshgrid({v}, {w}, indexing='ij') | m.trim_zeros({v}) | m.ediff1d({x}) | m.unstack({t}) | m.indices((2, 3))
m.vander({w}, 3) | m.broadcast_arrays({v}, {m}) | {x}.view() | m.ascontiguousarray({x}.T) | m.asfortranarray({x})
{x}.astype('{d}') | {x}.astype('{d}', order='F') | m.array({x}, dtype='{d}') | m.array([{x}, {x}])
m.array({x}.tolist()) | m.zeros_like({x}) | m.full_like({x}, 3) | m.ones_like({x}, dtype='{d}') | m.eye({n})
m.arange({n}, {n} + 5) | m.arange(0, 1, 0.3) | m.linspace(0, {c}, 5) | m.zeros({x}.shape, '{d}') | m.full((2, 2), {c})
m.tri({n}) | m.fromiter(range({n}), '{d}') | m.logspace(0, 1, 4) | m.geomspace(1, 8, 4) | m.kron({m}, {m})
m.flatnonzero({x}) | m.argwhere({x})
""",
    "statistics": """
{x}.{red}() | {x}.{red}(axis={a}) | {x}.{red}(axis={a}, keepdims=True) | m.{red}({x}, axis=None, keepdims=True)
m.{red}({t}, axis=(0, 1)) | m.{red}({r}, where={r} > 1, initial=1) | m.sum({x}, dtype='{d}')
m.mean({x}, axis={a}, where={x} != 0) | m.std({r}, axis={a}, ddof=1) | m.prod({x}, axis={a}, dtype='{d}')
m.var({x}, ddof=1, keepdims=True) | m.median({r}) | m.median({r}, axis={a}, keepdims=True) | m.percentile({r}, {p})
m.percentile({r}, [25, 75], axis={a}) | m.quantile({f}, 0.3, axis={a}, method='{pm}') | m.average({r})
m.average({r}, axis={a}, weights={r}) | m.average({w}, weights={w}, returned=True) | m.ptp({r}, axis={a})
m.cumsum({x}) | m.cumsum({x}, axis={a}) | m.cumprod({x}, axis={a}, dtype='{d}') | m.diff({x})
m.diff({x}, n=2, axis={a}) | m.{nan}({f}) | m.{nan}({f}, axis={a}) | m.argmax({x}, axis={a}) | {x}.argmin()
{x}.argmax(axis={a}, keepdims=True) | m.nanpercentile({f}, 50, axis={a}) | m.nanargmax({f}, axis={a}) | m.cov({m})
m.corrcoef({q}) | m.histogram({r}, bins=4) | m.histogram({r}, bins=[0, 2, 4, 9])
m.histogram({w}, range=(0, 5), density=True) | m.bincount({i}.ravel()) | m.bincount({i}.ravel(), minlength=9)
m.digitize({r}, [1, 3, 5]) | m.searchsorted([1, 3, 5], {r}) | m.searchsorted(m.sort({v}), {v}, side='right')
m.histogram2d({w}, {w}, bins=3) | m.gradient({f}) | m.gradient({q}, 2.0, axis={a}) | m.trapezoid({r}, axis={a})
m.interp({w}, [0, 5], [1, 2]) | m.convolve({v}, [1, 2, 1]) | m.convolve({v}, [1, 0], mode='same')
m.correlate({v}, {v}, 'full') | m.count_nonzero({x}, axis={a}) | m.any({x} > 3, axis={a}) | m.all({x}, keepdims=True)
m.cumulative_sum({x}, axis={a}, include_initial=True) | m.max({x}, axis={a}, initial={c})
m.min({r}, where={o}, initial=9) | {x}.sum(axis={a}, out=m.zeros(3)) | m.sum({x}, axis={a}, dtype='float32')
m.mean({x}, dtype='float32') | m.round(m.polyfit(m.arange(len({w})), {w}, 1), 6) + 0.0 | m.polyval([1, 2, 3], {x})
m.roots([1, -3, 2])
m.unwrap({f}) | m.round({x}, {n}) | m.round({x}, -1) | {x}.round(1) | m.clip({x}, 1, 3) | m.clip({r}, None, 2.5)
{x}.clip(min=2) | m.nan_to_num({f}, nan=1.0)
""",
    "linear": """
{m} @ {m}.T | {m} @ {v} | {v} @ {v} | {m}.dot({m}.T) | m.dot({v}, {v}) | m.inner({m}, {m}) | m.outer({v}, {v})
m.vdot({x}, {x}) | m.tensordot({t}, {t}, axes=1) | m.tensordot({t}, {t}, axes=([0], [0]))
m.einsum('ij,ij->i', {m}, {m}) | m.einsum('ij->j', {m}) | m.einsum('ii', {q}) | m.einsum('i,j', {v}, {v})
m.einsum('ij,kj->ik', {m}, {m}) | m.trace({m}) | m.trace({t}) | m.linalg.norm({r}) | m.linalg.norm({m}, axis={a})
m.linalg.norm({m}, {ord}) | m.linalg.norm({x}, axis={a}, keepdims=True) | m.linalg.det({sq}) | m.linalg.inv({sq})
m.linalg.solve({sq}, {sq}) | m.linalg.solve({sq}, [1, 2, 3]) | m.linalg.eigvalsh({sq})
m.linalg.svd({q}, compute_uv=False) | m.linalg.matrix_rank({m}) | m.linalg.pinv({q}) | m.linalg.slogdet({sq})
m.linalg.matrix_power({sq}, {n}) | m.linalg.cholesky({sq} @ {sq}.T + 9 * m.eye(3)) | m.linalg.cond({sq})
m.linalg.multi_dot([{m}, {m}.T, {m}]) | m.abs(m.linalg.qr({sq})[1]) | m.linalg.lstsq({sq}, m.ones(3), rcond=None)[0]
m.cross([1, 2, 3], {v}[:3]) | m.matmul({t}, {m}) | m.linalg.inv({m}) | m.vecdot({m}, {m}) | m.diagonal({m})
{m}.diagonal(1) | {m}.trace() | m.linalg.vector_norm({x}, axis={a}) | m.matvec({m}, {v}) | m.fft.fft({v})
m.fft.rfft({w}, 4) | m.fft.ifft({m}, axis={a}) | m.fft.fft2({m}) | m.fft.fftfreq({n}, 0.5) | m.fft.irfft({z})
m.fft.fftshift({x}) | m.kron({v}, {v}) | m.linalg.tensorinv({sq}, 1) | m.linalg.eigvals({sq} * 0 + m.diag([1, 2, 3]))
""",
    "sets": """
m.unique({x}) | m.unique({r}, return_counts=True) | m.unique({r}, return_index=True, return_inverse=True)
m.unique({m}, axis={a}) | m.intersect1d({v}, {v}) | m.union1d({v}, {w}) | m.setdiff1d({v}, [1, 2])
m.setxor1d({v}, {v}[:2]) | m.isin({x}, [1, 4, 0]) | m.isin({x}, {y}, invert=True) | m.sort({x})
m.sort({x}, axis={a}) | m.sort({x}, axis=None) | m.argsort({r}, kind='stable')
m.argsort({r}, axis={a}, kind='stable') | m.lexsort(({v}, {v})) | m.nonzero({x}) | m.where({r} > 2, {r}, {c})
m.where({o}) | m.where({x}, 1, 0) | m.select([{r} > 4, {r} > 1], [{r}, -1], 9)
m.choose([0, 1, 0], [{v}[:3], [7, 8, 9]]) | m.compress([True, False], {x}, axis={a}) | m.extract({r} > 1, {r})
m.piecewise({f}, [{f} < 1, {f} >= 1], [-1, lambda v: v * 2]) | m.logical_and({x} > 1, {x} < 5)
m.isclose({x}, {x} + 1e-9) | m.allclose({x}, {y}) | m.array_equal({x}, {y}) | m.flatnonzero({r} > 2)
m.apply_along_axis(sorted, {a}, {r}) | m.unique_counts({r}) | m.apply_along_axis(lambda v: v[::-1], {a}, {m})
m.ravel_multi_index(([0, 1], [1, 0]), (2, 3)) | m.unravel_index([1, 4], (2, 3)) | m.packbits({o})
m.unpackbits({v}.astype('u1'))
""",
    "ufunc": """
{x} + {y} | {x} - {c} | {c} * {x} | {x} / {y} | {r} // {c} | {r} % {c} | {x} ** 2 | 2 ** {r} | -{x} | abs({x}) | ~{i}
{i} & 3 | {i} << 1 | {i} ^ {i} | {x} == {y} | {x} != {c} | {r} < {c} | {r} >= {r} | divmod({r}, 2) | divmod(7, {r})
m.{un}({x}) | m.{un}({f}) | m.{bi}({r}, {c}) | m.{bi}({r}, {r}) | m.{bi}({x}, {y}) | m.{as}.reduce({r})
m.{as}.reduce({r}, axis={a}) | m.{as}.accumulate({r}) | m.{bi}.outer({v}, {v})
m.add.reduce({x}, axis={a}, keepdims=True) | m.maximum.reduce({r}, axis={a}, initial={c})
m.add.reduce({x}, where={x} != 1) | m.multiply.reduce({x}, axis=(0,), initial=2) | m.add.reduceat({v}, [0, 1])
m.multiply.accumulate({x}, axis={a}) | m.add({x}, 1, dtype='{d}') | m.add({x}, {c}, out=m.zeros({x}.shape))
m.add({x}, {c}, out=m.zeros({x}.shape, '{d}'), casting='unsafe') | m.sqrt({r}, where={r} > 0, out=m.ones({r}.shape))
m.multiply({x}, {y}, casting='no') | m.sin({x}, dtype='float32') | m.modf({f}) | m.frexp({f})
m.subtract.outer({v}, {w}) | [w := m.array({v}), m.add.at(w, [0, 0, 1], 1), w][2] | m.logical_or.reduce({x}, axis={a})
m.bitwise_or.reduce({i}) | m.equal({x}, {y}, dtype=bool) | m.power({r}, 3) | m.power({f}, 0.5) | m.float_power({r}, 2)
m.heaviside({r}, 0.5) | m.hypot({r}, 3) | m.arctan2({r}, {r}) | m.angle({x}) | m.real({x}) | m.imag({x}) | {z}.conj()
{z}.imag | {x}.real | m.sinc({r}) | m.i0({r}) | m.exp({f}) | m.log1p({r}) | m.cbrt({r}) | m.deg2rad({r})
m.ldexp({f}, 2) | m.gcd({i}, 4) | m.lcm({i}, 3) | m.sign({x}) | m.copysign({r}, -1) | m.fix({r}) | m.nextafter({f}, 9)
m.spacing({f}) | m.trunc({r}) | m.ceil({r}) | m.rint({x}) | m.isfinite({x}) | m.signbit({r}) | m.logaddexp({r}, 1)
m.fmod({r}, 2) | m.bitwise_count({i}) | m.positive({x}) | m.reciprocal({r}) | m.square({x}) | m.fabs({r}) | {x} + 1j
{x} + 1.5 | {x} + True | {x} + np.float32(1) | {x} * np.int8(2) | {x} + [{c}] | {c} - {x} | {x} > [1]
{x} + m.float32(2) | {x} * m.array(2.5) | {x} + 300 | {x} - 2 ** 40 | [1] + {v} | {x} @ 2
""",
    "print": """
repr({x}) | str({x}) | f'{{x}}' | str({x}[{n}]) | f'{{x}.sum():.3f}' | repr({x}.T) | repr({x} * 1e10) | repr({x} / 3)
str({x} / 7) | repr({f} * m.nan) | repr({z} / 3) | repr({x}[:0]) | repr({x}[None])
m.array2string({x} / 3, precision=2) | m.array2string({x}, separator=', ')
m.array2string({f}, formatter={'float_kind': lambda v: '%.1f' % v}) | m.array_repr({x}, max_line_width=30)
m.array_str({x} / 9, precision=3, suppress_small=True) | repr(m.arange(2000)) | repr(m.zeros((50, 50)))
str({x}.dtype) | repr({x}.dtype) | repr({x}.shape) | printed({x} / 3, precision=3)
printed({x}, threshold=4, edgeitems=1) | printed({f} / 1e5, suppress=True) | printed({x}, linewidth=20)
printed({x} * 1.5, floatmode='fixed') | printed({x} / 3, sign='+') | printed({x} * m.inf, nanstr='?', infstr='oo')
str({x}.flags) | format({x}[{n}], '') | '%s' % {x} | '%.2f' % {r}.sum() | repr({x}.astype('float32') / 3)
repr({x}.astype('float16') / 3) | repr(m.array([1e-5, 1.0, 1e5])) | repr({x}.astype(complex) * (1 + 2j))
str({x}.reshape(-1, 1)) | repr({x}.tolist()) | str(m.float64(0.1)) | repr({m} == 1)
m.format_float_positional({r}.ravel()[0] / 3) | m.format_float_scientific(1234.5) | m.base_repr({n}, 3)
m.binary_repr({n}, 5) | repr(m.finfo('f4')) | repr(m.iinfo('i2')) | printed({x} / 3, floatmode='maxprec_equal')
printed({f} * 1e-8, precision=4)
""",
    "python": """
len({x}) | list({v}) | {x}.tolist() | {c} in {x} | 99 in {x} | [float(v) for v in {w}] | [row.sum() for row in {m}]
bool({x}.any()) | int({x}.size) | float({r}.sum()) | complex({x}.sum()) | int({r}.max()) | sum({v}) | max({w})
sorted({w}) | min({w}.tolist()) | bool({x}) | {x}.item(0) | {x}[{n}].item() if {x}.ndim == 1 else 0 | {x}.shape
{x}.ndim | {x}.size | {x}.nbytes | {x}.itemsize | {x}.strides | {x}.dtype == '{d}' | {x}.dtype.kind
{x}.dtype.itemsize | {x}.dtype.name | {x}.dtype.str | flags({x}) | flags({x}.T) | flags({x}[::2]) | flags({x}.copy())
flags({x}.reshape(-1)) | flags({x}.astype('{d}')) | flags({x}[{s}]) | flags(m.broadcast_to({x}, (2,) + {x}.shape))
pickle.loads(pickle.dumps({x})) | flags(pickle.loads(pickle.dumps({x}.T))) | copy.copy({x}) | copy.deepcopy({x})
flags(copy.deepcopy({x}.T)) | {x} is {x}.view() | {x}[:].base is None | round({r}.sum(), 1)
math.sqrt(abs({r}.sum())) | {v}[m.argmax({v})] | range({i}.ravel()[0] % 5) | [1, 2, 3][{i}.ravel()[0] % 3]
'%d' % {r}.sum() | dict(zip({v}.tolist(), range(9))) | {x}.tobytes() | m.ndindex(2, 2).__next__()
[i for i in m.ndindex({m}.shape)][:4] | [(i, float(v)) for i, v in m.ndenumerate({r})][:3]
hash({x}[(0,) * {x}.ndim]) == hash({x}[(0,) * {x}.ndim].item()) | {x}.flat[0] | [v for v in {x}.flat][:3]
{x}.__len__() | m.shape({x}) | m.ndim({x}) | m.size({x}, 0)
isinstance({x}[(0,) * {x}.ndim].item(), (int, float, complex)) | reversed({v}).__next__()
enumerate({v}).__next__()[0] | {x}.__bool__() | {x}.__int__() | {x}.__float__() | same({x}, {x}.copy())
same({x}, {y}) | m.result_type({x}, {y}) | m.result_type({x}, 1) | m.result_type({x}, 1.5)
m.can_cast({x}.dtype, '{d}') | m.promote_types({x}.dtype, '{d}') | m.iscomplexobj({x})
m.issubdtype({x}.dtype, m.floating) | float(m.finfo({f}.dtype).eps) | m.iinfo({i}.dtype).max
m.isdtype({x}.dtype, 'integral') | m.dtype('{d}').name | m.shares_memory({x}, {x}[::2])
m.may_share_memory({x}, {x}.T) | m.shares_memory({x}, {x}.copy()) | {x}.view('u1') | {x}.view('{d}') | {f}.view('i8')
m.array({v}.tolist() + [None]) | m.array([[1, 2], [3]]) | m.array([1, 2.5, True]) | m.array([1, 2j])
m.array([[1, 2], [3, 4]], dtype='{d}') | m.asarray({x}) is {x} | m.array({x}) is {x} | {x}.nosuch
m.array('a') + 1 if 0 else 1 | {x}.reshape(7, 11) | {m} @ m.ones(17) | m.concatenate([]) | m.stack([])
m.ones(3) + m.ones(4) | {x}.sum(axis=9) | m.zeros(-1) | m.ones((2, 3)).reshape(4) | m.linalg.inv(m.zeros((2, 2)))
m.array([1, 2]).item() | m.arange(3)[5] | m.max(m.zeros(0)) | m.argmax([]) | m.mean([]) | m.median([])
""",
}  # fmt: skip

CHOICES = {
    "n": "0 1 2 3 -1 5".split(),
    "a": "0 1 -1 0 1 2 None".split(),
    "c": "0 1 2 -1 2.5 3 True 7 1j 1e3".split(),
    "s": [":", "1:", ":-1", "::2", "::-1", "1:3", "-2:", ":0", "5:", "2:0:-1"],
    "d": ["float32", "float64", "int32", "int64", "uint8", "bool", "complex128", "int8", "float16"],
    "p": "0 50 33.3 100".split(),
    "pm": "linear lower nearest midpoint hazen".split(),
    "ord": "1 2 inf -inf 'fro' 'nuc' None".split(),
    "red": "sum mean std var max min prod any all".split(),
    "nan": "nansum nanmean nanstd nanmax nanmin nanmedian nanprod nancumsum".split(),
    "un": "sin cos exp log sqrt abs floor ceil negative sign isnan square tanh arctan log2 invert conj".split(),
    "bi": "add subtract multiply maximum minimum logical_and bitwise_xor arctan2 fmax power floor_divide".split(),
    "as": "add multiply maximum minimum logical_and logical_or fmin fmax".split(),
    "sq": [
        "m.array([[4., 1, 0], [1, 3, 1], [0, 1, 2]])",
        "m.array([[2, 1, 1], [1, 3, 2], [1, 0, 0]])",
        "m.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], dtype='float32')",
    ],  # fmt: skip
}


class Side:
    """One library, and its arrays of one program by name."""

    def __init__(self, m):
        self.m = m
        self.names = {"m": m, "np": np, "A": self.array, "printed": self.printed, "flags": flags, "same": same,
                      "math": math, "pickle": pickle, "copy": copy}  # fmt: skip

    def array(self, seed, shape, dtype):
        r = np.random.default_rng(seed)
        kind = np.dtype(dtype).kind
        x = r.integers(-8 if kind in "fic" else 0, 10, shape)
        x = x / 4 if kind == "f" else x > 4 if kind == "b" else x + 1j * r.integers(-3, 4, shape) if kind == "c" else x
        x = np.asarray(x).astype(dtype)
        return x if self.m is np else self.m.asarray(x)

    def printed(self, x, **options):
        with self.m.printoptions(**options):
            return repr(x)

    def run(self, text, used):
        """What a statement gives, leaves in the arrays it names, and warns of."""
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            try:
                exec(text, self.names)
                seen = ["is", odd_arguments.picture(self.names.get("it"))]
            except odd_arguments.Foreign:
                seen = ["foreign"]
            except Exception as e:
                seen = ["raises", odd_arguments.error_type(e), str(e)]
            after = [odd_arguments.picture(self.names[name]) for name in used]
        return seen, sorted({w.category.__name__ for w in caught}), after


def flags(x):
    f = x.flags
    return f.c_contiguous, f.f_contiguous, f.writeable, f.aligned


def same(x, y):
    np.testing.assert_array_equal(x, y)
    np.testing.assert_allclose(x, y)
    return True


# An out of another type whose masked elements stay: NumPy reads them in the type of the result, and warns of that.
OWN_WARNING = r"out=.*where="
# What index arrays pick lies in C's order (docs/numpy.md).
OWN_ORDER = r"\[.*[\[(&|<>=].*\]|\[True\]|argwhere|delete\(|take_along_axis|nonzero"
# NumPy 2.5 warns of the first two, has lost the third for vectors of two, makes the fourth complex, and refuses numbers
# that do not fit in the last (docs/numpy.md).
OWN_AGE = r"fix\(|\.shape = |cross\(|eigvals|where\(.*, -1\)"


class Program:
    """Statements from a seed; NumPy has run what stands, so that slots know the shapes."""

    def __init__(self, seed, group=""):
        self.r = random.Random(seed)
        self.group = group
        self.theirs, self.ours = Side(np), Side(tt)
        self.lines, self.arrays, self.exact = [], [], set()
        self.shapes = self.r.choice([[(3,), (2, 3), (3, 3), (2, 2, 3)], [(4,), (3, 4), (4, 4), (2, 3, 4)],
                                     [(2,), (2, 2), (2, 2, 2)], [(5,), (1, 5), (5, 5), (2, 1, 5)]])  # fmt: skip
        self.types = self.r.sample(TYPES, 2)

    def fits(self, name, slot):
        kinds, ranks = SLOTS[slot]
        x = self.theirs.names[name]
        return x.dtype.kind in kinds and x.ndim in ranks

    def taken(self, slot, exact):
        """An array for a slot; exact: one of quarters, whose digits are what they are."""
        if slot not in SLOTS:
            return self.r.choice(CHOICES[slot])
        fit = [name for name in self.arrays if self.fits(name, slot) and (not exact or name in self.exact)]
        if fit and self.r.random() < 0.7:
            return self.r.choice(fit)
        kinds, ranks = SLOTS[slot]
        types = [t for t in self.types + TYPES if np.dtype(t).kind in kinds]
        name, shape = f"a{len(self.arrays)}", self.r.choice([s for s in self.shapes if len(s) in ranks])
        self.do(f"{name} = A({self.r.randrange(10**6)}, {shape}, '{types[0]}')")
        self.arrays.append(name)
        self.exact.add(name)
        return name

    def do(self, text, used=()):
        """Both run a statement. In a word how the outcomes differ, or None."""
        self.lines.append(text)
        self.theirs.names["it"] = self.ours.names["it"] = None
        theirs, ours = self.theirs.run(text, used), self.ours.run(text, used)
        self.outcomes = theirs, ours
        found = differs(theirs, ours, self.rough(text, used), re.search(FAULTS, text))
        own = OWN_ORDER if found == "order" else OWN_WARNING if found == "warnings ['ComplexWarning'], not []" else None
        if odd_arguments.NEWER and re.search(OWN_AGE, text):
            return None
        return None if own and re.search(own, text) else found

    def rough(self, text, used):
        types = " ".join([text, *[str(self.theirs.names[name].dtype) for name in used]])
        return max((t for name, t in odd_arguments.TOLERANCE.items() if name in types), default=0)

    def statement(self):
        group = self.group or self.r.choice(list(STATEMENTS))
        template = self.r.choice(STATEMENTS[group].replace("\n", " | ").strip(" |").split(" | "))
        parts, used = re.split(r"\{(\w+)\}", template), []
        for k in range(1, len(parts), 2):
            slot, parts[k] = parts[k], self.taken(parts[k], group in ("print", "python"))
            used += [parts[k]] * (slot in SLOTS)
        text = "".join(parts)
        if group == "store":
            self.exact -= set(used)
        found = self.do(text if group == "store" else f"it = {text}", list(dict.fromkeys(used)))
        self.over = group == "store" and self.outcomes[0][0][0] == "raises"  # NumPy's array may hold a part of it
        made = self.theirs.names["it"]
        kept = group not in ("linear", "print") and not re.search(OWN_ORDER, text) and isinstance(made, np.ndarray)
        if not found and kept and 1 <= made.ndim <= 3 and 0 < made.size <= 60 and made.dtype.kind in "biufc":
            if self.r.random() < 0.4:
                self.arrays.append(f"a{len(self.arrays)}")
                self.do(f"{self.arrays[-1]} = {text}")
        return found


# Calls with two faults: which one is named is a matter of order.
FAULTS = r"select|out=|axis=None|^(?!it =)"
# An axis that is not there may be said to be so: AxisError is a ValueError and an IndexError.
ALSO = {"IndexError": ["IndexError", "AxisError"], "ValueError": ["ValueError", "AxisError"]}


def differs(theirs, ours, rough, faults):
    (want, want_warnings, want_after), (got, got_warnings, got_after) = theirs, ours
    if want[0] == "foreign":
        return None
    if want[0] != got[0]:
        return f"{got[1]}, no error there" if got[0] == "raises" else f"no {want[1]}"
    if want[0] == "raises":
        found = None if faults or got[1] in ALSO.get(want[1], [want[1]]) else f"{got[1]}, not {want[1]}"
    else:
        found = odd_arguments.difference(want[1], got[1], 0, rough)
    for a, b in zip(want_after, got_after, strict=True):  # a store that fails may have begun
        left = None if found or want[0] == "raises" else odd_arguments.difference(a, b, 0, rough)
        found = found or (left and f"arrays: {left}")
    if not found and want_warnings != got_warnings:
        found = f"warnings {want_warnings}, not {got_warnings}"
    return found


def run(seed, group=""):
    """None, or (in a word what differs, the program)."""
    program = Program(seed, group)
    for _ in range(program.r.randint(4, 10)):
        found = program.statement()
        if found:
            return found, program
        if program.over:
            break
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--group", default="", choices=["", *STATEMENTS])
    o = parser.parse_args()
    wrong = 0
    for seed in range(o.first, o.first + o.count) if o.count else itertools.count(o.first):
        found = run(seed, o.group)
        if found:
            wrong += 1
            theirs, ours = found[1].outcomes
            print(f"{seed}: {found[0]}", *found[1].lines, f"NumPy {theirs}", f"ours  {ours}", sep="\n    ", flush=True)
    print(f"{wrong} programs differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
