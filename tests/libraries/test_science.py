"""SciPy and what stands on it: statistics, learning, images, graphs, signals."""

import io

import numpy as np
import pytest
import tutti as tt
from given import cases, check, same


def sp(name):
    import importlib

    return importlib.import_module("scipy." + name)


def sos(a):
    return sp("signal").butter(3, 0.2, output="sos")


def sparse_of(a):
    return sp("sparse").csr_array(np.asarray(a.m) * (np.asarray(a.m) > 0))


SCIPY = {
    "filtfilt": lambda a: sp("signal").filtfilt([0.5, 0.5], [1.0], a.y),
    "filtfilt-ours": lambda a: sp("signal").filtfilt(a.x[:3], a.x[5:7], a.y),
    "lfilter": lambda a: sp("signal").lfilter([0.5, 0.5], [1.0, 0.1], a.y),
    "sosfiltfilt": lambda a: sp("signal").sosfiltfilt(sos(a), a.y),
    "savgol": lambda a: sp("signal").savgol_filter(a.y, 7, 2),
    "welch": lambda a: sp("signal").welch(a.y, nperseg=16),
    "stft": lambda a: sp("signal").stft(a.y, nperseg=16),
    "find_peaks": lambda a: sp("signal").find_peaks(a.y, height=a.y.mean()),
    "fftconvolve": lambda a: sp("signal").fftconvolve(a.x, a.y),
    "convolve2d": lambda a: sp("signal").convolve2d(a.image, a.s[:3, :3], mode="same"),
    "hilbert": lambda a: sp("signal").hilbert(a.y),
    "resample": lambda a: sp("signal").resample(a.y, 32),
    "decimate": lambda a: sp("signal").decimate(a.y, 2),
    "detrend": lambda a: sp("signal").detrend(a.y),
    "medfilt": lambda a: sp("signal").medfilt(a.y, 3),
    "spectrogram": lambda a: sp("signal").spectrogram(a.y, nperseg=16),
    "fft": lambda a: sp("fft").fft(a.x),
    "dct": lambda a: sp("fft").dct(a.x),
    "rfft2": lambda a: sp("fft").rfft2(a.image),
    "solve": lambda a: sp("linalg").solve(a.s, a.x[:4]),
    "expm": lambda a: sp("linalg").expm(a.s / 10),
    "lu": lambda a: sp("linalg").lu(a.s),
    "cho": lambda a: sp("linalg").cho_solve(sp("linalg").cho_factor(a.s @ a.s.T), a.x[:4]),
    "eigh": lambda a: abs(sp("linalg").eigh(a.s + a.s.T)[0]),
    "svd": lambda a: sp("linalg").svdvals(a.m),
    "toeplitz": lambda a: sp("linalg").toeplitz(a.x[:4]),
    "block_diag": lambda a: sp("linalg").block_diag(a.s, a.m),
    "sparse": lambda a: sp("sparse").csr_matrix(a.m).toarray(),
    "coo": lambda a: sp("sparse").coo_array((a.x[:4], (a.k[:4], a.k[4:8])), shape=(4, 4)).toarray(),
    "diags": lambda a: sp("sparse").diags([a.x], [0]).toarray(),
    "sparse-matmul": lambda a: sparse_of(a) @ a.s,
    "sparse-vector": lambda a: sparse_of(a) @ a.x[:4],
    "matmul-sparse": lambda a: a.n @ sparse_of(a),
    "vector-sparse": lambda a: a.x[:12] @ sparse_of(a),
    "times-sparse": lambda a: (sparse_of(a) * a.x[3]).toarray(),
    "number-times-sparse": lambda a: (a.x[3] * sparse_of(a)).toarray(),
    "sparse-multiply": lambda a: sparse_of(a).multiply(a.m).toarray(),
    "sparse-plus": lambda a: np.asarray(sparse_of(a) + a.m),
    "plus-sparse": lambda a: np.asarray(a.m + sparse_of(a)),
    "sparse-index": lambda a: sparse_of(a)[a.k[:5]].toarray(),
    "sparse-mask": lambda a: sparse_of(a)[a.b[:12]].toarray(),
    "sparse-solve": lambda a: sp("sparse.linalg").spsolve(sp("sparse").csc_array(np.asarray(a.s)), a.x[:4]),
    "LinearOperator": lambda a: (
        sp("sparse.linalg").LinearOperator((4, 4), matvec=lambda v: a.s @ v, dtype=a.s.dtype) @ a.x[:4]
    ),
    "minimize": lambda a: sp("optimize").minimize(lambda p: ((p - a.x[:3]) ** 2).sum(), a.y[:3]).x.round(4),
    "least_squares": lambda a: sp("optimize").least_squares(lambda p: a.s @ p - a.x[:4], a.y[:4]).x.round(6),
    "curve_fit": lambda a: sp("optimize").curve_fit(lambda x, p, q: p * x + q, a.x, a.y)[0].round(6),
    "root": lambda a: sp("optimize").root(lambda p: a.s @ p - a.x[:4], a.y[:4]).x.round(6),
    "brentq": lambda a: sp("optimize").brentq(lambda v: v - a.x[5], a.x[0], a.x[20]),
    "linprog": lambda a: sp("optimize").linprog(a.x[:4], A_ub=-a.s, b_ub=-a.x[:4]).x.round(6),
    "nnls": lambda a: sp("optimize").nnls(abs(a.m), a.x[:12]),
    "assignment": lambda a: sp("optimize").linear_sum_assignment(a.s),
    "quad": lambda a: sp("integrate").quad(lambda t: t * a.x[3], a.x[0], a.x[9])[0],
    "simpson": lambda a: sp("integrate").simpson(a.y, x=a.x),
    "cumulative_trapezoid": lambda a: sp("integrate").cumulative_trapezoid(a.y, a.x),
    "solve_ivp": lambda a: sp("integrate").solve_ivp(lambda t, v: -a.s[0] * v, (0, 0.5), a.x[:4], t_eval=a.x[:2]).y,
    "odeint": lambda a: sp("integrate").odeint(lambda v, t: -v * a.x[:4], a.x[:4], a.x[:5]),
    "interp1d": lambda a: sp("interpolate").interp1d(a.x, a.y)(a.x[3:9] + 0.01),
    "CubicSpline": lambda a: sp("interpolate").CubicSpline(a.x, a.y)(a.x + 0.01),
    "griddata": lambda a: sp("interpolate").griddata(a.m[:, :2], a.m[:, 2], a.m[:3, :2]),
    "RegularGrid": lambda a: sp("interpolate").RegularGridInterpolator((a.x[:24], a.x[:32]), a.image)(
        a.x[:4].reshape(2, 2)
    ),
    "splrep": lambda a: sp("interpolate").splev(a.x, sp("interpolate").splrep(a.x, a.y)),
    "gaussian_filter": lambda a: sp("ndimage").gaussian_filter(a.image, 1.5),
    "label": lambda a: sp("ndimage").label(a.image > 0.5),
    "zoom": lambda a: sp("ndimage").zoom(a.image, 0.5),
    "rotate": lambda a: sp("ndimage").rotate(a.image, 30),
    "convolve": lambda a: sp("ndimage").convolve(a.image, a.s),
    "map_coordinates": lambda a: sp("ndimage").map_coordinates(a.image, abs(a.m[:2])),
    "distance": lambda a: sp("ndimage").distance_transform_edt(a.image > 0.3),
    "sum_labels": lambda a: sp("ndimage").sum_labels(a.x, a.k, a.k[:3]),
    "ttest": lambda a: tuple(sp("stats").ttest_ind(a.x, a.y)),
    "pearsonr": lambda a: tuple(sp("stats").pearsonr(a.x, a.y)),
    "spearmanr": lambda a: tuple(sp("stats").spearmanr(a.x, a.y)),
    "linregress": lambda a: tuple(sp("stats").linregress(a.x, a.y)),
    "norm": lambda a: sp("stats").norm.pdf(a.x, loc=a.x.mean(), scale=a.x.std()),
    "norm-fit": lambda a: sp("stats").norm.fit(a.y),
    "kde": lambda a: sp("stats").gaussian_kde(a.y)(a.x),
    "zscore": lambda a: sp("stats").zscore(a.x),
    "describe": lambda a: tuple(sp("stats").describe(a.x)),
    "skew": lambda a: sp("stats").skew(a.y),
    "ks": lambda a: tuple(sp("stats").kstest(a.y, "norm")),
    "binned": lambda a: tuple(sp("stats").binned_statistic(a.x, a.y, bins=5)),
    "mode": lambda a: tuple(sp("stats").mode(a.k)),
    "rankdata": lambda a: sp("stats").rankdata(a.k),
    "entropy": lambda a: sp("stats").entropy(a.x),
    "chi2": lambda a: sp("stats").chi2_contingency(a.k[:4].reshape(2, 2) + 5)[1],
    "cdist": lambda a: sp("spatial.distance").cdist(a.m, a.m),
    "pdist": lambda a: sp("spatial.distance").squareform(sp("spatial.distance").pdist(a.m, "cosine")),
    "euclidean": lambda a: sp("spatial.distance").euclidean(a.x, a.y),
    "KDTree": lambda a: sp("spatial").KDTree(a.m).query(a.m[:3], k=2),
    "ConvexHull": lambda a: sp("spatial").ConvexHull(a.m[:, :2]).vertices,
    "Delaunay": lambda a: sp("spatial").Delaunay(a.m[:, :2]).simplices,
    "gamma": lambda a: sp("special").gamma(a.x),
    "expit": lambda a: sp("special").expit(a.f),
    "erf-number": lambda a: sp("special").erf(a.x[3]),
    "logsumexp": lambda a: sp("special").logsumexp(a.m, axis=1),
    "softmax": lambda a: sp("special").softmax(a.m, axis=1),
    "comb": lambda a: sp("special").comb(a.k + 3, 2),
    "jv": lambda a: sp("special").jv(a.k, a.x),
    "linkage": lambda a: sp("cluster.hierarchy").linkage(a.m),
    "kmeans2": lambda a: sp("cluster.vq").kmeans2(a.m, a.m[:3])[1],
    "whiten": lambda a: sp("cluster.vq").whiten(a.m),
    "wav": lambda a: wav(a),
    "savemat": lambda a: matlab(a),
    "dijkstra": lambda a: sp("sparse.csgraph").dijkstra(abs(a.s)),
}


def wav(a):
    file = io.BytesIO()
    sp("io.wavfile").write(file, 8000, a.f)
    file.seek(0)
    return sp("io.wavfile").read(file)


def matlab(a):
    file = io.BytesIO()
    sp("io").savemat(file, {"m": a.m, "x": a.x})
    file.seek(0)
    made = sp("io").loadmat(file)
    return [made["m"], made["x"]]


def learned(make, target="labels"):
    """A case that fits an estimator and predicts."""

    def case(a):
        import importlib

        module, name, *options = make
        estimator = getattr(importlib.import_module("sklearn." + module), name)(**dict(*options))
        estimator.fit(a.m, getattr(a, target)[: a.m.shape[0]])
        method = "predict" if hasattr(estimator, "predict") else "transform"
        return getattr(estimator, method)(a.m)

    return case


def sk(name):
    import importlib

    return importlib.import_module("sklearn." + name)


SKLEARN = {
    "LinearRegression": learned(("linear_model", "LinearRegression"), "x"),
    "Ridge": learned(("linear_model", "Ridge"), "x"),
    "Lasso": learned(("linear_model", "Lasso"), "x"),
    "LogisticRegression": learned(("linear_model", "LogisticRegression")),
    "SGD": learned(("linear_model", "SGDClassifier", {"random_state": 0})),
    "SVC": learned(("svm", "SVC")),
    "SVR": learned(("svm", "SVR"), "x"),
    "tree": learned(("tree", "DecisionTreeClassifier", {"random_state": 0})),
    "forest": learned(("ensemble", "RandomForestRegressor", {"n_estimators": 5, "random_state": 0}), "x"),
    "boosting": learned(("ensemble", "HistGradientBoostingRegressor", {"random_state": 0}), "x"),
    "neighbours": learned(("neighbors", "KNeighborsClassifier", {"n_neighbors": 3})),
    "bayes": learned(("naive_bayes", "GaussianNB")),
    "PCA": learned(("decomposition", "PCA", {"n_components": 2})),
    "scaler": learned(("preprocessing", "StandardScaler")),
    "minmax": learned(("preprocessing", "MinMaxScaler")),
    "polynomial": learned(("preprocessing", "PolynomialFeatures")),
    "KMeans": lambda a: sk("cluster").KMeans(3, init=a.m[:3], n_init=1).fit_predict(a.m),
    "DBSCAN": lambda a: sk("cluster").DBSCAN(eps=1.5).fit_predict(a.m),
    "OneHot": lambda a: sk("preprocessing").OneHotEncoder().fit_transform(a.k[:, None]).toarray(),
    "LabelEncoder": lambda a: sk("preprocessing").LabelEncoder().fit_transform(a.k),
    "split": lambda a: sk("model_selection").train_test_split(a.m, a.labels, random_state=0),
    "KFold": lambda a: [t for _, t in sk("model_selection").KFold(3).split(a.m)],
    "cross_val": lambda a: sk("model_selection").cross_val_score(
        sk("linear_model").Ridge(), a.m, a.x[:12], cv=3, scoring="neg_mean_squared_error"
    ),
    "grid": lambda a: (
        sk("model_selection")
        .GridSearchCV(sk("linear_model").Ridge(), {"alpha": a.x[:3].tolist()}, cv=3)
        .fit(a.m, a.x[:12])
        .best_params_
    ),
    "pipeline": lambda a: (
        sk("pipeline")
        .make_pipeline(sk("preprocessing").StandardScaler(), sk("linear_model").Ridge())
        .fit(a.m, a.x[:12])
        .score(a.m, a.x[:12])
    ),
    "accuracy": lambda a: sk("metrics").accuracy_score(a.labels, a.k[:12] % 3),
    "confusion": lambda a: sk("metrics").confusion_matrix(a.labels, a.k[:12] % 3),
    "auc": lambda a: sk("metrics").roc_auc_score(a.b, a.x),
    "mse": lambda a: sk("metrics").mean_squared_error(a.x, a.y),
    "r2": lambda a: sk("metrics").r2_score(a.x, a.y),
    "f1": lambda a: sk("metrics").f1_score(a.labels, a.k[:12] % 3, average="macro"),
    "pairwise": lambda a: sk("metrics").pairwise_distances(a.m),
    "silhouette": lambda a: sk("metrics").silhouette_score(a.m, a.labels),
    "resample": lambda a: sk("utils").resample(a.m, random_state=0),
    "weights": lambda a: sk("linear_model").Ridge().fit(a.m, a.x[:12], sample_weight=a.x[:12]).coef_,
    "indexing": lambda a: sk("utils").shuffle(a.x, a.k, random_state=0),
    "check": lambda a: sk("utils").check_array(a.m.T),
    "gaussian": lambda a: sk("gaussian_process").GaussianProcessRegressor().fit(a.m, a.x[:12]).predict(a.m[:2]),
    "impute": lambda a: sk("impute").SimpleImputer().fit_transform(a.m),
    "select": lambda a: sk("feature_selection").SelectKBest(k=2).fit_transform(a.m, a.labels),
    "TSNE": lambda a: sk("manifold").MDS(n_init=1, random_state=0, init="random").fit_transform(a.m),
}


def ski(name):
    import importlib

    return importlib.import_module("skimage." + name)


SKIMAGE = {
    "gaussian": lambda a: ski("filters").gaussian(a.image),
    "sobel": lambda a: ski("filters").sobel(a.image),
    "otsu": lambda a: ski("filters").threshold_otsu(a.image),
    "resize": lambda a: ski("transform").resize(a.image, (12, 16)),
    "rotate": lambda a: ski("transform").rotate(np.array(a.image), 20),
    "grey": lambda a: ski("color").rgb2gray(a.pixels),
    "hsv": lambda a: ski("color").rgb2hsv(a.pixels),
    "label": lambda a: ski("measure").label(a.image > 0.6),
    "props": lambda a: [p.area for p in ski("measure").regionprops(np.asarray(a.pixels[..., 0] > 200).astype(int))],
    "ssim": lambda a: ski("metrics").structural_similarity(a.image, a.image * 0.9, data_range=1.0),
    "float": lambda a: ski("util").img_as_float(a.pixels),
    "canny": lambda a: ski("feature").canny(a.image),
    "slic": lambda a: ski("segmentation").slic(a.pixels, 4),
    "equalize": lambda a: ski("exposure").equalize_hist(a.image),
    "denoise": lambda a: ski("restoration").denoise_tv_chambolle(a.image),
    "hog": lambda a: ski("feature").hog(a.image),
}


def cv():
    import cv2

    return cv2


OPENCV = {
    "asarray-blur": lambda a: cv().GaussianBlur(np.asarray(a.image), (3, 3), 1),
    "asarray-resize": lambda a: cv().resize(np.asarray(a.pixels), (16, 12)),
    "asarray-colour": lambda a: cv().cvtColor(a.pixels.__array__(), cv().COLOR_RGB2GRAY),
}


def pictured(a):
    from PIL import Image

    return Image.fromarray(a.pixels)


def png(a):
    file = io.BytesIO()
    pictured(a).save(file, "png")
    file.seek(0)
    from PIL import Image

    return np.asarray(Image.open(file))


PIL = {
    "fromarray": lambda a: np.asarray(pictured(a)),
    "fromarray-grey": lambda a: np.asarray(__import__("PIL.Image").Image.fromarray((a.image * 255).astype("u1"))),
    "fromarray-float": lambda a: np.asarray(__import__("PIL.Image").Image.fromarray(a.image.astype("f4"))),
    "fromarray-strided": lambda a: np.asarray(__import__("PIL.Image").Image.fromarray(a.pixels[::2, ::-1])),
    "resize": lambda a: np.asarray(pictured(a).resize((8, 6))),
    "png": png,
    "putpixel": lambda a: pictured(a).getpixel((int(a.k[0]), int(a.k[1]))),
}


def imageio_round(a):
    import imageio.v3 as iio

    return iio.imread(iio.imwrite("<bytes>", a.pixels, extension=".png"), extension=".png")


def statsmodels(a):
    import statsmodels.api as sm

    fitted = sm.OLS(a.x[:12], sm.add_constant(a.m)).fit()
    return [fitted.params, fitted.rsquared, fitted.predict(sm.add_constant(a.m))]


def lowess(a):
    import statsmodels.api as sm

    return sm.nonparametric.lowess(a.y, a.x)


def network(a):
    import networkx as nx

    graph = nx.from_numpy_array(np.asarray(a.s) > 5)
    graph.add_nodes_from(a.k.tolist())
    graph.add_edge(a.k[0], a.k[1], weight=a.x[0])
    return sorted(map(int, graph.nodes))


def symbols(a):
    import sympy

    x = sympy.Symbol("x")
    return sympy.lambdify(x, sympy.sin(x) ** 2 + sympy.sqrt(x) + sympy.Piecewise((x, x > 2), (1, True)), "numpy")(a.x)


def matrix(a):
    import sympy

    return float(sympy.Matrix(a.s).det())


def wavelets(a):
    import pywt

    return pywt.wavedec(np.array(a.y), "db2") + [pywt.dwt2(np.array(a.image), "haar")[0]]  # memory it may write


def astronomy(a):
    from astropy import stats
    from astropy.coordinates import SkyCoord
    from astropy.table import Table

    c = SkyCoord(a.x, a.x / 10, unit="deg")
    return [stats.sigma_clipped_stats(a.y), c.ra.deg, Table({"x": a.x, "k": a.k})["x"].data]


def quantities(a):
    from astropy import units as u

    return [u.Quantity(a.x, "m").to("km").value, (np.asarray(a.x) * u.m * a.k).value, u.Quantity(a.x[0], "s").value]


def numexpr_case(a):
    import numexpr

    return [numexpr.evaluate("2 * x + sin(y)", {"x": a.x, "y": a.y}), numexpr.evaluate("sum(x)", {"x": a.x})]


def bottleneck_case(a):
    import bottleneck as bn

    return [bn.nanmean(a.x), bn.move_mean(a.x, 3), bn.nanmedian(a.m, axis=1), bn.rankdata(a.x)]


def geometry(a):
    import shapely

    return [
        shapely.area(shapely.polygons([a.m[:4, :2]])),
        shapely.get_x(shapely.points(a.x, a.y)),
        shapely.LineString(a.m[:, :2]).length,
        shapely.Point(a.x[0], a.y[0]).x,
        shapely.distance(shapely.points(a.m[:, :2]), shapely.Point(0, 0)),
    ]


def boosted(a):
    import lightgbm

    model = lightgbm.LGBMRegressor(n_estimators=3, min_child_samples=1, verbose=-1, n_jobs=1)
    return model.fit(a.m, a.x[:12]).predict(a.m)


def sparse_arrays(a):
    import sparse

    s = sparse.COO.from_numpy(np.asarray(a.m))
    return [(s * a.m).todense(), (s + a.m).todense() if hasattr(s + a.m, "todense") else s + a.m]


OTHERS = {
    "imageio": imageio_round,
    "statsmodels": statsmodels,
    "statsmodels.api": lowess,
    "networkx": network,
    "sympy": symbols,
    "sympy.matrices": matrix,
    "pywt": wavelets,
    "astropy": astronomy,
    "astropy.units": quantities,
    "numexpr": numexpr_case,
    "bottleneck": bottleneck_case,
    "shapely": geometry,
    "lightgbm": boosted,
    "sparse": sparse_arrays,
}


@pytest.mark.parametrize("case", cases("scipy", SCIPY))
def test_scipy(case):
    same(case)


@pytest.mark.parametrize("case", cases("sklearn", SKLEARN))
def test_sklearn(case):
    same(case)


@pytest.mark.parametrize("case", cases("skimage", SKIMAGE))
def test_skimage(case):
    same(case)


@pytest.mark.parametrize("case", cases("cv2", OPENCV))
def test_opencv(case):
    same(case)


@pytest.mark.parametrize("case", cases("PIL", PIL))
def test_pil(case):
    same(case)


@pytest.mark.parametrize("library", OTHERS)
def test_others(library):
    pytest.importorskip(library.split(".")[0], reason="make test-libraries")
    same(OTHERS[library])


def test_images_come_back():
    image = pytest.importorskip("PIL.Image")
    for mode, shape in [
        ("RGB", (3, 5, 3)),
        ("L", (3, 5)),
        ("F", (3, 5)),
        ("I", (3, 5)),
        ("1", (3, 5)),
        ("RGBA", (3, 5, 4)),
    ]:
        made = image.new(mode, (5, 3), 1)
        got = tt.array(made)
        check(got, np.asarray(made))
        assert got.shape == shape
        got += got  # its own memory
