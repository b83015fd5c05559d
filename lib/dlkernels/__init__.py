"""Kernels of deep learning, from a Python loop to the fastest we can write, on CPU and GPU.

from dlkernels import cuda              numba.cuda, or the executor where there is no GPU
from dlkernels import add, relu         the operations, with PyTorch's names and arguments
from dlkernels import implementations   implementations.of("add", device="cpu"): the ladder behind one

A package of operations is imported when one of its names is asked for: a notebook about vectors need not wait for
attention.
"""

import importlib

from .device import cuda as cuda

# The folders of operations, each of which may use those before it, and what each offers.
FOLDERS = {
    "vector": """
        add axpy bias_activation bias_activation_backward elu elu_backward gelu gelu_backward leaky_relu
        leaky_relu_backward relu relu_backward sigmoid sigmoid_backward silu silu_backward tanh tanh_backward
    """,
    "reduce": """
        cumsum histogram sum sum_backward
    """,
    "matrix": """
        linear linear_backward matmul matmul_backward matmul_half matmul_int8 matmul_strassen transpose
    """,
    "convolution": """
        adaptive_avg_pool2d adaptive_avg_pool2d_backward adaptive_max_pool2d adaptive_max_pool2d_backward
        adaptive_max_pool2d_with_indices avg_pool2d avg_pool2d_backward conv2d conv2d_backward conv2d_fft
        conv2d_half conv2d_local conv2d_separable conv2d_winograd max_pool2d max_pool2d_backward
        max_pool2d_with_indices
    """,
    "recurrent": """
        gru gru_backward lstm lstm_backward lstm_backward_from_gates lstm_with_gates min_gru min_gru_backward
        min_lstm min_lstm_backward rnn rnn_backward scan scan_backward selective_scan selective_scan_backward
    """,
    "attention": """
        KVCache PagedKVCache attention_backward_from_sums attention_half attention_with_sums decode_attention
        feed_forward feed_forward_backward
        flex_attention gated_delta_rule layer_norm layer_norm_backward linear_attention log_softmax
        log_softmax_backward merge_attention multi_head_attention multi_head_attention_backward rms_norm
        rms_norm_backward rotary_embedding rotary_embedding_backward scaled_dot_product_attention
        scaled_dot_product_attention_backward sinusoidal_encoding softmax softmax_backward transformer_block
        transformer_block_backward
    """,
    "layers": """
        dropout dropout_backward embedding embedding_backward
    """,
    "loss": """
        cross_entropy cross_entropy_backward cross_entropy_backward_from_lse cross_entropy_with_lse mse_loss
        mse_loss_backward
    """,
    "normalization": """
        batch_norm batch_norm_backward batch_norm_backward_from_statistics batch_norm_with_statistics
    """,
    "optim": """
        adam adamw clip_grad_norm sgd
    """,
    "quantization": """
        choose_qparams dequantize fake_quantize fake_quantize_backward linear_codebook linear_hashed
        linear_hashed_backward linear_int4 linear_low_rank quantize
    """,
    "integer": """
        PackedWeight conv2d_int8 linear_int8
    """,
    "sparse": """
        bsr_mm linear_2_4 linear_2_4_half spmm spmm_backward spmv to_2_4 to_csr to_dense
    """,
}
_HOMES = {name: folder for folder, names in FOLDERS.items() for name in names.split()}

# `sum` is not among them: a star import must not hide Python's
__all__ = sorted({"cuda", "implementations", *_HOMES} - {"sum"})


def __getattr__(name):
    if name == "implementations":
        return importlib.import_module(".implementations", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    return found


def __dir__():
    return sorted({*globals(), *__all__, *_HOMES})
