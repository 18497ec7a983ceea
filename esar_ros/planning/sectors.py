"""The surroundings in words, camera by camera: captions, detected objects with bearing and distance, the brief."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from esar_ros.geometry.camera_frame import CameraFrame
from esar_ros.mission.observation import Brief, Observation, SeenClue
from esar_ros.planning.depth_view import bearing_deg
from esar_ros.planning.exchange import Form, LabelledImage, Question, Reply, clean, clean_lines, labelled_image

ORDER = ("front", "left", "right", "down")
LABELS = {"down": "down camera, the top of its picture ahead"}  # of pictures, where the name alone does not do
CAPTION_SYSTEM = (
    "You see one camera of a search-and-rescue drone. Describe for its planner what matters: terrain, cover, water, "
    "paths, people, traces of people, obstacles near the drone."
)


class Caption(Form):
    """What a camera shows."""

    caption: str = Field(min_length=1, description="one or two sentences")


def mission_words(brief: Brief) -> str:
    """The brief as a model gets it, its lines kept: a form is read by them."""
    return (
        f'Mission brief of the rescue team: "{clean_lines(brief.prompt, 4000)}"\n'
        f"Weather: {brief.weather}. Local time: {brief.local_time}. Time limit: {brief.t_max:.0f} s."
    )


def seen_in(view: CameraFrame, clues: Sequence[SeenClue]) -> list[SeenClue]:
    """The fused objects whose places a camera's image covers, what hides them not asked."""
    if not clues:
        return []
    local = (np.array([clue.position for clue in clues]) - view.pose.position) @ view.pose.rotation
    _, inside = view.model.project(local)
    return [clue for clue, shown in zip(clues, inside, strict=True) if shown]


def object_words(observation: Observation, clues: Sequence[SeenClue]) -> str:
    """Objects with score, bearing and distance, nearest first."""
    where = observation.pose.position

    def distance(clue: SeenClue) -> float:
        return float(np.linalg.norm(clue.position - where))

    nearest = sorted(clues, key=lambda clue: (distance(clue), clue.id))[:12]
    return "; ".join(
        f"{clean(clue.text or clue.kind.replace('_', ' '), 60)} (score {clue.probability:.2f}) "
        f"{distance(clue):.0f} m, {_side(bearing_deg(observation, clue.position))}"
        for clue in nearest
    )


def images_of(
    observation: Observation, cameras: Sequence[str], how: tuple[int, int] | None
) -> tuple[LabelledImage, ...]:
    """The cameras' images for a question, none for a model that reads text only; how: width (px), JPEG quality."""
    if how is None:
        return ()
    return tuple(
        labelled_image(LABELS.get(name, f"{name} camera"), observation.views[name].rgb, *how)
        for name in cameras
        if name in observation.views
    )


def caption_questions(observation: Observation, how: tuple[int, int] | None) -> list[Question]:
    """One question a camera; none for a model that reads text only."""
    if how is None:
        return []
    return [
        Question("caption", CAPTION_SYSTEM, f"This is the {name} camera. Describe it.", Caption, images)
        for name in ORDER
        if (images := images_of(observation, (name,), how))
    ]


def sector_words(observation: Observation, replies: Sequence[Reply]) -> dict[str, str]:
    """Words for each camera: the model's caption where there is one, and what the detector found there."""
    captions = [clean(reply.value.caption, 400) if isinstance(reply.value, Caption) else "" for reply in replies]
    captions += [""] * (len(ORDER) - len(captions))
    out = {}
    for name, caption in zip(ORDER, captions, strict=True):
        view = observation.views.get(name)
        seen = object_words(observation, seen_in(view, observation.clues)) if view is not None else ""
        out[name] = f"{caption or 'no caption'} Detected: {seen or 'nothing'}."
    return out


def _side(bearing: float) -> str:
    if abs(bearing) < 5.0:
        return "ahead"
    return f"{abs(bearing):.0f} deg to the {'left' if bearing > 0 else 'right'}"
