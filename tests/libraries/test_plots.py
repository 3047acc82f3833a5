"""Pictures: matplotlib, seaborn and plotly draw from our arrays what they draw from NumPy's, to the pixel."""

import numpy as np
import pytest
from given import cases, same


def drawn(draw):
    """A case that draws into a figure and gives its pixels."""

    def case(a):
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        fig = plt.figure(figsize=(2, 1.5), dpi=40)
        try:
            draw(plt, a)
            fig.canvas.draw()
            return np.array(fig.canvas.buffer_rgba())
        finally:
            plt.close("all")

    return case


def in_space(draw):
    def case(plt, a):
        return draw(plt.axes(projection="3d"), a)

    return case


def dates(plt, a):
    import matplotlib.dates as mdates

    plt.plot(mdates.num2date(a.x * 100), a.y)


def colours(plt, a):
    from matplotlib import colors

    norm = colors.Normalize(a.x.min(), a.x.max())
    plt.scatter(a.x, a.y, c=plt.get_cmap("viridis")(norm(a.x)))
    plt.pcolormesh(a.image, norm=colors.LogNorm(a.image.min(), a.image.max()))


def patches(plt, a):
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.patches import Circle, Polygon, Rectangle

    ax = plt.gca()
    ax.add_patch(Rectangle((a.x[0], a.y[0]), a.x[3], a.x[5]))
    ax.add_patch(Circle((a.x[9], 0.5), a.x[4]))
    ax.add_patch(Polygon(a.m[:, :2]))
    ax.add_collection(PolyCollection([a.m[:4, :2], a.m[4:8, :2]]))
    ax.add_collection(LineCollection([a.m[:, :2], a.m[:, 2:]], array=a.x[:2]))
    ax.autoscale_view()


def triangles(plt, a):
    from matplotlib.tri import Triangulation

    t = Triangulation(a.x[:12] * a.m[:, 0], a.m[:, 1])
    plt.tripcolor(t, a.m[:, 2])
    plt.tricontour(t, a.m[:, 3])
    plt.triplot(t)


def grid(plt, a):
    axes = plt.gcf().subplots(2, 2)
    for ax, n in zip(axes.flat, a.k):
        ax.plot(a.x, a.y * n)
        ax.set_title(f"{n} {a.x[int(n)]:.2f}")


def limits(plt, a):
    plt.plot(a.x, a.y, label=a.k[0])
    plt.xlim(a.x[3], a.x[-3])
    plt.ylim(a.y.min(), a.y.max())
    plt.xticks(a.x[::16], a.k[:4])
    plt.yticks(a.y[:3])
    plt.axvspan(a.x[2], a.x[5], alpha=0.3)
    plt.axhline(a.y.mean())
    plt.text(a.x[10], a.y[10], a.k[3])
    plt.annotate("here", (a.x[1], a.y[1]), xytext=(a.x[20], a.y[30]), arrowprops={"arrowstyle": "->"})
    plt.legend(title=a.x.sum())


def moving(plt, a):
    (line,) = plt.plot(a.x, a.y)
    line.set_data(a.x, a.y * 2)
    line.set_ydata(a.f)
    shown = plt.imshow(a.image)
    shown.set_data(a.image * 0.5)
    shown.set_clim(a.image.min(), a.image.max())
    dots = plt.scatter(a.x, a.y)
    dots.set_offsets(a.m[:, :2])
    dots.set_array(a.m[:, 2])


MATPLOTLIB = {
    "plot": lambda plt, a: plt.plot(a.x, a.y, "o-", a.x, a.f),
    "plot-columns": lambda plt, a: plt.plot(a.x[:12], a.m),
    "plot-alone": lambda plt, a: plt.plot(a.f),
    "plot-data": lambda plt, a: plt.plot("x", "y", data={"x": a.x, "y": a.y}),
    "scatter": lambda plt, a: plt.scatter(a.x, a.y, c=a.k, s=a.x * 10, alpha=0.5),
    "scatter-colours": lambda plt, a: plt.scatter(a.m[:, 0], a.m[:, 1], c=abs(a.m) / abs(a.m).max()),
    "bar": lambda plt, a: plt.bar(a.x, a.y, width=0.05),
    "bar-stacked": lambda plt, a: plt.bar(a.x, a.y, bottom=a.f, yerr=a.x / 20, color="g"),
    "bar-label": lambda plt, a: plt.bar_label(plt.bar(a.x[:5], a.x[5:10])),
    "barh": lambda plt, a: plt.barh(a.k, a.x),
    "hist": lambda plt, a: plt.hist(a.y, bins=12, density=True),
    "hist-weights": lambda plt, a: plt.hist(a.y, bins=a.x[:8] - 1, weights=a.x, cumulative=True),
    "hist-columns": lambda plt, a: plt.hist(a.m, stacked=True),
    "hist-masked": lambda plt, a: plt.hist(a.y[a.b], histtype="step"),
    "hist2d": lambda plt, a: plt.hist2d(a.x, a.y, bins=8),
    "hexbin": lambda plt, a: plt.hexbin(a.x, a.y, gridsize=8, C=a.f),
    "imshow": lambda plt, a: plt.colorbar(plt.imshow(a.image, cmap="magma", extent=a.x[:4])),
    "imshow-colours": lambda plt, a: plt.imshow(a.pixels),
    "imshow-bool": lambda plt, a: plt.imshow(a.image > 0.5),
    "imshow-float32": lambda plt, a: plt.imshow(a.image.astype("float32"), vmin=a.image.mean()),
    "matshow": lambda plt, a: plt.gca().matshow(a.m),
    "spy": lambda plt, a: plt.spy(a.s > 5),
    "pcolormesh": lambda plt, a: plt.pcolormesh(a.x[:32], a.y[:24].cumsum(), a.image, shading="auto"),
    "pcolor": lambda plt, a: plt.pcolor(a.image),
    "contour": lambda plt, a: plt.clabel(plt.contour(a.image, levels=a.x[:4] / 2)),
    "contourf": lambda plt, a: plt.contourf(a.x[:32], a.x[:24], a.image),
    "quiver": lambda plt, a: plt.quiver(a.x[:12], a.x[:12], a.m[:, 0], a.m[:, 1]),
    "barbs": lambda plt, a: plt.barbs(a.x[:12], a.x[:12], a.m[:, 0] * 9, a.m[:, 1] * 9),
    "streamplot": lambda plt, a: plt.streamplot(a.x[:32], a.x[:24], a.image, 1 - a.image),
    "fill_between": lambda plt, a: plt.fill_between(a.x, a.y, a.f, where=a.y > a.f),
    "fill": lambda plt, a: plt.fill(a.x, a.y),
    "stackplot": lambda plt, a: plt.stackplot(a.x[:12], a.n),
    "errorbar": lambda plt, a: plt.errorbar(a.x, a.y, yerr=a.x / 10, xerr=(a.x / 20, a.x / 30), fmt="o"),
    "boxplot": lambda plt, a: plt.boxplot(a.m),
    "boxplot-list": lambda plt, a: plt.boxplot([a.x, a.y, a.f]),
    "violinplot": lambda plt, a: plt.violinplot([a.m[:, 0], a.m[:, 1]]),
    "pie": lambda plt, a: plt.pie(a.x[:4], labels=a.k[:4], explode=a.x[:4] / 5),
    "stem": lambda plt, a: plt.stem(a.x, a.y),
    "step": lambda plt, a: plt.step(a.x, a.y, where="mid"),
    "stairs": lambda plt, a: plt.stairs(a.y[:-1], a.x),
    "loglog": lambda plt, a: plt.loglog(a.x, a.x**2),
    "semilogy": lambda plt, a: plt.semilogy(a.x, abs(a.y) + 1),
    "vlines": lambda plt, a: plt.vlines(a.x, a.y, a.f, colors="r"),
    "hlines": lambda plt, a: plt.hlines(a.x[:3], 0, a.x[3:6]),
    "eventplot": lambda plt, a: plt.eventplot([a.x, a.x[a.b]]),
    "ecdf": lambda plt, a: plt.ecdf(a.y),
    "polar": lambda plt, a: plt.polar(a.x, a.y),
    "specgram": lambda plt, a: plt.specgram(a.y, NFFT=16, noverlap=8),
    "psd": lambda plt, a: plt.psd(a.y, NFFT=32),
    "csd": lambda plt, a: plt.csd(a.y, a.x, NFFT=32),
    "cohere": lambda plt, a: plt.cohere(a.y, a.x, NFFT=16),
    "magnitude_spectrum": lambda plt, a: plt.magnitude_spectrum(a.y),
    "xcorr": lambda plt, a: plt.xcorr(a.x, a.y, maxlags=5),
    "acorr": lambda plt, a: plt.acorr(a.y),
    "broken_barh": lambda plt, a: plt.broken_barh([(a.x[0], a.x[1]), (a.x[4], a.x[2])], (a.x[1], a.x[2])),
    "table": lambda plt, a: plt.table(a.k[:4].reshape(2, 2), loc="center"),
    "figimage": lambda plt, a: plt.figimage(a.image),
    "twin": lambda plt, a: (plt.plot(a.x, a.y), plt.twinx().plot(a.x, a.f)),
    "dates": dates,
    "colours": colours,
    "patches": patches,
    "triangles": triangles,
    "grid": grid,
    "limits": limits,
    "moving": moving,
    "surface": in_space(lambda ax, a: ax.plot_surface(a.image, a.image.T[:24, :1], a.image * 2)),
    "scatter-3d": in_space(lambda ax, a: ax.scatter(a.x, a.y, a.f, c=a.k)),
    "plot-3d": in_space(lambda ax, a: ax.plot(a.x, a.y, a.f)),
    "bar3d": in_space(lambda ax, a: ax.bar3d(a.x[:4], a.y[:4], 0, 0.1, 0.1, a.x[:4])),
    "wireframe": in_space(lambda ax, a: ax.plot_wireframe(a.s, a.s.T, a.s)),
    "contour-3d": in_space(lambda ax, a: ax.contour(a.s, a.s.T, a.s)),
    "voxels": in_space(lambda ax, a: ax.voxels(a.cube[..., 0] > 0.6)),
}

SEABORN = {
    "histplot": lambda sns, a: sns.histplot(a.y, kde=True),
    "kdeplot": lambda sns, a: sns.kdeplot(x=a.x, y=a.y),
    "scatterplot": lambda sns, a: sns.scatterplot(x=a.x, y=a.y, hue=a.k),
    "lineplot": lambda sns, a: sns.lineplot(x=a.x, y=a.y),
    "heatmap": lambda sns, a: sns.heatmap(a.m, mask=a.m < -1),
    "boxplot": lambda sns, a: sns.boxplot(x=a.k, y=a.y),
    "barplot": lambda sns, a: sns.barplot(x=a.k, y=a.y, errorbar=None),
    "regplot": lambda sns, a: sns.regplot(x=a.x, y=a.y, ci=None),
    "violinplot": lambda sns, a: sns.violinplot(data=a.m),
    "countplot": lambda sns, a: sns.countplot(x=a.k),
}

PLOTLY = {
    "scatter": lambda go, a: go.Figure(go.Scatter(x=a.x, y=a.y, marker={"color": a.k})),
    "heatmap": lambda go, a: go.Figure(go.Heatmap(z=a.image)),
    "bar": lambda go, a: go.Figure(go.Bar(x=a.k, y=a.x, error_y={"array": a.x})),
    "surface": lambda go, a: go.Figure(go.Surface(z=a.image)),
}


@pytest.mark.parametrize("draw", cases("matplotlib", MATPLOTLIB))
def test_matplotlib(draw):
    same(drawn(draw))


@pytest.mark.parametrize("draw", cases("seaborn", SEABORN))
def test_seaborn(draw):
    def case(plt, a):
        import seaborn

        draw(seaborn, a)

    same(drawn(case))


@pytest.mark.parametrize("make", cases("plotly", PLOTLY))
def test_plotly(make):
    def case(a):
        import plotly.graph_objects as go

        return make(go, a).to_dict()

    same(case)
