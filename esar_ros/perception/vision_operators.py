"""torchvision's box suppression in plain torch, for a torchvision whose compiled part is of another torch.

Such a pair is what package indexes give who asks for torch without CUDA and torchvision with it. Its Python part then
stops at the first operator that it registers, and with it every package that imports it: ultralytics, open_clip and
transformers. They need of its operators the suppression of overlapping boxes (`nms`) at most.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

_MISSING = (  # that torchvision registers more about when it is imported
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
_KEPT: list[Any] = []  # a library's operators vanish with it


def lend_operators() -> None:
    """Lets torchvision be imported, with the operators that are needed, where its compiled part was not loaded.

    To be called before anything imports torchvision. Does nothing where torch or torchvision is absent, or they match.

    Raises:
        RuntimeError: where torchvision cannot be imported for another reason.
    """
    if _KEPT or ("torchvision" not in sys.modules and find_spec("torchvision") is None):
        return
    try:
        import torch

        if _has_operators():
            return
    except (ImportError, AttributeError):  # no torch, or one that is no whole torch: who needs it says so
        return
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in _MISSING:
        library.define(schema)
    library.impl("nms", nms, "CompositeExplicitAutograd")
    _KEPT.append(library)
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]  # what the failed import has left
    import torchvision.ops

    torchvision.ops.nms = torchvision.ops.boxes.nms = nms  # its own asks whether its compiled part was loaded


def _has_operators() -> bool:
    try:
        import torchvision.extension

        return bool(torchvision.extension._has_ops())
    except RuntimeError:  # "operator torchvision::nms does not exist"
        return False


def nms(boxes: Any, scores: Any, limit: float) -> Any:
    """Returns the places of the boxes that no better one overlaps by more than a share, best first.

    boxes: (N, 4) left, top, right, bottom; scores: (N,); limit: of intersection over union. Places: (K,) int64. The
    first of equal scores is the better one.
    """
    import torch

    order = scores.argsort(descending=True, stable=True)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    kept = []
    while len(order):
        best, order = order[0], order[1:]
        kept.append(best)
        corner = torch.maximum(boxes[best, :2], boxes[order, :2])
        sides = (torch.minimum(boxes[best, 2:], boxes[order, 2:]) - corner).clamp(min=0)
        common = sides[:, 0] * sides[:, 1]
        order = order[~(common / (area[best] + area[order] - common) > limit)]
    return torch.stack(kept) if kept else order
