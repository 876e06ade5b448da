"""A ResNet-18 and a small GPT, written as a user of PyTorch would.

The demo compiles them, and the tests smaller ones of the same classes.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


class BasicBlock(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.shortcut = nn.Identity()
        if stride != 1 or channels_in != channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels_in, channels, 1, stride, bias=False),
                nn.BatchNorm2d(channels),
            )

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet18(nn.Module):
    def __init__(self, width=64, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, 3, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )
        blocks = []
        channels_in = width
        for stage in range(4):
            channels = width * 2**stage
            blocks.append(BasicBlock(channels_in, channels, 2 if stage else 1))
            blocks.append(BasicBlock(channels, channels, 1))
            channels_in = channels
        self.blocks = nn.Sequential(*blocks)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(channels_in, classes)

    def forward(self, x):
        return self.fc(self.pool(self.blocks(self.stem(x))).flatten(1))


class TransformerBlock(nn.Module):
    def __init__(self, width, heads, sdpa):
        super().__init__()
        self.heads, self.sdpa = heads, sdpa
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def attend(self, q, k, v):
        if self.sdpa:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        length = q.shape[-2]
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        later = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
        return scores.masked_fill(later, float("-inf")).softmax(-1) @ v

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            t.view(batch, length, self.heads, -1).transpose(1, 2)
            for t in self.qkv(self.norm1(x)).split(width, 2)
        )
        y = self.attend(q, k, v).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(y)
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, words=97, length=64, width=32, heads=4, layers=2, sdpa=False):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Parameter(torch.randn(length, width) * 0.1)
        self.blocks = nn.ModuleList(
            TransformerBlock(width, heads, sdpa) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens) + self.positions[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def models():
    """Title, model and inputs of each."""
    torch.manual_seed(0)
    images = torch.randn(1, 3, 224, 224)
    tokens = torch.randint(0, 2048, (2, 128))
    gpt = GPT(2048, length=128, width=128, layers=4, sdpa=True)
    return (
        ("ResNet-18, one image", settled(ResNet18()), (images,)),
        ("GPT of 4 layers, 2 x 128 tokens", gpt.eval(), (tokens,)),
    )


def settled(model):
    """Gives every batch norm statistics of its own, as training would."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.running_mean, -0.1, 0.1)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    return model.eval()
