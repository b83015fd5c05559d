"""Layers with their weights, as torch.nn has them: names, layouts, initialisations and state_dict are PyTorch's.

A Module finds what it consists of in its own attributes: a `Parameter` is learned, any other Tensor is a buffer (kept
and saved, not learned), a Module is a part. What is drawn at random comes from `generator`, a numpy.random.Generator
that each layer with weights takes: the same seed gives the same network.
"""

import math

import numpy as np

from dlkernels.device import is_device_array

from . import functional as F
from .arrays import brought, write
from .memory import draw, running_again
from .tensor import Tensor, apply, recording


class Parameter(Tensor):
    """A Tensor that is learned."""

    def __init__(self, data):
        super().__init__(data, requires_grad=True)


class Module:
    """A part of a network. Write `forward`; `module(x)` calls it."""

    training = True

    def __call__(self, *arguments, **named):
        return self.forward(*arguments, **named)

    def forward(self, *arguments):
        raise NotImplementedError(f"{type(self).__name__} has no forward: write what it computes.")

    def named_modules(self, prefix=""):
        """("", itself), then all of its parts, with dots in the names of parts of parts."""
        yield prefix, self
        for name, part in vars(self).items():
            if isinstance(part, Module):
                yield from part.named_modules(f"{prefix}.{name}" if prefix else name)

    def named_tensors(self):
        """(name, Tensor) of all parameters and buffers. What two parts share comes with both names."""
        for prefix, module in self.named_modules():
            for name, x in vars(module).items():
                if isinstance(x, Tensor):
                    yield (f"{prefix}.{name}" if prefix else name), x

    def named_parameters(self):
        """(name, Parameter); what is shared comes once."""
        seen = set()
        for name, x in self.named_tensors():
            if isinstance(x, Parameter) and x not in seen:
                seen.add(x)
                yield name, x

    def parameters(self):
        return [x for _, x in self.named_parameters()]

    def buffers(self):
        return [x for _, x in self.named_tensors() if not isinstance(x, Parameter)]

    def state_dict(self):
        """{name: NumPy array}: copies, which training on does not change."""
        return {name: np.array(x.numpy()) for name, x in self.named_tensors()}

    def load_state_dict(self, state):
        """Write the arrays of a state_dict into this network's; names, shapes and dtypes have to be the same."""
        tensors = dict(self.named_tensors())
        missing, unknown = sorted(tensors.keys() - state.keys()), sorted(state.keys() - tensors.keys())
        if missing or unknown:
            raise ValueError(f"the state is of another network: missing are {missing}, unknown are {unknown}.")
        for name, x in tensors.items():
            array = np.asarray(state[name])
            if array.shape != x.shape or array.dtype != x.dtype:
                raise ValueError(f"{name} is {array.shape} {array.dtype}; expected {x.shape} {x.dtype}.")
        for name, x in tensors.items():
            write(x.data, np.asarray(state[name]))
            x.version += 1

    def train(self, mode=True):
        """Dropout drops, and batch norm looks at its batch; `eval()` ends that. Returns the module."""
        for _, module in self.named_modules():
            module.training = mode
        return self

    def eval(self):
        return self.train(False)

    def to(self, target):
        """Bring parameters and buffers to "cpu" or "cuda", or to a dtype ("float64"). Returns the module.

        Do so before an optimizer has made its state.
        """
        for _, x in self.named_tensors():
            x.data, x.grad, x.version = brought(x.data, target), None, x.version + 1
        return self

    def zero_grad(self):
        for x in self.parameters():
            x.grad = None


def uniform(generator, bound, shape):
    """A Parameter drawn evenly from -bound to bound, float32."""
    return Parameter(checked(generator).uniform(-bound, bound, shape).astype(np.float32))


def checked(generator):
    if not isinstance(generator, np.random.Generator):
        raise TypeError(f"generator is {generator!r}; expected numpy.random.default_rng(seed).")
    return generator


def constant(value, *shape):
    return Parameter(np.full(shape, value, np.float32))


# ---- layers ----------------------------------------------------------------------------------------------------------


class Sequential(Module):
    """One module after the other."""

    def __init__(self, *modules):
        for k, module in enumerate(modules):
            setattr(self, str(k), module)

    def __iter__(self):
        return (part for part in vars(self).values() if isinstance(part, Module))

    def forward(self, x):
        for part in self:
            x = part(x)
        return x


class Linear(Module):
    """x weight^T + bias. weight: (out_features, in_features). Both from -1/sqrt(in_features) to 1/sqrt(in_features)."""

    def __init__(self, in_features, out_features, bias=True, *, generator):
        bound = 1 / math.sqrt(in_features)
        self.weight = uniform(generator, bound, (out_features, in_features))
        self.bias = uniform(generator, bound, out_features) if bias else None

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class Conv2d(Module):
    """A convolution; see dlkernels.conv2d. Weights and bias are within 1/sqrt(numbers that a result sees)."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, *, generator
    ):
        kernel = (kernel_size,) * 2 if isinstance(kernel_size, int) else tuple(kernel_size)
        shape = (out_channels, in_channels // groups, *kernel)
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        self.weight = uniform(generator, bound, shape)
        self.bias = uniform(generator, bound, out_channels) if bias else None
        self.options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}

    def forward(self, x):
        return F.conv2d(x, self.weight, self.bias, **self.options)


ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "sigmoid", "elu", "leaky_relu")


class Activation(Module):
    """An element-wise operation of the table, by its name (ACTIVATIONS)."""

    operation = None

    def forward(self, x):
        return apply(self.operation, x)


class ReLU(Activation):
    operation = "relu"


class GELU(Activation):
    operation = "gelu"


class SiLU(Activation):
    operation = "silu"


class Tanh(Activation):
    operation = "tanh"


class Sigmoid(Activation):
    operation = "sigmoid"


class MaxPool2d(Module):
    """The largest number of each window; see dlkernels.max_pool2d."""

    def __init__(self, kernel_size, stride=None, padding=0):
        self.arguments = kernel_size, stride, padding

    def forward(self, x):
        return F.max_pool2d(x, *self.arguments)


class AvgPool2d(Module):
    """The mean of each window; see dlkernels.avg_pool2d."""

    def __init__(self, kernel_size, stride=None, padding=0):
        self.arguments = kernel_size, stride, padding

    def forward(self, x):
        return F.avg_pool2d(x, *self.arguments)


class Flatten(Module):
    """(batch, channels, height, width) becomes (batch, features)."""

    def forward(self, x):
        return F.flatten(x)


class LayerNorm(Module):
    """Mean 0 and variance 1 along the last dimension, then weight and bias."""

    def __init__(self, width, eps=1e-5):
        self.weight, self.bias, self.eps = constant(1, width), constant(0, width), eps

    def forward(self, x):
        return F.layer_norm(x, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """Mean square 1 along the last dimension, then weight."""

    def __init__(self, width, eps=None):
        self.weight, self.eps = constant(1, width), eps

    def forward(self, x):
        return F.rms_norm(x, self.weight, self.eps)


class Embedding(Module):
    """A learned row for each of num_embeddings words, from a normal distribution. words: whole numbers, any shape."""

    def __init__(self, num_embeddings, embedding_dim, *, generator):
        self.weight = Parameter(checked(generator).normal(size=(num_embeddings, embedding_dim)).astype(np.float32))

    def forward(self, words):
        return F.embedding(words, self.weight)


class Dropout(Module):
    """In training each number is 0 with probability p, others are divided by 1 - p; after `eval()` nothing changes.

    Each call draws a seed from the generator. Inside `checkpoint` the second run has the seeds of the first.
    """

    def __init__(self, p=0.5, *, generator):
        self.p, self.generator = p, checked(generator)

    def forward(self, x):
        return F.dropout(x, self.p, seed=draw(self.generator)) if self.training and self.p else x


class BatchNorm2d(Module):
    """Mean 0 and variance 1 of each channel, then weight and bias; (batch, channels, height, width).

    In training by the mean and variance of the batch, and running means of both are kept; after `eval()` by these.
    Without PyTorch's num_batches_tracked.
    """

    def __init__(self, channels, eps=1e-5, momentum=0.1):
        self.weight, self.bias, self.eps, self.momentum = constant(1, channels), constant(0, channels), eps, momentum
        self.running_mean = Tensor(np.zeros(channels, np.float32))
        self.running_var = Tensor(np.ones(channels, np.float32))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if not self.training:
            return F.batch_norm(x, mean, var, self.weight, self.bias, eps=self.eps)
        result, *batch = F.batch_norm_with_statistics(x, self.weight, self.bias, self.eps)
        if not running_again():
            from dlkernels.normalization import running_statistics  # here: its kernels are loaded where they are used

            arrays = [tensor.data for tensor in (mean, var, *batch)]
            mean.data, var.data = running_statistics(*arrays, x.size // x.shape[1], self.momentum)
        return result


class LSTM(Module):
    """Long short-term memory; weights within 1/sqrt(hidden_size). Shapes: see dlkernels.lstm.

    Returns (output, (h_n, c_n)). state: (h0, c0), or None for zeros. For the backward pass the tape keeps the gates of
    all steps, in host memory, so that it need not compute them again.
    """

    def __init__(self, input_size, hidden_size, num_layers=1, batch_first=False, *, generator):
        self.layers, self.batch_first, bound = num_layers, batch_first, 1 / math.sqrt(hidden_size)
        for layer in range(num_layers):
            columns = hidden_size if layer else input_size
            shapes = {"weight_ih": columns, "weight_hh": hidden_size, "bias_ih": None, "bias_hh": None}
            for name, width in shapes.items():
                shape = 4 * hidden_size if width is None else (4 * hidden_size, width)
                setattr(self, f"{name}_l{layer}", uniform(generator, bound, shape))

    def forward(self, x, state=None):
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = [tuple(getattr(self, f"{name}_l{layer}") for layer in range(self.layers)) for name in names]
        weights = [of_layers[0] for of_layers in weights] if self.layers == 1 else weights
        kept = recording() and not is_device_array(x.data)  # on a GPU the gates are computed again
        operation = F.lstm_with_gates if kept else F.lstm
        output, h_n, c_n, *_ = operation(x, *(state or (None, None)), *weights, batch_first=self.batch_first)
        return output, (h_n, c_n)


class MultiheadAttention(Module):
    """Self-attention, (batch, steps, width) to the same. in_proj_weight: queries, keys, values, one below the other."""

    def __init__(self, width, heads, is_causal=False, *, generator):
        self.in_proj_weight = uniform(generator, math.sqrt(6 / (width + 3 * width)), (3 * width, width))
        self.in_proj_bias = constant(0, 3 * width)
        self.out_proj = Linear(width, width, generator=generator)
        self.out_proj.bias = constant(0, width)
        self.heads, self.is_causal = heads, is_causal

    def forward(self, x):
        q, k, v = F.split_heads(F.linear(x, self.in_proj_weight, self.in_proj_bias), self.heads, 3)
        if recording():
            result, _ = F.attention_with_sums(q, k, v, is_causal=self.is_causal)
        else:
            result = F.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal)
        return self.out_proj(F.merge_heads(result))


class TransformerBlock(Module):
    """One pre-norm layer: x + attention(norm1(x)), then that + linear2(activation(linear1(norm2(that)))).

    Its weights have the names of torch.nn.TransformerEncoderLayer(norm_first=True). x: (batch, steps, width). Without
    dropout. The operation `transformer_block` of the table computes the same, and keeps x alone: its backward pass
    computes all else again. Here each part keeps what its own backward pass needs; `checkpoint` (memory.py) of a block
    keeps x alone, too.
    """

    def __init__(self, width, heads, hidden=None, is_causal=True, activation="gelu", *, generator):
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation is {activation!r}; expected one of {', '.join(ACTIVATIONS)}.")
        hidden = 4 * width if hidden is None else hidden
        self.self_attn = MultiheadAttention(width, heads, is_causal, generator=generator)
        self.linear1 = Linear(width, hidden, generator=generator)
        self.linear2 = Linear(hidden, width, generator=generator)
        self.norm1, self.norm2 = LayerNorm(width), LayerNorm(width)
        self.activation = activation

    def forward(self, x):
        x = x + self.self_attn(self.norm1(x))
        return x + self.linear2(apply(self.activation, self.linear1(self.norm2(x))))
