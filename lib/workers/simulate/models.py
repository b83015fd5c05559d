"""Shapes of Transformers: how many parameters, how many floating-point operations.

Parameters and operations of GPT shapes are those of Narayanan and others 2021 (equations 2 and 3, appendix).
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Model:
    """A decoder. layers, width (hidden size), heads, sequence, vocabulary; hidden: width of the MLP, None for 4 width;
    kv_heads: None for as many as heads; gated: three matrices in an MLP, no biases, no learned positions; experts,
    active: of a mixture of experts, how many there are and how many a token sees; tied: whether the matrix before the
    logits is the embedding's; dropout: whether activations keep dropout's masks."""

    layers: int
    width: int
    heads: int
    sequence: int
    vocabulary: int
    hidden: int | None = None
    kv_heads: int | None = None
    gated: bool = False
    experts: int = 1
    active: int = 1
    tied: bool = True
    dropout: bool = True

    @property
    def mlp_width(self):
        return self.hidden or 4 * self.width

    @property
    def kv_width(self):
        return self.width * (self.kv_heads or self.heads) // self.heads

    @property
    def attention_parameters(self):
        """Of one layer's matrices: queries, keys, values, output."""
        return self.width * (2 * self.width + 2 * self.kv_width)

    @property
    def expert_parameters(self):
        """Of one expert's matrices; of the MLP, where there is one."""
        return (3 if self.gated else 2) * self.width * self.mlp_width

    @property
    def small_parameters(self):
        """Of one layer: norms, biases, and the router of experts."""
        return (2 if self.gated else 13) * self.width + (self.width * self.experts if self.experts > 1 else 0)

    @property
    def embedding_parameters(self):
        """Of the table of words, and of positions."""
        return self.vocabulary * self.width + (0 if self.gated else self.sequence * self.width)

    @property
    def parameters(self):
        """All of them."""
        layer = self.attention_parameters + self.experts * self.expert_parameters + self.small_parameters
        return self.layers * layer + self.embedding_parameters + (0 if self.tied else self.vocabulary * self.width)

    @property
    def flops_per_token(self):
        """Forward and backward, 2 for a multiply-add: matrices, attention without the causal mask, logits. What MFU is
        counted with, so that it does not depend on how a kernel or a recomputation saves or wastes."""
        layer = self.attention_parameters + self.active * self.expert_parameters
        matrices = self.layers * layer + self.vocabulary * self.width
        return 6 * matrices + 12 * self.layers * self.width * self.sequence

    def but(self, **changes):
        """The same with other fields."""
        return replace(self, **changes)


def _gpt(layers, width, heads):
    return Model(layers, width, heads, 2048, 51200)


def _llama(layers, width, heads, hidden):
    return Model(layers, width, heads, 8192, 128256, hidden, 8, gated=True, tied=False, dropout=False)


models = {
    # Narayanan and others 2021, table 1, and 175b of table 2
    "gpt-1.7b": _gpt(24, 2304, 24), "gpt-3.6b": _gpt(30, 3072, 32), "gpt-7.5b": _gpt(36, 4096, 32),
    "gpt-18b": _gpt(40, 6144, 48), "gpt-39b": _gpt(48, 8192, 64), "gpt-76b": _gpt(60, 10240, 80),
    "gpt-145b": _gpt(80, 12288, 96), "gpt-175b": _gpt(96, 12288, 96), "gpt-310b": _gpt(96, 16384, 128),
    "gpt-530b": _gpt(105, 20480, 128), "gpt-1t": _gpt(128, 25600, 160),
    # Korthikanti and others 2023, table 3
    "gpt-22b": _gpt(48, 6144, 64),
    # Grattafiori and others 2024, table 3
    "llama3-8b": _llama(32, 4096, 32, 14336), "llama3-70b": _llama(80, 8192, 64, 28672),
    "llama3-405b": _llama(126, 16384, 128, 53248),
    # Parmar and others 2024, "Nemotron-4 340B": squared ReLU, so two matrices; no dropout
    "nemotron4-340b": Model(96, 18432, 96, 4096, 256000, 73728, 8, tied=False, dropout=False),
    # xAI 2024, grok-1: 8 experts, 2 of them for each token
    "grok-1": Model(64, 6144, 48, 8192, 131072, 32768, 8, gated=True, experts=8, active=2, dropout=False),
}  # fmt: skip
