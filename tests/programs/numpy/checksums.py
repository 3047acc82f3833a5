"""Whole numbers that wrap: checksums, hashes and shuffles in 8, 16, 32 and 64 bits, and numbers as bytes."""

import numpy as np

data = np.frombuffer(b"The quick brown fox jumps over the lazy dog" * 3, dtype=np.uint8)
table = np.arange(256, dtype=np.uint32)
for _ in range(8):
    table = np.where(table & 1, np.uint32(0xEDB88320) ^ (table >> np.uint32(1)), table >> np.uint32(1))
crc = np.uint32(0xFFFFFFFF)
for byte in data:
    crc = table[(crc ^ byte) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
crc = int(crc) ^ 0xFFFFFFFF
a = 1 + np.cumsum(data, dtype=np.uint32)
adler = int(a.astype(np.uint64).sum() % 65521) << 16 | int(a[-1]) % 65521
lanes = np.arange(1, 9, dtype=np.uint64)
with np.errstate(over="ignore"):
    for _ in range(5):
        lanes = (lanes ^ (lanes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        lanes = (lanes ^ (lanes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        lanes ^= lanes >> np.uint64(31)
    small = np.arange(-128, 128, 37, dtype=np.int8)
    wrapped = small * np.int8(3), small - np.int8(100), -small, np.abs(small)
half = data[:64].view(np.uint16)
swapped = half.byteswap()
words = data[:64].view("<u4")
rotated = (words << np.uint32(7)) | (words >> np.uint32(25))
bits = np.unpackbits(words.view(np.uint8))
parity = np.bitwise_xor.reduce(bits.reshape(-1, 32), axis=1)
floats = np.array([1.0, -2.5, 0.1, np.inf], dtype=np.float32)
parts = floats.view(np.uint32)
exponent = (parts >> np.uint32(23)) & np.uint32(0xFF)
fraction, power = np.frexp(floats[:3])
guess = (np.uint32(0x5F3759DF) - (np.array([4, 9, 2], np.float32).view(np.uint32) >> np.uint32(1))).view(np.float32)
gray = np.arange(16) ^ (np.arange(16) >> 1)
ones = np.bitwise_count(gray[1:] ^ gray[:-1])
result = crc, adler, lanes, wrapped, swapped, rotated, parity, exponent, fraction, power, guess, ones, gray
print(hex(crc), hex(adler), [hex(int(v)) for v in lanes[:2]], wrapped[0], parity)
