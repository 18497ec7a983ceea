"""UnrealCV's commands as RescueBench's code and the official clients send them, over a scene.

Answers are text or a picture's bytes; what cannot be done is `error ...`, and the scene is as it was. No answer about
carrying or hits has any digit but its own: the public code looks for `1` first, then for `0`.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

import esar_ros
from esar_ros.geometry.frames import Vector
from esar_ros.geometry.unreal import CM
from esar_ros.mission.errors import UsageError
from esar_ros.mission.rescue import Animation
from esar_ros.sim.render.renderer import Frame
from esar_ros.sim.walking.first_person import FOV
from esar_ros.suites.rescuebench.protocol_server.clocks import Clock
from esar_ros.suites.rescuebench.protocol_server.names import CAMERAS, EYE_CAMERA, TOP_CAMERA, Kind, listed
from esar_ros.suites.rescuebench.protocol_server.pictures import (
    Colour,
    Pictures,
    checked_format,
    checked_fov,
    colour_picture,
    depth_picture,
    encoded,
    mask_picture,
    palette_colour,
)
from esar_ros.suites.rescuebench.protocol_server.scene import MapScene
from esar_ros.suites.rescuebench.protocol_server.words import (
    camera_of,
    channel_of,
    check_player,
    digit_of,
    number_of,
    placed_thing_of,
    thing_of,
    words_of,
)

LOG = logging.getLogger(__name__)
WIRE_VERSION = "1.1.0"  # of UnrealCV's commands: the first that tells which it knows
OK = "ok"
_QUESTIONS = ("is_picked", "is_carrying", "get_hit", "get_speed")  # of blueprints
_TOP_HEIGHT, _TOP_FOV = 1000.0, 90.0  # cm and degrees, of the top view until a client sets it

Answer = str | bytes
F = TypeVar("F", bound=Callable[..., Answer])
_WORDS = re.compile(r"\[[^\]]+\]")


@dataclass(frozen=True)
class _Command:
    template: str
    pattern: re.Pattern[str]
    function: str


_COMMANDS: list[_Command] = []


def command(*templates: str) -> Callable[[F], F]:
    """Serve a method under templates; a word in brackets is any one word."""

    def mark(function: F) -> F:
        for template in templates:
            literal = [re.escape(part) for part in _WORDS.split(template)]
            pattern = re.compile(r"(\S{1,100})".join(literal))
            _COMMANDS.append(_Command(template, pattern, function.__name__))
        return function

    return mark


@dataclass
class _Camera:
    location: Vector  # (3,) cm
    rotation: tuple[float, float, float]  # degrees: pitch, heading, roll
    fov: float  # degrees


class Commands:
    """Answers commands over a map. Belongs to one thread."""

    def __init__(self, map_name: str, width: int, height: int, clock: Clock, checkout: Path | None = None) -> None:
        """Cameras of width x height px; checkout: see scene.site_for. Raises UsageError for a map that cannot be."""
        self._size, self._clock, self._checkout = (width, height), clock, checkout
        self._pictures: Pictures | None = None
        self._open(map_name)

    @property
    def scene(self) -> MapScene:
        """The map in its present state."""
        return self._scene

    def answer(self, text: str) -> bytes:
        """Returns the reply to a command; never raises."""
        try:
            reply = self._dispatch(text)
        except (UsageError, ValueError) as error:
            reply = f"error {' '.join(str(error).split())}"
        except Exception:
            LOG.exception("'%s' failed", text[:200])
            reply = "error this command failed here; the server's output says why"
        return reply if isinstance(reply, bytes) else reply.encode()

    def close(self) -> None:
        """Give the graphics context back."""
        if self._pictures is not None:
            self._pictures.close()

    def _dispatch(self, text: str) -> Answer:
        words = " ".join(text.split())
        for known in _COMMANDS:
            if match := known.pattern.fullmatch(words):
                if words.startswith("vget ") or words.endswith(_QUESTIONS):
                    self._scene.advance(self._clock.asked())
                return getattr(self, known.function)(*match.groups())  # type: ignore[no-any-return]
        raise UsageError(f"unknown command '{words[:80]}'", "ask vget /unrealcv/commands")

    def _open(self, map_name: str) -> None:
        self._scene = MapScene(map_name, self._checkout)
        self.close()
        self._pictures = None
        self._colours: dict[int, Colour] = {}
        above = self._scene.location(Kind.PLAYER, 1) + [0.0, 0.0, _TOP_HEIGHT]
        self._top = _Camera(above, (-90.0, 0.0, 0.0), _TOP_FOV)
        self._eye_fov = math.degrees(FOV)

    # The server itself.

    @command("vget /unrealcv/commands")
    def _commands(self) -> Answer:
        return "\n".join(known.template for known in _COMMANDS)

    @command("vget /unrealcv/version")
    def _version(self) -> Answer:
        return f"{WIRE_VERSION} (esar_ros {esar_ros.__version__})"

    @command("vget /unrealcv/status")
    def _status(self) -> Answer:
        return self._scene.title

    @command("vset /action/game/level [map]")
    def _level(self, map_name: str) -> Answer:
        if map_name != self._scene.map_name:
            self._open(map_name)
        return OK

    @command("vrun [setting]", "vrun [setting] [value]", "DisableAllScreenMessages")
    def _engine(self, setting: str = "", value: str = "") -> Answer:
        if setting.lower() == "slomo":
            raise UsageError("slomo: the clock goes at its own pace", "leave it out")
        return OK  # of windows, qualities and frame rates, which this renderer has not

    # Cameras.

    @command("vget /cameras")
    def _cameras(self) -> Answer:
        return " ".join(CAMERAS)

    @command("vget /camera/[id]/location")
    def _camera_location(self, camera: str) -> Answer:
        return words_of(self._view(camera).location)

    @command("vget /camera/[id]/rotation")
    def _camera_rotation(self, camera: str) -> Answer:
        return words_of(self._view(camera).rotation)

    @command("vget /camera/[id]/pose")
    def _camera_pose(self, camera: str) -> Answer:
        view = self._view(camera)
        return words_of((*view.location, *view.rotation))

    @command("vget /camera/[id]/fov")
    def _camera_fov(self, camera: str) -> Answer:
        return words_of([self._view(camera).fov])

    @command("vset /camera/[id]/location [x] [y] [z]")
    def _set_camera_location(self, camera: str, *xyz: str) -> Answer:
        self._free(camera).location = np.array([number_of(word) for word in xyz])
        return OK

    @command("vset /camera/[id]/rotation [pitch] [yaw] [roll]")
    def _set_camera_rotation(self, camera: str, *angles: str) -> Answer:
        pitch, yaw, roll = (number_of(word) for word in angles)
        self._free(camera).rotation = pitch, yaw, roll
        return OK

    @command("vset /camera/[id]/fov [degrees]")
    def _set_camera_fov(self, camera: str, degrees: str) -> Answer:
        fov = number_of(degrees)
        checked_fov(fov)
        if camera_of(camera) == EYE_CAMERA:
            self._eye_fov = fov
        else:
            self._top.fov = fov
        return OK

    @command("vset /camera/[id]/illumination [kind]", "vset /camera/[id]/reflection [kind]")
    def _camera_quality(self, camera: str, kind: str) -> Answer:
        camera_of(camera)
        return OK  # there is one way of lighting here

    @command("vget /camera/[id]/lit [format]")
    def _lit(self, camera: str, how: str) -> Answer:
        known = checked_format(how)
        return encoded(colour_picture(self._frame(camera)), known)

    @command("vget /camera/[id]/object_mask [format]")
    def _mask(self, camera: str, how: str) -> Answer:
        known = checked_format(how)
        instances = [thing.id for thing in self._scene.world.objects.values()]
        colours = {instance: self._colours.get(instance, palette_colour(instance)) for instance in instances}
        return encoded(mask_picture(self._frame(camera), colours), known)

    @command("vget /camera/[id]/depth [format]")
    def _depth(self, camera: str, how: str) -> Answer:
        known = checked_format(how, ("npy",))
        return encoded(depth_picture(self._frame(camera)), known)

    def _view(self, camera: str) -> _Camera:
        if camera_of(camera) == TOP_CAMERA:
            return self._top
        location, heading, pitch = self._scene.eye
        return _Camera(location, (pitch, heading, 0.0), self._eye_fov)

    def _free(self, camera: str) -> _Camera:
        if camera_of(camera) != TOP_CAMERA:
            raise UsageError("the walker's camera goes where the walker goes", "turn it with set_cam")
        return self._top

    def _do(self, name: str, animation: Animation) -> Answer:
        check_player(name)
        self._scene.act(animation)
        return OK

    def _frame(self, camera: str) -> Frame:
        view = self._view(camera)
        pitch, heading, _ = view.rotation
        if self._pictures is None:
            self._pictures = Pictures(self._scene.world, *self._size)
        moment = (self._scene.revision, *view.location.tolist(), heading, pitch)
        pose = self._scene.optical(view.location, heading, pitch)
        return self._pictures.draw(moment, pose, checked_fov(view.fov), self._scene.seconds)

    # Actors.

    @command("vget /objects")
    def _objects(self) -> Answer:
        return " ".join(listed(self._scene.doors))

    @command("vget /object/[name]/location")
    def _location(self, name: str) -> Answer:
        return words_of(self._scene.location(*placed_thing_of(name)))

    @command("vget /object/[name]/rotation")
    def _rotation(self, name: str) -> Answer:
        return words_of((0.0, self._scene.heading(*placed_thing_of(name)), 0.0))

    @command("vget /object/[name]/scale")
    def _scale(self, name: str) -> Answer:
        thing_of(name)
        return words_of((1.0, 1.0, 1.0))

    @command("vget /object/[name]/color")
    def _colour(self, name: str) -> Answer:
        instance = self._scene.instance(*thing_of(name))
        red, green, blue = (0, 0, 0) if instance is None else self._colours.get(instance, palette_colour(instance))
        return f"(R={red},G={green},B={blue},A=255)"

    @command("vset /object/[name]/location [x] [y] [z]")
    def _set_location(self, name: str, *xyz: str) -> Answer:
        self._scene.move_to(thing_of(name)[0], np.array([number_of(word) for word in xyz]))
        return OK

    @command("vset /object/[name]/rotation [pitch] [yaw] [roll]")
    def _set_rotation(self, name: str, pitch: str, yaw: str, roll: str) -> Answer:
        number_of(pitch), number_of(roll)
        self._scene.turn_to(thing_of(name)[0], number_of(yaw))
        return OK

    @command("vset /object/[name]/color [r] [g] [b]")
    def _set_colour(self, name: str, *rgb: str) -> Answer:
        instance = self._scene.instance(*thing_of(name))
        red, green, blue = (channel_of(word) for word in rgb)
        if instance is not None:
            self._colours[instance] = red, green, blue
        return OK

    @command("vset /object/[name]/scale [x] [y] [z]")
    def _set_scale(self, name: str, *xyz: str) -> Answer:
        thing_of(name)
        return OK  # the public code flattens a stretcher that is as high as a bed; ours is not

    @command("vset /object/[name]/destroy")
    def _destroy(self, name: str) -> Answer:
        kind, _ = thing_of(name)
        if kind is not Kind.DRONE:
            raise UsageError(f"{name} stays", "only a drone can be taken away")
        return OK

    # Blueprints.

    @command("vbp [name] set_move [angle] [speed]")
    def _set_move(self, name: str, angle: str, speed: str) -> Answer:
        check_player(name)
        turn, pace = number_of(angle), number_of(speed)
        self._scene.advance(self._clock.moved())
        self._scene.walk(turn, pace)
        return OK

    @command("vbp [name] set_cam [x] [y] [z] [roll] [pitch] [yaw]")
    def _set_cam(self, name: str, *numbers: str) -> Answer:
        check_player(name)
        *_, pitch, yaw = (number_of(word) for word in numbers)
        if not -89.0 <= pitch <= 89.0:
            raise UsageError(f"a pitch of {pitch:g} degrees", "give -89 to 89")
        self._scene.look = -math.radians(yaw), math.radians(pitch)
        return OK

    @command("vbp [name] set_standup")
    def _stand_up(self, name: str) -> Answer:
        return self._do(name, Animation.STAND)

    @command("vbp [name] set_jump")
    def _jump(self, name: str) -> Answer:
        return self._do(name, Animation.JUMP)

    @command("vbp [name] set_crouch")
    def _crouch(self, name: str) -> Answer:
        return self._do(name, Animation.CROUCH)

    @command("vbp [name] carry_body")
    def _carry(self, name: str) -> Answer:
        return self._do(name, Animation.CARRY)

    @command("vbp [name] drop_body")
    def _drop(self, name: str) -> Answer:
        return self._do(name, Animation.DROP)

    @command("vbp [name] set_open_door [state]")
    def _open_door(self, name: str, state: str) -> Answer:
        if state != "1":
            raise UsageError(f"set_open_door {state}", "doors are opened by 1 and stay open")
        return self._do(name, Animation.OPEN_DOOR)

    @command("vbp [name] set_phy [state]", "vbp [name] set_random [state]", "vbp [name] set_interval [state]")
    def _idle(self, name: str, state: str) -> Answer:
        thing_of(name)
        return OK  # nothing here is pushed about, and nobody walks by themselves

    @command("vbp [name] set_app [id]")
    def _appearance(self, name: str, number: str) -> Answer:
        kind, _ = thing_of(name)
        if kind is not Kind.VICTIM:
            raise UsageError(f"{name} has one appearance", "give the victim's name")
        self._scene.dress(int(number_of(number)))
        return OK

    @command("vbp [name] is_picked")
    def _is_picked(self, name: str) -> Answer:
        return digit_of(thing_of(name)[0] is Kind.VICTIM and self._scene.carrying)

    @command("vbp [name] is_carrying")
    def _is_carrying(self, name: str) -> Answer:
        return digit_of(thing_of(name)[0] is Kind.PLAYER and self._scene.carrying)

    @command("vbp [name] get_hit")
    def _get_hit(self, name: str) -> Answer:
        check_player(name)
        return digit_of(self._scene.take_hit())

    @command("vbp [name] get_speed")
    def _get_speed(self, name: str) -> Answer:
        check_player(name)
        return json.dumps({"Speed": f"{abs(self._scene.stage.walker.action.clipped().speed) * CM:.1f}"})
