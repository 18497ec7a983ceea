"""The dark ground next to what stands or lies on it: a body hides part of the sky, also where no sun throws a shadow.

Soft-edged boxes on the ground under each thing, as large as its bounding box, multiply the ground's colour. Ids and
depth do not know of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import moderngl
import numpy as np
from numpy.typing import NDArray

from esar_ros.sim.render.graphics import program
from esar_ros.sim.render.shaders.common import FRAME, VERSION
from esar_ros.sim.terrain.maps import PlaceMap
from esar_ros.sim.weather.sky import Lighting
from esar_ros.sim.world.scene import FIXTURE_ID, SceneObject

_HIDDEN = 0.6  # share of the sky that is hidden from the ground at the foot of a thing
_EDGE = 0.35  # of a thing's height that the dark reaches beyond it
_WIDEST = 0.8  # m, the same at most
_FARTHEST = 80.0  # m from the eye: farther off it would be a pixel
_MOST = 256  # things a view
_FLOATS = 13

_VERTEX = (
    VERSION
    + FRAME
    + """
in vec2 corner;
in vec4 centre;  // w: share of the light that is taken away
in vec3 along;   // half the box's length, from its middle, and the same across it
in vec3 across;
in vec3 reach;   // half length, half width, edge
out vec2 at;
flat out vec3 box;
flat out float taken;
void main() {
    vec2 outer = reach.xy + reach.z;
    vec3 p = centre.xyz + along * (corner.x * outer.x) + across * (corner.y * outer.y);
    at = corner * outer;
    box = reach;
    taken = centre.w * exp(-length(p - eye.xyz) * haze.w);
    gl_Position = view_projection * vec4(p, 1.0);
}
"""
)

_FRAGMENT = (
    VERSION
    + """
in vec2 at;
flat in vec3 box;
flat in float taken;
layout(location = 0) out vec4 colour;
void main() {
    float off = length(max(abs(at) - 0.7 * box.xy, 0.0)) / (0.3 * min(box.x, box.y) + box.z);
    colour = vec4(vec3(sqrt(1.0 - taken * (1.0 - smoothstep(0.0, 1.0, off)))), 1.0);  // images are of the root of light
}
"""
)


class ContactShadow:
    """GPU side of the shadows of a world's things."""

    def __init__(self, context: moderngl.Context, place: PlaceMap) -> None:
        self._context, self._place = context, place
        square = context.buffer(np.array([-1, -1, 1, -1, -1, 1, 1, 1], dtype=np.float32).tobytes())
        self._rows = context.buffer(reserve=_MOST * 4 * _FLOATS, dynamic=True)
        names = ("centre", "along", "across", "reach")
        self._array = context.vertex_array(
            program(context, _VERTEX, _FRAGMENT), [(square, "2f", "corner"), (self._rows, "4f 3f 3f 3f/i", *names)]
        )

    def draw(self, things: Sequence[SceneObject], eye: NDArray[np.float64], light: Lighting) -> None:
        """Over the ground that is drawn in the view that is bound; the caller has masked all but the colour.

        things: that may show; eye: (3,) m.
        """
        near = [t for t in things if t.id != FIXTURE_ID and np.linalg.norm(t.pose.position - eye) < _FARTHEST][:_MOST]
        if not near:
            return
        self._rows.write(shadow_rows(near, self._place, sky_share(light)))
        context = self._context
        context.enable(moderngl.BLEND)
        context.blend_func = moderngl.ZERO, moderngl.SRC_COLOR
        context.polygon_offset = -2.0, -16.0  # the ground that it lies on is not quite flat
        self._array.render(moderngl.TRIANGLE_STRIP, instances=len(near))
        context.polygon_offset = 0.0, 0.0
        context.disable(moderngl.BLEND)


def sky_share(light: Lighting) -> float:
    """Returns the part of the light on level ground that comes from the sky."""
    sky = float(np.mean(light.ambient))
    direct = float(np.mean(light.sun)) * max(0.0, float(light.to_sun[2]))
    return sky / max(sky + direct, 1e-9)


def shadow_rows(things: Sequence[SceneObject], place: PlaceMap, share: float) -> NDArray[np.float32]:
    """Returns a row of each thing (N, 13): centre, light taken, axes on the ground, half length, half width, edge."""
    rows = np.zeros((len(things), _FLOATS), dtype=np.float32)
    normals = place.normal(np.array([thing.pose.position[:2] for thing in things]))
    for row, thing, normal in zip(rows, things, normals, strict=True):
        low, high = (corner.astype(np.float64) * thing.scale for corner in thing.mesh.bounds)
        forward = thing.pose.rotation[:, 0]
        along = forward - normal * (forward @ normal)
        along /= max(float(np.linalg.norm(along)), 1e-6)
        across = np.cross(normal, along)
        middle = (low + high) / 2.0
        row[:3] = thing.pose.position + along * middle[0] + across * middle[1]
        row[3] = _HIDDEN * share
        row[4:7], row[7:10] = along, across
        row[10:12] = (high - low)[:2] / 2.0
        row[12] = min(_WIDEST, _EDGE * (high[2] - low[2])) + 0.05
    return rows
