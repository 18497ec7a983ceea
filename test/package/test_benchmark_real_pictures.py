"""The benchmark on real photographs: its figures by hand, and folders that it refuses in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from real_pictures import Judged, figures_of, intervals_of, judged, read_pictures

from esar_ros.mission.errors import UsageError
from esar_ros.training.evaluate import Found, LabelledImage
from esar_ros.training.labels import Label

BOX = (100, 100, 20, 50)
PEOPLE = (Label("person", "person", False, BOX, 1000, 0.0, 0.0, 0.0),)


def seen(*found: tuple[float, tuple[float, float, float, float]], people: Any = PEOPLE) -> LabelledImage:
    return LabelledImage("", "", "", people, tuple(Found("person", score, box) for score, box in found))


def test_a_picture_by_hand() -> None:
    exact, beside, away = (
        (0.9, (100.0, 100.0, 20.0, 50.0)),
        (0.5, (105.0, 120.0, 8.0, 8.0)),
        (0.7, (400.0, 0.0, 9.0, 9.0)),
    )
    told = judged(seen(exact, away), seen(exact, beside, away))
    assert (told.people, told.right, told.false) == (1, 1, 1)
    assert figures_of([told]) == {"recall": 1.0, "ap50": 1.0, "ap_pointing": 1.0, "false_per_picture": 1.0}
    pointed = judged(seen(), seen(beside, away))  # below the threshold, and a false one is surer
    figures = figures_of([pointed, judged(seen(people=()), seen(people=()))])
    assert figures == {"recall": 0.0, "ap50": 0.0, "ap_pointing": 0.5, "false_per_picture": 0.0}


def test_intervals_are_of_clips_and_not_of_pictures() -> None:
    good, bad = Judged(1, 1, 0, [(0.9, True)], [(0.9, True)]), Judged(1, 0, 0, [], [])
    pictures = [good, good, good, bad, bad, bad]
    by_clip = intervals_of(["a", "a", "a", "b", "b", "b"], pictures)["recall"]
    alone = intervals_of(list("abcdef"), pictures)["recall"]
    assert by_clip == (0.0, 1.0) and 0.0 < alone[0] < 0.5 < alone[1] < 1.0


def put(folder: Path, document: Any) -> None:
    cv2.imwrite(str(folder / "a.png"), np.zeros((48, 64, 3), dtype=np.uint8))
    (folder / "boxes.json").write_text(
        document if isinstance(document, str) else json.dumps(document), encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("{", "cannot read"),
        ([], "cannot read"),
        ({"schema": "other/1", "images": [{"file": "a.png", "people": []}]}, "lists no pictures"),
        ({"schema": "real-people/1", "images": []}, "lists no pictures"),
        ({"schema": "real-people/1", "images": [{"file": "b.png", "people": []}]}, "no picture that can be read"),
        ({"schema": "real-people/1", "images": [{"file": "a.png", "people": [[1, 2, 3]]}]}, "people are no boxes"),
        ({"schema": "real-people/1", "images": [{"file": "a.png"}]}, "people are no boxes"),
    ],
)
def test_a_folder_that_cannot_be_measured_is_refused(tmp_path: Path, document: Any, words: str) -> None:
    put(tmp_path, document)
    with pytest.raises(UsageError, match=words) as caught:
        read_pictures(tmp_path)
    assert "\n" not in str(caught.value)


def test_boxes_are_read_as_corners(tmp_path: Path) -> None:
    put(tmp_path, {"schema": "real-people/1", "images": [{"file": "a.png", "people": [[10.2, 5, 30.2, 45]]}]})
    (entry,) = read_pictures(tmp_path)
    assert entry["rgb"].shape == (48, 64, 3) and entry["labels"][0].box == (10, 5, 20, 40)
