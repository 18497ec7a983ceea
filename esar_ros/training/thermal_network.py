"""The thermal network: a small fully convolutional detector of people in 8-bit thermal pictures, and its loss.

One level at stride 4, since a person is 8 by 16 px; context comes from strides 8, 16 and 32 by a top-down pyramid
(Lin et al., CVPR 2017), and where edges lie from stride 2, before the backbone takes maxima. The backbone, NanoDet-g's
(training.picture_network), knows photographs. Cells answer for the boxes that they already place and name best (task
alignment, Feng et al., ICCV 2021); scores learn the boxes' overlap. Vehicles and bicycles are learnt beside people, so
that they are not taken for them, and left out of what is exported. Torch is given by the caller: it is imported only
for training.
"""

from __future__ import annotations

from typing import Any

from esar_ros.training.picture_network import GREY, Weights, grey_backbone

STRIDE = 4  # px of a cell
MULTIPLE = 32  # px that a picture's sides must be multiples of
CLASSES = ("person", "vehicle", "bicycle")
_STEM, _WIDTHS = 32, (64, 128, 256, 512)  # channels of the backbone at strides 2 and 4, 8, 16, 32
_NECK = 48  # channels of the pyramid and the heads
_RARE = -4.6  # bias of scores: one cell of a hundred holds something
_TOP = 9  # cells that may answer for an object
_REACH = 1.5  # cells about a box's centre that may, however small the box
_SCORED, _PLACED = 0.5, 4.0  # powers of score and overlap in the alignment
_BOX_WEIGHT = 5.0  # of places against scores


def network_of(torch: Any, weights: Weights | None = None) -> Any:
    """Network: pictures (N, 1, H, W) in 0..1 to logits (N, 3, h, w) and box sides (N, 4, h, w), in cells.

    weights: of the backbone, as picture_network.read_package gives them; without them it knows nothing.
    """
    nn = torch.nn

    def conv(inside: int, outside: int, side: int = 3, step: int = 1) -> Any:
        return nn.Sequential(
            nn.Conv2d(inside, outside, side, step, side // 2, bias=False),
            nn.BatchNorm2d(outside),
            nn.ReLU(inplace=True),
        )

    class Network(nn.Module):  # type: ignore[misc, name-defined]  # torch is given
        """See network_of."""

        def __init__(self) -> None:
            super().__init__()
            self.backbone = grey_backbone(torch, weights)
            self.detail = conv(_STEM, _NECK, 3, 2)
            self.across = nn.ModuleList(conv(width, _NECK, 1) for width in _WIDTHS)
            self.smooth = nn.ModuleList(conv(_NECK, _NECK) for _ in _WIDTHS[:-1])
            self.score = nn.Sequential(conv(_NECK, _NECK), nn.Conv2d(_NECK, len(CLASSES), 1))
            self.place = nn.Sequential(conv(_NECK, _NECK), nn.Conv2d(_NECK, 4, 1))
            nn.init.constant_(self.score[1].bias, _RARE)
            nn.init.constant_(self.place[1].bias, 2.0)

        def forward(self, pictures: Any) -> tuple[Any, Any]:
            first, _, *levels = self.backbone.features((pictures * 255.0 - GREY[0]) / GREY[1])
            top = self.across[-1](levels[-1])
            for n in range(len(levels) - 2, -1, -1):
                wide = nn.functional.interpolate(top, scale_factor=2.0, mode="nearest")
                own = self.across[n](levels[n]) + (self.detail(first) if n == 0 else 0.0)
                top = self.smooth[n](own + wide)
            return self.score(top), nn.functional.softplus(self.place(top))

    return Network()


def centres(torch: Any, height: int, width: int) -> Any:
    """Middles (h * w, 2) of a map's cells, x and y in cells."""
    y, x = torch.meshgrid(torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij")
    return torch.stack([x, y], -1).view(-1, 2)


def loss_of(torch: Any, logits: Any, sides: Any, targets: list[tuple[Any, Any, Any]]) -> Any:
    """Loss of a batch. targets, by picture: boxes (n, 4: x0, y0, x1, y1, px), classes (n), ignored boxes (m, 4)."""
    count, _, height, width = logits.shape
    middle = centres(torch, height, width)
    logits = logits.flatten(2).transpose(1, 2).float()
    sides = sides.flatten(2).transpose(1, 2).float()
    boxes = torch.cat([middle - sides[..., :2], middle + sides[..., 2:]], -1)
    wanted, weight = torch.zeros_like(logits), torch.ones(count, height * width)
    placed, total = logits.new_zeros(()), 0.0
    for n, (given, classes, ignored) in enumerate(targets):
        if len(ignored):
            inside = _inside(torch, middle, ignored / STRIDE)
            weight[n][inside.any(1)] = 0.0
        if not len(given):
            continue
        true = given / STRIDE
        cell, owner, quality = _assigned(torch, middle, true, classes, logits[n].detach(), boxes[n].detach())
        wanted[n][cell, classes[owner]] = quality
        weight[n][cell] = 1.0
        overlap = _generalised(torch, boxes[n][cell], true[owner])
        placed = placed + ((1.0 - overlap) * quality).sum()
        total += float(quality.sum())
    total = max(total, 1.0)
    raw = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    scored = (raw * weight[..., None]).sum()
    return (scored + _BOX_WEIGHT * placed) / total


def _inside(torch: Any, middle: Any, boxes: Any) -> Any:
    """Returns whether each middle (k, 2) lies in each box (n, 4): (k, n)."""
    low, high = middle[:, None] - boxes[None, :, :2], boxes[None, :, 2:] - middle[:, None]
    return (torch.minimum(low, high) > 0).all(-1)


def _assigned(torch: Any, middle: Any, true: Any, classes: Any, logits: Any, boxes: Any) -> tuple[Any, Any, Any]:
    """Cells that answer for an object, its number, and the score that each is to give."""
    near = (middle[:, None] - (true[None, :, :2] + true[None, :, 2:]) / 2).abs().amax(-1) < _REACH
    candidate = _inside(torch, middle, true) | near
    overlap = _overlap(torch, boxes[:, None], true[None]).clamp(min=0.0)
    fit = torch.where(candidate, logits.sigmoid()[:, classes] ** _SCORED * overlap**_PLACED + 1e-9, 0.0)
    best = fit.topk(min(_TOP, len(fit)), 0)
    chosen = torch.zeros_like(candidate).scatter_(0, best.indices, best.values > 0)
    mine = torch.where(chosen, overlap + 1e-6, 0.0)
    value, owner = mine.max(1)
    cell = torch.nonzero(value > 0)[:, 0]
    owner = owner[cell]
    kept = torch.zeros_like(fit)
    kept[cell, owner] = fit[cell, owner]
    most = torch.where(kept > 0, overlap, 0.0).amax(0)
    quality = kept[cell, owner] / kept.amax(0).clamp(min=1e-9)[owner] * most[owner]
    return cell, owner, quality


def _overlap(torch: Any, a: Any, b: Any) -> Any:
    """Intersection over union."""
    both = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp(min=0).prod(-1)
    one = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1)
    return both / (one - both).clamp(min=1e-6)


def _generalised(torch: Any, a: Any, b: Any) -> Any:
    """Generalised overlap (Rezatofighi et al., CVPR 2019), which falls also where boxes do not touch."""
    both = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0).prod(-1)
    union = ((a[:, 2:] - a[:, :2]).prod(-1) + (b[:, 2:] - b[:, :2]).prod(-1) - both).clamp(min=1e-6)
    hull = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).prod(-1).clamp(min=1e-6)
    return both / union - (hull - union) / hull
