"""Bodies that attract each other, by the leapfrog method, with energies, momenta and the closest pairs."""

import numpy as np

bits = np.random.Generator(np.random.PCG64(11))
N, DT = 12, 0.002
place = bits.uniform(-1, 1, (N, 3))
speed = bits.normal(0, 0.2, (N, 3))
mass = bits.uniform(0.5, 2, N)
speed -= np.average(speed, axis=0, weights=mass)


def pull(place):
    d = place[None] - place[:, None]
    r2 = np.einsum("ijk,ijk->ij", d, d) + 0.01
    return np.einsum("ijk,ij,j->ik", d, r2**-1.5, mass)


def energy(place, speed):
    d = place[None] - place[:, None]
    r = np.sqrt((d * d).sum(-1) + 0.01)
    i, j = np.triu_indices(N, 1)
    return 0.5 * np.dot(mass, (speed**2).sum(1)) - (mass[i] * mass[j] / r[i, j]).sum()


first = energy(place, speed)
force = pull(place)
track = []
for k in range(60):
    speed += DT / 2 * force
    place += DT * speed
    force = pull(place)
    speed += DT / 2 * force
    if k % 20 == 0:
        track.append(place.copy())
gap = np.linalg.norm(place[:, None] - place, axis=-1)
np.fill_diagonal(gap, np.inf)
nearest = gap.argmin(axis=1)
angular = (mass[:, None] * np.cross(place, speed)).sum(axis=0)
drift = abs(energy(place, speed) - first) / abs(first)
assert drift < 1e-2
result = np.array(track), nearest, gap.min(axis=1), angular, mass @ speed
print(np.round(place[0], 6), nearest[:4])
