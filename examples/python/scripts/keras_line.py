"""A line through points, as Keras' users write it."""

import keras
import numpy as np

x = np.linspace(-1, 1, 256).reshape(-1, 1)
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.5), loss="mse")
model.fit(x, 2 * x + 1, epochs=10, batch_size=32, verbose=0)
kernel, bias = model.get_weights()
print(f"a line: {kernel.item():.1f} x + {bias.item():.1f}")
print("weights:", ", ".join(w.name for w in model.weights))
