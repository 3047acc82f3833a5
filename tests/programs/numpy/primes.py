"""Sieves, factors, perfect numbers, Pascal's triangle, continued fractions and digits: whole numbers only."""

import numpy as np

N = 3000
sieve = np.ones(N, dtype=bool)
sieve[:2] = False
for p in range(2, int(N**0.5) + 1):
    if sieve[p]:
        sieve[p * p :: p] = False
primes = np.flatnonzero(sieve)
gaps, often = np.unique(np.diff(primes), return_counts=True)
twins = primes[:-1][np.diff(primes) == 2]
divisors = np.zeros(N, dtype=np.int64)
total = np.zeros(N, dtype=np.int64)
for d in range(1, N // 2):
    divisors[d::d] += 1
    total[2 * d :: d] += d
perfect = np.flatnonzero(total == np.arange(N))[1:]
least = np.zeros(N, dtype=np.int32)
for p in primes[::-1]:
    least[p::p] = p
phi = np.arange(N)
for p in primes:
    phi[p::p] -= phi[p::p] // p
pascal = np.zeros((20, 20), dtype=np.int64)
pascal[:, 0] = 1
for n in range(1, 20):
    pascal[n, 1:] = pascal[n - 1, 1:] + pascal[n - 1, :-1]
assert (pascal.sum(1) == 2 ** np.arange(20)).all()
fib = np.array([[1, 1], [1, 0]], dtype=np.int64)
fibonacci = [int(np.linalg.matrix_power(fib, n)[0, 1]) for n in range(0, 90, 9)]
digits = np.arange(N)[:, None] // 10 ** np.arange(4) % 10
happy = np.arange(N)
for _ in range(12):
    happy = (happy[:, None] // 10 ** np.arange(5) % 10) ** 2 @ np.ones(5, dtype=int)
palindromes = np.flatnonzero((digits[1000:] == digits[1000:, ::-1]).all(axis=1)) + 1000
collatz, length = np.arange(1, 200), np.zeros(199, dtype=int)
while (moving := collatz != 1).any():
    collatz = np.where(moving, np.where(collatz % 2 == 0, collatz // 2, 3 * collatz + 1), 1)
    length += moving
common = np.gcd.outer(np.arange(1, 13), np.arange(1, 13))
result = primes, gaps, often, twins[-5:], perfect, least[:50], phi[:50], fibonacci, palindromes, length, common
result += np.flatnonzero(happy == 1)[:20], np.lcm.reduce(np.arange(1, 21)), int(divisors[1:].argmax()) + 1
print(len(primes), perfect, fibonacci[-1], np.lcm.reduce(np.arange(1, 21)))
