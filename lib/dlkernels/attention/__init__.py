"""Attention, and what stands beside it in a Transformer: softmax, normalisations, positions.

Names, argument orders and defaults are PyTorch's (a normalisation's shape is that of its weight: the last dimension).
Arrays are float32 or float64, of any strides, in host or device memory; what is computed from device arrays stays on
the device, in float32. Nothing changes its inputs. Wrong arguments raise ValueError or TypeError.

What is called, and what checks its arguments. Behind each, the files of its ladder on CPU and GPU, in the order to read
them:

softmax.py            cpu_softmax.py    gpu_rows.py  gpu_row_warps.py
norms.py              cpu_norms.py      gpu_rows.py  gpu_row_warps.py  gpu_norm_gradients.py
attention.py          cpu.py  flash.py  cpu_backward.py
                      gpu.py  gpu_patches.py  gpu_half.py  gpu_backward.py  gpu_backward_patches.py
decoding.py           cpu_decode.py  split.py     gpu_decode.py
positions.py          encodings.py
without_softmax.py    linear.py
block.py              transformer.py

What these share: reference.py says what each is, examples.py how it is called; geometry.py which heads look at which;
modifiers.py what a caller's functions change in attention; rows.py the lines of memory of softmax and norms.
kv_cache.py keeps keys and values between calls of decoding.

Read first: reference.py, cpu.py to its end, flash.py. The rest can wait until it is asked for.
"""

# An operation is declared before its rungs.
# isort: off
from .softmax import log_softmax, log_softmax_backward, softmax, softmax_backward  # noqa: F401
from .norms import layer_norm, layer_norm_backward, rms_norm, rms_norm_backward  # noqa: F401
from .attention import (  # noqa: F401
    attention_backward_from_sums,
    attention_half,
    attention_with_sums,
    flex_attention,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)
from .decoding import decode_attention, merge_attention  # noqa: F401
from .positions import rotary_embedding, rotary_embedding_backward, sinusoidal_encoding  # noqa: F401
from .without_softmax import gated_delta_rule, linear_attention  # noqa: F401
from .block import (  # noqa: F401
    feed_forward,
    feed_forward_backward,
    multi_head_attention,
    multi_head_attention_backward,
    transformer_block,
    transformer_block_backward,
)
from .kv_cache import KVCache, PagedKVCache  # noqa: F401
from .modifiers import BlockMask, create_block_mask  # noqa: F401
from . import (  # noqa: F401
    cpu,
    cpu_backward,
    cpu_decode,
    cpu_norms,
    cpu_softmax,
    encodings,
    gpu,
    gpu_backward,
    gpu_backward_patches,
    gpu_decode,
    gpu_half,
    gpu_norm_gradients,
    gpu_patches,
    gpu_row_warps,
    gpu_rows,
    linear,
    transformer,
)
