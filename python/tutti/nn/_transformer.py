"""Attention of several heads as a layer, and the layers of transformers."""

import copy

from .. import _core
from . import _layers, functional, init
from ._module import Module, ModuleList
from ._weighted import LayerNorm, Linear, _new

_WORDS = {
    "embed_dim": "int : How long vectors are.",
    "num_heads": "int : How many heads share them.",
    "d_model": "int : How long vectors are.",
    "nhead": "int : How many heads share them.",
    "dim_feedforward": "int : How long vectors are between the two products behind attention.",
    "dropout": "float : The chance that an element goes, in training.",
    "activation": "str or function : What stands between those products: 'relu', 'gelu', or a function.",
    "layer_norm_eps": "float : What is added to variances.",
    "batch_first": "bool : Whether the first axis is that of images, not of steps.",
    "norm_first": "bool : Whether norms stand before what they belong to.",
    "bias": "bool : Whether there are biases.",
    "add_bias_kv": "bool : Whether there is one more key, with a value, that is learnt.",
    "add_zero_attn": "bool : Whether there is one more key of zeros, with a value of zeros.",
    "kdim": "int : How long keys are; None: as queries.",
    "vdim": "int : How long values are; None: as queries.",
    "device": "Device or str : Where the parameters lie.",
    "dtype": "dtype : Their type; None: float32.",
    "encoder_layer": "Module : The layer, which is copied.",
    "decoder_layer": "Module : The layer, which is copied.",
    "num_layers": "int : How many there are.",
    "norm": "Module : What follows the last one; None: nothing.",
    "enable_nested_tensor": "bool : Has no effect.",
    "mask_check": "bool : Has no effect.",
    "num_encoder_layers": "int : How many layers the encoder has.",
    "num_decoder_layers": "int : How many layers the decoder has.",
    "custom_encoder": "Module : An encoder; None: one of the usual layers.",
    "custom_decoder": "Module : A decoder; None: one of the usual layers.",
}


def _told(summary, names, example):
    lines = [summary, "", "Parameters", "----------"]
    for name in names.split():
        kind, _, words = _WORDS[name].partition(" : ")
        lines += [f"{name} : {kind}", f"    {words}"]
    return "\n".join([*lines, "", "Examples", "--------", *example])


class MultiheadAttention(Module):
    __doc__ = _told(
        "Attention of several heads between projections.",
        "embed_dim num_heads dropout bias add_bias_kv add_zero_attn kdim vdim batch_first device dtype",
        [
            ">>> attention, x = tt.nn.MultiheadAttention(8, 2), tt.ones((5, 3, 8), dtype='float32')",
            ">>> y, shares = attention(x, x, x)",
            ">>> y.shape, shares.shape",
            "((5, 3, 8), (3, 5, 5))",
        ],
    )

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim = (embed_dim if n is None else n for n in (kdim, vdim))
        self.head_dim, together = embed_dim // num_heads, self.kdim == self.vdim == embed_dim
        shapes = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        for name, width in shapes.items():
            self.register_parameter(name, None if together else _new((embed_dim, width), device, dtype))
        whole = _new((3 * embed_dim, embed_dim), device, dtype) if together else None
        self.register_parameter("in_proj_weight", whole)
        self.register_parameter("in_proj_bias", _new(3 * embed_dim, device, dtype) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype)
        self.add_zero_attn = add_zero_attn
        for name in "bias_k", "bias_v":
            self.register_parameter(name, _new((1, 1, embed_dim), device, dtype) if add_bias_kv else None)
            if add_bias_kv:
                init.xavier_normal_(self._parameters[name])
        for name in (*shapes, "in_proj_weight"):
            if self._parameters[name] is not None:
                init.xavier_uniform_(self._parameters[name])
        if bias:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        """The result, and the shares.

        Parameters
        ----------
        query : ndarray
            [queries, images, embed_dim], or without images.
        key : ndarray
            [keys, images, kdim].
        value : ndarray
            [keys, images, vdim].
        key_padding_mask : ndarray
            True (or what is added) for keys that nobody sees, [images, keys]; None: all are seen.
        need_weights : bool
            Whether the shares are wanted, which takes a matrix of queries and keys.
        attn_mask : ndarray
            True (or what is added) where a query does not see a key; None: all are seen.
        average_attn_weights : bool
            Whether the shares are the mean of all heads.
        is_causal : bool
            A hint that attn_mask is causal.

        Returns
        -------
        (ndarray, ndarray or None)
            The result, [queries, images, embed_dim], and the shares, [images, queries, keys].

        Examples
        --------
        >>> x = tt.ones((5, 8), dtype="float32")
        >>> y, shares = tt.nn.MultiheadAttention(8, 2).forward(x, x, x, need_weights=False)
        >>> y.shape, shares is None
        ((5, 8), True)
        """
        turned = self.batch_first and query.ndim == 3
        if turned:
            swapped = {id(a): a.swapaxes(0, 1) for a in (query, key, value)}
            query, key, value = (swapped[id(a)] for a in (query, key, value))
        separate = self.in_proj_weight is None
        made = functional.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            self.training,
            key_padding_mask,
            need_weights,
            attn_mask,
            separate,
            *((self.q_proj_weight, self.k_proj_weight, self.v_proj_weight) if separate else (None, None, None)),
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return made[0].swapaxes(0, 1) if turned else made[0], made[1] if need_weights else None


def _activation(word):
    if isinstance(word, str):
        if word not in ("relu", "gelu"):
            raise RuntimeError(f"activation should be relu/gelu, not {word}")
        return getattr(functional, word)
    return word


class _Layer(Module):
    def _begin(self, d_model, nhead, numbers, flags, place):
        """What layers of encoders and decoders share; gives how further attentions are made."""
        super().__init__()
        (dropout, eps), (batch_first, self.norm_first, bias) = numbers, flags
        how = {"bias": bias, "batch_first": batch_first, "device": place[0], "dtype": place[1]}
        drop = _layers.layer("Dropout")
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, **how)
        return (
            lambda: MultiheadAttention(d_model, nhead, dropout, **how),
            lambda a, b: Linear(a, b, bias, *place),
            lambda: LayerNorm(d_model, eps, bias=bias, device=place[0], dtype=place[1]),
            lambda: drop(dropout),
        )

    def _feed(self, x):
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


_COMMON = "dim_feedforward dropout activation layer_norm_eps batch_first norm_first bias device dtype"


class TransformerEncoderLayer(_Layer):
    __doc__ = _told(
        "A layer of an encoder: attention among all steps, and two products, each added to what it got.",
        f"d_model nhead {_COMMON}",
        [
            ">>> layer = tt.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)",
            ">>> layer(tt.ones((5, 3, 8), dtype='float32')).shape",
            "(5, 3, 8)",
        ],
    )

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-05,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        numbers, flags = (dropout, layer_norm_eps), (batch_first, norm_first, bias)
        _, linear, norm, drop = self._begin(d_model, nhead, numbers, flags, (device, dtype))
        self.linear1, self.dropout, self.linear2 = (
            linear(d_model, dim_feedforward),
            drop(),
            linear(dim_feedforward, d_model),
        )
        self.norm1, self.norm2, self.dropout1, self.dropout2 = norm(), norm(), drop(), drop()
        self.activation = _activation(activation)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        """The layer's result.

        Parameters
        ----------
        src : ndarray
            [steps, images, d_model], or without images.
        src_mask : ndarray
            True (or what is added) where a step does not see another; None: all are seen.
        src_key_padding_mask : ndarray
            True for steps that nobody sees; None: all are seen.
        is_causal : bool
            A hint that src_mask is causal.

        Returns
        -------
        ndarray
            Of the input's shape.

        Examples
        --------
        >>> layer = tt.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)
        >>> layer.forward(tt.ones((5, 8), dtype="float32")).shape
        (5, 8)
        """

        def attend(x):
            hidden = {"key_padding_mask": src_key_padding_mask, "attn_mask": src_mask, "is_causal": is_causal}
            return self.dropout1(self.self_attn(x, x, x, need_weights=False, **hidden)[0])

        if self.norm_first:
            src = src + attend(self.norm1(src))
            return src + self.dropout2(self._feed(self.norm2(src)))
        src = self.norm1(src + attend(src))
        return self.norm2(src + self.dropout2(self._feed(src)))


class TransformerDecoderLayer(_Layer):
    __doc__ = _told(
        "A layer of a decoder: attention among its own steps, to an encoder's, and two products.",
        f"d_model nhead {_COMMON}",
        [
            ">>> layer, x = tt.nn.TransformerDecoderLayer(8, 2, 16), tt.ones((5, 3, 8), dtype='float32')",
            ">>> layer(x, x[:4]).shape",
            "(5, 3, 8)",
        ],
    )

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-05,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        numbers, flags = (dropout, layer_norm_eps), (batch_first, norm_first, bias)
        attention, linear, norm, drop = self._begin(d_model, nhead, numbers, flags, (device, dtype))
        self.multihead_attn = attention()
        self.linear1, self.dropout, self.linear2 = (
            linear(d_model, dim_feedforward),
            drop(),
            linear(dim_feedforward, d_model),
        )
        self.norm1, self.norm2, self.norm3 = norm(), norm(), norm()
        self.dropout1, self.dropout2, self.dropout3 = drop(), drop(), drop()
        self.activation = _activation(activation)

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=False,
        memory_is_causal=False,
    ):
        """The layer's result.

        Parameters
        ----------
        tgt : ndarray
            [steps, images, d_model], or without images.
        memory : ndarray
            What the encoder gave.
        tgt_mask : ndarray
            True (or what is added) where a step does not see another; None: all are seen.
        memory_mask : ndarray
            The same for steps of the encoder.
        tgt_key_padding_mask : ndarray
            True for steps that nobody sees; None: all are seen.
        memory_key_padding_mask : ndarray
            The same for steps of the encoder.
        tgt_is_causal : bool
            A hint that tgt_mask is causal.
        memory_is_causal : bool
            A hint that memory_mask is causal.

        Returns
        -------
        ndarray
            Of the shape of tgt.

        Examples
        --------
        >>> layer, x = tt.nn.TransformerDecoderLayer(8, 2, dim_feedforward=16), tt.ones((5, 8), dtype="float32")
        >>> layer.forward(x, x[:4]).shape
        (5, 8)
        """

        def attend(x):
            hidden = {"key_padding_mask": tgt_key_padding_mask, "attn_mask": tgt_mask, "is_causal": tgt_is_causal}
            return self.dropout1(self.self_attn(x, x, x, need_weights=False, **hidden)[0])

        def look_up(x):
            hidden = {"key_padding_mask": memory_key_padding_mask, "attn_mask": memory_mask}
            made = self.multihead_attn(x, memory, memory, need_weights=False, is_causal=memory_is_causal, **hidden)
            return self.dropout2(made[0])

        if self.norm_first:
            tgt = tgt + attend(self.norm1(tgt))
            tgt = tgt + look_up(self.norm2(tgt))
            return tgt + self.dropout3(self._feed(self.norm3(tgt)))
        tgt = self.norm1(tgt + attend(tgt))
        tgt = self.norm2(tgt + look_up(tgt))
        return self.norm3(tgt + self.dropout3(self._feed(tgt)))


class TransformerEncoder(Module):
    __doc__ = _told(
        "Layers of an encoder, one after the other.",
        "encoder_layer num_layers norm enable_nested_tensor mask_check",
        [
            ">>> layer = tt.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)",
            ">>> tt.nn.TransformerEncoder(layer, 2)(tt.ones((5, 3, 8), dtype='float32')).shape",
            "(5, 3, 8)",
        ],
    )

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        """The last layer's result.

        Parameters
        ----------
        src : ndarray
            What the first layer gets.
        mask : ndarray
            True (or what is added) where a step does not see another; None: all are seen.
        src_key_padding_mask : ndarray
            True for steps that nobody sees; None: all are seen.
        is_causal : bool
            A hint that mask is causal.

        Returns
        -------
        ndarray
            Of the input's shape.

        Examples
        --------
        >>> layer = tt.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)
        >>> tt.nn.TransformerEncoder(layer, 2).forward(tt.ones((5, 8), dtype="float32")).shape
        (5, 8)
        """
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, bool(is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    __doc__ = _told(
        "Layers of a decoder, one after the other.",
        "decoder_layer num_layers norm",
        [
            ">>> layer, x = tt.nn.TransformerDecoderLayer(8, 2, 16), tt.ones((5, 3, 8), dtype='float32')",
            ">>> tt.nn.TransformerDecoder(layer, 2)(x, x).shape",
            "(5, 3, 8)",
        ],
    )

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        """The last layer's result.

        Parameters
        ----------
        tgt : ndarray
            What the first layer gets.
        memory : ndarray
            What the encoder gave.
        tgt_mask : ndarray
            True (or what is added) where a step does not see another; None: all are seen.
        memory_mask : ndarray
            The same for steps of the encoder.
        tgt_key_padding_mask : ndarray
            True for steps that nobody sees; None: all are seen.
        memory_key_padding_mask : ndarray
            The same for steps of the encoder.
        tgt_is_causal : bool
            A hint that tgt_mask is causal.
        memory_is_causal : bool
            A hint that memory_mask is causal.

        Returns
        -------
        ndarray
            Of the shape of tgt.

        Examples
        --------
        >>> layer, x = tt.nn.TransformerDecoderLayer(8, 2, dim_feedforward=16), tt.ones((5, 8), dtype="float32")
        >>> tt.nn.TransformerDecoder(layer, 2).forward(x, x).shape
        (5, 8)
        """
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        for layer in self.layers:
            tgt = layer(tgt, memory, *masks, bool(tgt_is_causal), memory_is_causal)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    __doc__ = _told(
        "An encoder, and a decoder that looks at what it gave.",
        "d_model nhead num_encoder_layers num_decoder_layers dim_feedforward dropout activation custom_encoder "
        "custom_decoder layer_norm_eps batch_first norm_first bias device dtype",
        [
            ">>> model, x = tt.nn.Transformer(8, 2, 1, 1, 16), tt.ones((5, 3, 8), dtype='float32')",
            ">>> model(x, x[:4]).shape",
            "(4, 3, 8)",
        ],
    )

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-05,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        how = dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype

        def norm():
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        if custom_encoder is None:
            custom_encoder = TransformerEncoder(
                TransformerEncoderLayer(d_model, nhead, *how), num_encoder_layers, norm()
            )
        if custom_decoder is None:
            custom_decoder = TransformerDecoder(
                TransformerDecoderLayer(d_model, nhead, *how), num_decoder_layers, norm()
            )
        self.encoder, self.decoder = custom_encoder, custom_decoder
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        for p in self.parameters():
            if p.ndim > 1:
                init.xavier_uniform_(p)

    def forward(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        src_is_causal=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        """The decoder's result.

        Parameters
        ----------
        src : ndarray
            What the encoder gets, [steps, images, d_model], or without images.
        tgt : ndarray
            What the decoder gets.
        src_mask : ndarray
            True (or what is added) where a step of the encoder does not see another; None: all are seen.
        tgt_mask : ndarray
            The same of the decoder.
        memory_mask : ndarray
            The same where the decoder looks at the encoder's steps.
        src_key_padding_mask : ndarray
            True for steps of the encoder that nobody there sees; None: all are seen.
        tgt_key_padding_mask : ndarray
            The same of the decoder.
        memory_key_padding_mask : ndarray
            The same where the decoder looks at the encoder's steps.
        src_is_causal : bool
            A hint that src_mask is causal.
        tgt_is_causal : bool
            A hint that tgt_mask is causal.
        memory_is_causal : bool
            A hint that memory_mask is causal.

        Returns
        -------
        ndarray
            Of the shape of tgt.

        Examples
        --------
        >>> model, x = tt.nn.Transformer(8, 2, 1, 1, 16), tt.ones((5, 8), dtype="float32")
        >>> model.forward(x, x[:4], tgt_mask=model.generate_square_subsequent_mask(4)).shape
        (4, 8)
        """
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        return self.decoder(tgt, memory, *masks, tgt_is_causal, memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """What is added so that no step sees those behind it.

        Parameters
        ----------
        sz : int
            How many steps there are.
        device : Device or str
            Where the mask lies.
        dtype : dtype
            Its type; None: float32.

        Returns
        -------
        ndarray
            0, and minus infinity above the diagonal.

        Examples
        --------
        >>> tt.nn.Transformer.generate_square_subsequent_mask(2)
        array([[  0., -inf],
               [  0.,   0.]], dtype=float32)
        """
        made = _core.functions["full"]((sz, sz), float("-inf"), dtype or _core.float32, device=device)
        return _core.functions["triu"](made, 1)
