"""Metrics on random data, and what Keras 3.15 gives for them: `python metric_numbers.py` prints that anew."""

import os

import numpy as np
from numpy import nan

os.environ.setdefault("KERAS_BACKEND", "jax")

_draws = np.random.default_rng(7)
N = 50
CHANCES = _draws.random(N).astype("float32")
LABELS = _draws.integers(0, 2, N)
SCORES = _draws.random((N, 4)).astype("float32")
SHARES = SCORES / SCORES.sum(axis=1, keepdims=True)
CLASSES = _draws.integers(0, 4, N)
ONE_HOT = np.eye(4, dtype="float32")[CLASSES]
NUMBERS, GUESSES = _draws.normal(size=(2, N, 3)).astype("float32") + 2
WEIGHT = _draws.random(N).astype("float32")
DATA = {
    "binary": (LABELS, CHANCES),
    "columns": (LABELS[:, None], CHANCES[:, None]),
    "ones": (np.ones(N, int), CHANCES),
    "zeros": (np.zeros(N, int), CHANCES),
    "several": ((SCORES[::-1] > 0.5).astype(int), SCORES),
    "one_hot": (ONE_HOT, SHARES),
    "classes": (CLASSES, SHARES),
    "column": (CLASSES[:, None], SHARES),
    "numbers": (NUMBERS, GUESSES),
    "same": (CLASSES, np.roll(CLASSES, 25)),
    "signed": (2 * LABELS[:, None] - 1, 2 * CHANCES[:, None] - 1),
}
CASES = [
    (metric, data)
    for metrics, kinds in (
        ("Accuracy()", "same"),
        ("BinaryAccuracy() BinaryAccuracy(threshold=0.3)", "binary columns ones zeros several"),
        ("CategoricalAccuracy() TopKCategoricalAccuracy(k=2) TopKCategoricalAccuracy(k=4)", "one_hot"),
        ("SparseCategoricalAccuracy()", "classes column"),
        ("SparseTopKCategoricalAccuracy(k=2)", "classes"),
        ("TruePositives() FalsePositives() TrueNegatives() FalseNegatives()", "binary several"),
        ("FalsePositives(thresholds=[0.2,0.7])", "binary several"),
        ("Precision() Recall() Precision(thresholds=[0.1,0.5,0.9])", "binary columns ones zeros several one_hot"),
        ("Precision(top_k=2) Recall(top_k=2) Recall(class_id=1) Precision(top_k=3,class_id=2)", "one_hot several"),
        ("SensitivityAtSpecificity(0.5) SpecificityAtSensitivity(0.7)", "binary ones zeros"),
        ("PrecisionAtRecall(0.6) RecallAtPrecision(0.5)", "binary ones zeros"),
        ("AUC() AUC(curve='PR') AUC(num_thresholds=7)", "binary columns ones zeros several"),
        ("AUC(curve='PR',summation_method='minoring') AUC(summation_method='majoring')", "binary"),
        ("AUC(thresholds=[0.1,0.4,0.5]) AUC(from_logits=True)", "binary"),
        ("AUC(multi_label=True) AUC(multi_label=True,label_weights=[1.0,2.0,3.0,1.0])", "several"),
        ("F1Score() F1Score(average='macro') F1Score(average='micro',threshold=0.4)", "one_hot several"),
        ("F1Score(average='weighted') FBetaScore(beta=2.0)", "one_hot"),
        ("IoU(4,[0,2]) MeanIoU(4) MeanIoU(4,ignore_class=1) MeanIoU(6)", "same"),
        ("BinaryIoU() BinaryIoU(target_class_ids=[1],threshold=0.3)", "binary"),
        ("OneHotIoU(4,[0,1]) OneHotMeanIoU(4)", "one_hot"),
        ("MeanSquaredError() MeanAbsoluteError() RootMeanSquaredError()", "numbers columns"),
        ("MeanAbsolutePercentageError() MeanSquaredLogarithmicError() LogCoshError()", "numbers"),
        ("CosineSimilarity() Poisson() PearsonCorrelation() ConcordanceCorrelation()", "numbers"),
        ("R2Score() R2Score(class_aggregation=None)", "numbers"),
        ("R2Score(class_aggregation='variance_weighted_average')", "numbers"),
        ("Hinge() SquaredHinge()", "columns signed"),
        ("CategoricalHinge() KLDivergence()", "one_hot"),
        ("BinaryCrossentropy() BinaryCrossentropy(from_logits=True,label_smoothing=0.1)", "columns several"),
        ("CategoricalCrossentropy() CategoricalCrossentropy(from_logits=True,label_smoothing=0.1)", "one_hot"),
        ("SparseCategoricalCrossentropy() SparseCategoricalCrossentropy(from_logits=True)", "classes column"),
    )
    for metric in metrics.split(" ")
    for data in kinds.split()
]


def results(metrics, metric, data):
    """Of all samples, of weighted ones in two updates (where IoU of Keras takes weights for integers), and of none."""
    y_true, y_pred = DATA[data]
    found = []
    for weight in (None, WEIGHT):
        one = eval(f"metrics.{metric}")
        if weight is not None and "IoU" in metric:
            weight = np.round(weight * 3).astype("int32")
        for part in (slice(None),) if weight is None else (slice(0, 20), slice(20, None)):
            one.update_state(y_true[part], y_pred[part], sample_weight=None if weight is None else weight[part])
        found.append(np.asarray(one.result()).astype("float64"))
    return found


# What results gives with Keras.
NUMBERS_OF_KERAS = {
    ("Accuracy()", "same"): [0.4, 0.3767528],
    ("BinaryAccuracy()", "binary"): [0.58, 0.5865805],
    ("BinaryAccuracy()", "columns"): [0.58, 0.5865805],
    ("BinaryAccuracy()", "ones"): [0.54, 0.572405],
    ("BinaryAccuracy()", "zeros"): [0.46, 0.4275949],
    ("BinaryAccuracy()", "several"): [0.51, 0.5270123],
    ("BinaryAccuracy(threshold=0.3)", "binary"): [0.52, 0.5244612],
    ("BinaryAccuracy(threshold=0.3)", "columns"): [0.52, 0.5244612],
    ("BinaryAccuracy(threshold=0.3)", "ones"): [0.68, 0.7148727],
    ("BinaryAccuracy(threshold=0.3)", "zeros"): [0.32, 0.2851274],
    ("BinaryAccuracy(threshold=0.3)", "several"): [0.495, 0.5094339],
    ("CategoricalAccuracy()", "one_hot"): [0.3, 0.2772729],
    ("TopKCategoricalAccuracy(k=2)", "one_hot"): [0.52, 0.5294719],
    ("TopKCategoricalAccuracy(k=4)", "one_hot"): [1.0, 1.0],
    ("SparseCategoricalAccuracy()", "classes"): [0.3, 0.2772729],
    ("SparseCategoricalAccuracy()", "column"): [0.3, 0.2772729],
    ("SparseTopKCategoricalAccuracy(k=2)", "classes"): [0.52, 0.5294719],
    ("TruePositives()", "binary"): [14.0, 7.4923182],
    ("TruePositives()", "several"): [56.0, 30.7758255],
    ("FalsePositives()", "binary"): [13.0, 7.2156658],
    ("FalsePositives()", "several"): [49.0, 24.0486317],
    ("TrueNegatives()", "binary"): [15.0, 7.5799036],
    ("TrueNegatives()", "several"): [46.0, 23.3906288],
    ("FalseNegatives()", "binary"): [8.0, 3.4071727],
    ("FalseNegatives()", "several"): [49.0, 24.5651493],
    ("FalsePositives(thresholds=[0.2,0.7])", "binary"): [[24.0, 6.0], [12.8881245, 2.5694823]],
    ("FalsePositives(thresholds=[0.2,0.7])", "several"): [[77.0, 28.0], [38.7151413, 13.4301138]],
    ("Precision()", "binary"): [0.5185185, 0.5094048],
    ("Precision()", "columns"): [0.5185185, 0.5094048],
    ("Precision()", "ones"): [1.0, 1.0],
    ("Precision()", "zeros"): [0.0, 0.0],
    ("Precision()", "several"): [0.5333334, 0.5613521],
    ("Precision()", "one_hot"): [0.25, 0.2765452],
    ("Recall()", "binary"): [0.6363636, 0.6874008],
    ("Recall()", "columns"): [0.6363636, 0.6874008],
    ("Recall()", "ones"): [0.54, 0.5724051],
    ("Recall()", "zeros"): [0.0, 0.0],
    ("Recall()", "several"): [0.5333334, 0.5561128],
    ("Recall()", "one_hot"): [0.04, 0.0443006],
    ("Precision(thresholds=[0.1,0.5,0.9])", "binary"): [
        [0.4090909, 0.5185185, 0.6666667],
        [0.3970278, 0.5094048, 0.5741889],
    ],
    ("Precision(thresholds=[0.1,0.5,0.9])", "columns"): [
        [0.4090909, 0.5185185, 0.6666667],
        [0.3970278, 0.5094048, 0.5741889],
    ],
    ("Precision(thresholds=[0.1,0.5,0.9])", "ones"): [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
    ("Precision(thresholds=[0.1,0.5,0.9])", "zeros"): [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ("Precision(thresholds=[0.1,0.5,0.9])", "several"): [
        [0.5277778, 0.5333334, 0.6],
        [0.5446107, 0.5613521, 0.6853846],
    ],
    ("Precision(thresholds=[0.1,0.5,0.9])", "one_hot"): [[0.2530121, 0.25, 0.0], [0.2565508, 0.2765452, 0.0]],
    ("Precision(top_k=2)", "one_hot"): [0.26, 0.2647359],
    ("Precision(top_k=2)", "several"): [0.51, 0.5333976],
    ("Recall(top_k=2)", "one_hot"): [0.52, 0.5294719],
    ("Recall(top_k=2)", "several"): [0.4857143, 0.4953177],
    ("Recall(class_id=1)", "one_hot"): [0.0, 0.0],
    ("Recall(class_id=1)", "several"): [0.56, 0.5394981],
    ("Precision(top_k=3,class_id=2)", "one_hot"): [0.3414634, 0.3063632],
    ("Precision(top_k=3,class_id=2)", "several"): [0.5121951, 0.5695878],
    ("SensitivityAtSpecificity(0.5)", "binary"): [0.6363636, 0.6874008],
    ("SensitivityAtSpecificity(0.5)", "ones"): [0.0, 0.0],
    ("SensitivityAtSpecificity(0.5)", "zeros"): [0.0, 0.0],
    ("SpecificityAtSensitivity(0.7)", "binary"): [0.4642857, 0.4719462],
    ("SpecificityAtSensitivity(0.7)", "ones"): [0.0, 0.0],
    ("SpecificityAtSensitivity(0.7)", "zeros"): [0.0, 0.0],
    ("PrecisionAtRecall(0.6)", "binary"): [0.5384616, 0.5784372],
    ("PrecisionAtRecall(0.6)", "ones"): [1.0, 1.0],
    ("PrecisionAtRecall(0.6)", "zeros"): [0.0, 0.0],
    ("RecallAtPrecision(0.5)", "binary"): [0.7272727, 0.7821094],
    ("RecallAtPrecision(0.5)", "ones"): [1.0, 1.0],
    ("RecallAtPrecision(0.5)", "zeros"): [0.0, 0.0],
    ("AUC()", "binary"): [0.5616882, 0.6224405],
    ("AUC()", "columns"): [0.5616882, 0.6224405],
    ("AUC()", "ones"): [0.0, 0.0],
    ("AUC()", "zeros"): [0.0, 0.0],
    ("AUC()", "several"): [0.4916792, 0.5115649],
    ("AUC(curve='PR')", "binary"): [0.5385746, 0.5674923],
    ("AUC(curve='PR')", "columns"): [0.5385746, 0.5674923],
    ("AUC(curve='PR')", "ones"): [0.9999999, 1.0],
    ("AUC(curve='PR')", "zeros"): [0.0, 0.0],
    ("AUC(curve='PR')", "several"): [0.5349418, 0.5674042],
    ("AUC(num_thresholds=7)", "binary"): [0.5616883, 0.6207508],
    ("AUC(num_thresholds=7)", "columns"): [0.5616883, 0.6207508],
    ("AUC(num_thresholds=7)", "ones"): [0.0, 0.0],
    ("AUC(num_thresholds=7)", "zeros"): [0.0, 0.0],
    ("AUC(num_thresholds=7)", "several"): [0.489574, 0.5038023],
    ("AUC(curve='PR',summation_method='minoring')", "binary"): [0.4800438, 0.479423],
    ("AUC(summation_method='majoring')", "binary"): [0.5633116, 0.6239667],
    ("AUC(thresholds=[0.1,0.4,0.5])", "binary"): [0.564935, 0.5874968],
    ("AUC(from_logits=True)", "binary"): [0.5535715, 0.610791],
    ("AUC(multi_label=True)", "several"): [0.4833114, 0.5006837],
    ("AUC(multi_label=True,label_weights=[1.0,2.0,3.0,1.0])", "several"): [0.4798846, 0.5033477],
    ("F1Score()", "one_hot"): [
        [0.1904762, 0.4285714, 0.3448275, 0.1818182],
        [0.2369922, 0.4215281, 0.2415686, 0.1874925],
    ],
    ("F1Score()", "several"): [[0.4615384, 0.3636363, 0.3, 0.25], [0.5255607, 0.2921815, 0.2873496, 0.2698776]],
    ("F1Score(average='macro')", "one_hot"): [0.2864233, 0.2718953],
    ("F1Score(average='macro')", "several"): [0.3437937, 0.3437424],
    ("F1Score(average='micro',threshold=0.4)", "one_hot"): [0.192771, 0.1496905],
    ("F1Score(average='micro',threshold=0.4)", "several"): [0.5625, 0.5844483],
    ("F1Score(average='weighted')", "one_hot"): [0.2803015, 0.2547325],
    ("FBetaScore(beta=2.0)", "one_hot"): [
        [0.1851852, 0.5454545, 0.3246753, 0.15625],
        [0.24371, 0.5464624, 0.215605, 0.1604357],
    ],
    ("IoU(4,[0,2])", "same"): [0.2264957, 0.1785714],
    ("MeanIoU(4)", "same"): [0.2521368, 0.2064732],
    ("MeanIoU(4,ignore_class=1)", "same"): [0.2845588, 0.2351449],
    ("MeanIoU(6)", "same"): [0.2521368, 0.2064732],
    ("BinaryIoU()", "binary"): [0.4083333, 0.4127946],
    ("BinaryIoU(target_class_ids=[1],threshold=0.3)", "binary"): [0.3999999, 0.4193548],
    ("OneHotIoU(4,[0,1])", "one_hot"): [0.1889952, 0.2053571],
    ("OneHotMeanIoU(4)", "one_hot"): [0.1715809, 0.1642316],
    ("MeanSquaredError()", "numbers"): [1.6839874, 1.6637827],
    ("MeanSquaredError()", "columns"): [0.3012587, 0.2726566],
    ("MeanAbsoluteError()", "numbers"): [1.0043792, 0.9883089],
    ("MeanAbsoluteError()", "columns"): [0.4667711, 0.4470156],
    ("RootMeanSquaredError()", "numbers"): [1.2976854, 1.2898771],
    ("RootMeanSquaredError()", "columns"): [0.5488703, 0.5221652],
    ("MeanAbsolutePercentageError()", "numbers"): [132.6226501, 172.7059326],
    ("MeanSquaredLogarithmicError()", "numbers"): [0.2346341, 0.2477495],
    ("LogCoshError()", "numbers"): [0.5532355, 0.5417987],
    ("CosineSimilarity()", "numbers"): [0.8542451, 0.8483082],
    ("PearsonCorrelation()", "numbers"): [-0.1536704, -0.0817685],
    ("ConcordanceCorrelation()", "numbers"): [-0.0046235, 0.0169602],
    ("Poisson()", "numbers"): [nan, nan],
    ("R2Score()", "numbers"): [-0.9620799, -1.0929556],
    ("R2Score(class_aggregation=None)", "numbers"): [
        [-1.2114296, -1.1853526, -0.4894574],
        [-1.3731401, -1.1489964, -0.7567301],
    ],
    ("R2Score(class_aggregation='variance_weighted_average')", "numbers"): [-0.9760332, -1.1008662],
    ("Hinge()", "columns"): [1.0267711, 1.0228293],
    ("Hinge()", "signed"): [0.9335422, 0.8940312],
    ("SquaredHinge()", "columns"): [1.3827013, 1.3746365],
    ("SquaredHinge()", "signed"): [1.2050346, 1.0906262],
    ("CategoricalHinge()", "one_hot"): [1.1420736, 1.1349611],
    ("KLDivergence()", "one_hot"): [1.6766342, 1.6103435],
    ("BinaryCrossentropy()", "columns"): [0.9965366, 0.8891568],
    ("BinaryCrossentropy()", "several"): [0.9993197, 0.9519351],
    ("BinaryCrossentropy(from_logits=True,label_smoothing=0.1)", "columns"): [0.74537, 0.7436075],
    ("BinaryCrossentropy(from_logits=True,label_smoothing=0.1)", "several"): [0.7244369, 0.7145372],
    ("CategoricalCrossentropy()", "one_hot"): [1.6766385, 1.6103477],
    ("CategoricalCrossentropy(from_logits=True,label_smoothing=0.1)", "one_hot"): [1.3981466, 1.3970883],
    ("SparseCategoricalCrossentropy()", "classes"): [1.6766385, 1.6103477],
    ("SparseCategoricalCrossentropy()", "column"): [1.6766385, 1.6103477],
    ("SparseCategoricalCrossentropy(from_logits=True)", "classes"): [1.3982919, 1.3971736],
    ("SparseCategoricalCrossentropy(from_logits=True)", "column"): [1.3982919, 1.3971736],
}

if __name__ == "__main__":
    import keras

    for case in CASES:
        print(f"    {case}: {[np.round(a, 7).tolist() for a in results(keras.metrics, *case)]},")
