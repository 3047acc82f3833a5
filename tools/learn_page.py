"""The table of docs/learn.md: which names for networks of PyTorch and Keras are here: python tools/learn_page.py

The names are PyTorch 2.15's and Keras 3's, without those of their own insides, of types that they have alone, and
second spellings that they give up.
"""

import importlib
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "learn.md"
MARK = "<!-- from here on: python tools/learn_page.py -->\n"
NAMES = {
    "amp": "GradScaler autocast custom_bwd custom_fwd is_autocast_available",
    "data": """
BatchSampler ChainDataset ConcatDataset DataLoader Dataset DistributedSampler IterableDataset RandomSampler
Sampler SequentialSampler StackDataset Subset SubsetRandomSampler TensorDataset WeightedRandomSampler
default_collate default_convert get_worker_info random_split
""",
    "nn": """
AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss AdaptiveMaxPool1d
AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss
BatchNorm1d BatchNorm2d BatchNorm3d Bilinear CELU CTCLoss ChannelShuffle CircularPad1d CircularPad2d
CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d
ConvTranspose3d CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss CrossMapLRN2d Dropout Dropout1d
Dropout2d Dropout3d ELU Embedding EmbeddingBag FeatureAlphaDropout Flatten Fold FractionalMaxPool2d
FractionalMaxPool3d GELU GLU GRU GRUCell GaussianNLLLoss GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh
HingeEmbeddingLoss HuberLoss Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d KLDivLoss L1Loss LPPool1d
LPPool2d LPPool3d LSTM LSTMCell LayerNorm LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d
LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d
LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear LeakyReLU Linear LinearCrossEntropyLoss LocalResponseNorm
LogSigmoid LogSoftmax MSELoss MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d
MaxUnpool3d Mish Module ModuleDict ModuleList MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss
MultiheadAttention NLLLoss PReLU PairwiseDistance Parameter ParameterDict ParameterList PixelShuffle
PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNCell RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d
ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU Sequential SiLU Sigmoid SmoothL1Loss
SoftMarginLoss Softmax Softmax2d Softmin Softplus Softshrink Softsign SyncBatchNorm Tanh Tanhshrink Threshold
Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer
TripletMarginLoss TripletMarginWithDistanceLoss Unflatten Unfold Upsample UpsamplingBilinear2d
UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d
""",
    "nn.functional": """
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
adaptive_max_pool1d_with_indices adaptive_max_pool2d adaptive_max_pool2d_with_indices adaptive_max_pool3d
adaptive_max_pool3d_with_indices affine_grid alpha_dropout avg_pool1d avg_pool2d avg_pool3d batch_norm
bilinear binary_cross_entropy binary_cross_entropy_with_logits celu channel_shuffle conv1d conv2d conv3d
conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity
cross_entropy ctc_loss dropout dropout1d dropout2d dropout3d elu embedding embedding_bag feature_alpha_dropout
fold fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
fractional_max_pool3d_with_indices gaussian_nll_loss gelu glu grid_sample group_norm gumbel_softmax hardshrink
hardsigmoid hardswish hardtanh hinge_embedding_loss huber_loss instance_norm interpolate kl_div l1_loss
layer_norm leaky_relu linear linear_cross_entropy local_response_norm log_softmax logsigmoid lp_pool1d
lp_pool2d lp_pool3d margin_ranking_loss max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices
max_pool3d max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d mish mse_loss
multi_head_attention_forward multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss nll_loss
normalize one_hot pad pairwise_distance pdist pixel_shuffle pixel_unshuffle poisson_nll_loss prelu relu relu6
rms_norm rrelu scaled_dot_product_attention selu sigmoid silu smooth_l1_loss soft_margin_loss softmax softmin
softplus softshrink softsign tanh tanhshrink threshold triplet_margin_loss triplet_margin_with_distance_loss
unfold upsample upsample_bilinear upsample_nearest
""",
    "nn.init": """
calculate_gain constant_ dirac_ eye_ kaiming_normal_ kaiming_uniform_ normal_ ones_ orthogonal_ sparse_
trunc_normal_ uniform_ xavier_normal_ xavier_uniform_ zeros_
""",
    "nn.utils": """
clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ get_total_norm parameters_to_vector
remove_spectral_norm remove_weight_norm skip_init spectral_norm vector_to_parameters weight_norm
""",
    "nn.utils.parametrizations": """
orthogonal spectral_norm weight_norm
""",
    "nn.utils.parametrize": """
ParametrizationList cached is_parametrized register_parametrization remove_parametrizations
transfer_parametrizations_and_params type_before_parametrizations
""",
    "nn.utils.rnn": """
PackedSequence invert_permutation pack_padded_sequence pack_sequence pad_packed_sequence pad_sequence
unpack_sequence unpad_sequence
""",
    "optim": """
ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam Optimizer RAdam RMSprop Rprop SGD
SparseAdam
""",
    "optim.lr_scheduler": """
ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR ExponentialLR LRScheduler
LambdaLR LinearLR MultiStepLR MultiplicativeLR OneCycleLR PolynomialLR ReduceLROnPlateau SequentialLR StepLR
""",
}
# Each part of the file is a module and its names.
for _part in (pathlib.Path(__file__).parent / "keras_names.txt").read_text().split("\n\n"):
    _module, _, _names = _part.partition("\n")
    NAMES["compat." + _module] = _names


def sort_names(module):
    """Those that are here, and those that are not."""
    ours = importlib.import_module("tutti." + module)
    names = NAMES[module].split()
    here = [name for name in names if hasattr(ours, name)]
    return here, [name for name in names if name not in here]


def table():
    lines = ["| module | here | not here |", "|---|---|---|"]
    for module in NAMES:
        here, missing = sort_names(module)
        cells = (f"{len(names)}: " + ", ".join(f"`{n}`" for n in names) if names else "0" for names in (here, missing))
        lines.append(f"| `{module}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def current():
    head, mark, _ = PAGE.read_text().partition(MARK)
    return head + mark + table()


if __name__ == "__main__":
    PAGE.write_text(current())
