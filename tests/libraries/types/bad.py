import tutti as tt

x = tt.zeros((2, 3))
a: str = x.sum()  # wrong: an array
x.summ()  # wrong: no such method
b: int = tt.sin(x)  # wrong: an array
tt.sun(x)  # wrong: no such function
c: str = tt.sum(x)  # wrong: an array
x.sum(axes=0)  # wrong: no such argument
tt.mean()  # wrong: an argument is missing
d: tuple[int] = tt.where(x > 0, x, 0)  # wrong: an array
e: tt.ndarray = tt.where(x > 0)  # wrong: a tuple
x.shape = "2"  # wrong: no shape
tt.linalg.solv(x, x)  # wrong: no such function
for k in x.shape:
    k.real.upper()  # wrong: no text
f: str = tt.random.default_rng(0).normal()  # wrong: a float
g: float = tt.random.default_rng(0).normal(size=3)  # wrong: an array
tt.random.default_rng(0).norml()  # wrong: no such method
h: tt.ndarray = tt.unique(x, return_index=True)  # wrong: a tuple
i: tt.ndarray = tt.linspace(0, 1, 5, retstep=True)  # wrong: a tuple
v = tt.linalg.svd(x).V  # wrong: no such field
tt.sort(x, axis="last")  # wrong: no axis
tt.add.reduc(x)  # wrong: no such method
j: int = tt.base_repr(3)  # wrong: a text
