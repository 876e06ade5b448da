"""Three small models as a user writes them, each beside the same in plain numpy."""

import numpy as np

import fusion

EPSILON = 1e-5


# A ResNet basic block: two convolutions with batch norm, and a residual.


def resnet_block(x, p):
    y = fusion.conv2d(x, p["conv1"], padding=1)
    y = fusion.relu(fusion.batch_norm(y, *p["norm1"]))
    y = fusion.conv2d(y, p["conv2"], padding=1)
    y = fusion.batch_norm(y, *p["norm2"])
    return fusion.relu(y + x)


def resnet_block_numpy(x, p):
    y = np.maximum(batch_norm(conv3x3(x, p["conv1"]), *p["norm1"]), 0)
    y = batch_norm(conv3x3(y, p["conv2"]), *p["norm2"])
    return np.maximum(y + x, 0)


def resnet_block_inputs(random):
    channels = 64

    def norm():
        mean, bias = random.standard_normal((2, channels))
        variance, weight = random.uniform(0.5, 1.5, (2, channels))
        return mean, variance, weight, bias

    scale = (channels * 9) ** -0.5
    conv1, conv2 = scale * random.standard_normal((2, channels, channels, 3, 3))
    parameters = {"conv1": conv1, "conv2": conv2, "norm1": norm(), "norm2": norm()}
    return random.standard_normal((4, channels, 56, 56)), parameters


def conv3x3(x, weight):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return np.einsum("nchwij,kcij->nkhw", windows, weight, optimize=True)


def batch_norm(x, mean, variance, weight, bias):
    mean, variance, weight, bias = (
        v[:, None, None] for v in (mean, variance, weight, bias)
    )
    return (x - mean) / np.sqrt(variance + EPSILON) * weight + bias


# A transformer block: causal attention and a GELU network, both with layer norm.


def transformer_block(x, p):
    y = fusion.layer_norm(x, p["norm1"])
    q, k, v = (heads(y @ p[name]) for name in ("query", "key", "value"))
    y = fusion.attention(q, k, v, causal=True)
    x = x + joined(y) @ p["project"]
    y = fusion.layer_norm(x, p["norm2"])
    return x + fusion.gelu(y @ p["up"], approximate="tanh") @ p["down"]


def transformer_block_numpy(x, p):
    y = layer_norm(x, p["norm1"])
    q, k, v = (heads(y @ p[name]) for name in ("query", "key", "value"))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    mask = np.tril(np.ones(scores.shape[-2:], bool))
    y = softmax(np.where(mask, scores, -np.inf)) @ v
    x = x + joined(y) @ p["project"]
    y = layer_norm(x, p["norm2"])
    return x + gelu(y @ p["up"]) @ p["down"]


def transformer_block_inputs(random):
    width = 256

    def matrix(rows, columns):
        return rows**-0.5 * random.standard_normal((rows, columns))

    names = ("query", "key", "value", "project")
    parameters = {name: matrix(width, width) for name in names}
    parameters["up"] = matrix(width, 4 * width)
    parameters["down"] = matrix(4 * width, width)
    parameters["norm1"], parameters["norm2"] = random.uniform(0.5, 1.5, (2, width))
    return random.standard_normal((4, 128, width)), parameters


def heads(x):
    """[batch, length, width] to [batch, head, length, 32]."""
    return x.reshape(*x.shape[:2], x.shape[2] // 32, 32).swapaxes(1, 2)


def joined(x):
    """The inverse of `heads`."""
    batch, head, length, size = x.shape
    return x.swapaxes(1, 2).reshape(batch, length, head * size)


def layer_norm(x, weight):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + EPSILON) * weight


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


# Softmax and cross entropy: a plain numpy function, which fusion runs unchanged.


def cross_entropy(logits, targets):
    shifted = logits - np.max(logits, axis=-1, keepdims=True)
    total = np.sum(np.exp(shifted), axis=-1, keepdims=True)
    log_probabilities = shifted - np.log(total)
    return -np.mean(np.sum(targets * log_probabilities, axis=-1))


def cross_entropy_inputs(random):
    rows, classes = 1024, 8192
    targets = np.zeros((rows, classes))
    targets[np.arange(rows), random.integers(0, classes, rows)] = 1
    return 4 * random.standard_normal((rows, classes)), targets


# Title, function, the same in numpy, inputs.
MODELS = (
    ("ResNet basic block", resnet_block, resnet_block_numpy, resnet_block_inputs),
    (
        "transformer block",
        transformer_block,
        transformer_block_numpy,
        transformer_block_inputs,
    ),
    ("softmax cross entropy", cross_entropy, cross_entropy, cross_entropy_inputs),
)
