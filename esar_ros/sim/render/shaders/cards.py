"""GLSL of plants of cut-out cards (assets/cards): lit at their vertices as plain ones, cut and grained by pictures."""

from __future__ import annotations

from esar_ros.sim.render.shaders.common import TARGETS, VERSION
from esar_ros.sim.render.shaders.flora import PLANT_INPUTS, PLANT_MAIN

CARD_VERTEX = PLANT_INPUTS + "in vec3 leaf;\nout vec3 at;\n" + PLANT_MAIN + "    at = leaf;\n}\n"

# CUT is defined for plants; stones are whole, and cheaper without it.
# Images without colour look at the same texture with the same bias: what is cut out decides depth. They use the same
# of what comes from the vertices, too: see GROUND_BARE_FRAGMENT.
_CUT = """
in vec3 at;  // place in the picture, its number
uniform sampler2DArray leaves;
float brightness_or_discard() {
    vec2 t = texture(leaves, at, -1.2).rg;
#ifdef CUT
    if (t.g < 0.42) discard;
#endif
    return 0.30 + 1.40 * t.r;
}
"""

CARD_FRAGMENT = (
    VERSION
    + TARGETS
    + "in vec3 lit_colour; in vec3 speck;"
    + _CUT
    + """
void main() {
    colour = vec4(lit_colour * brightness_or_discard(), 0.0);
    depth = speck.z;
}
"""
)

CARD_BARE_FRAGMENT = (
    VERSION
    + TARGETS
    + "in vec3 lit_colour; in vec3 speck;"
    + _CUT
    + """
void main() {
#ifdef CUT
    colour = vec4((lit_colour + speck.z) * brightness_or_discard(), 0.0);
#else
    colour = vec4(lit_colour + speck.z + at, 0.0);
#endif
    depth = speck.z;
}
"""
)

# See ATLAS_VERTEX of shaders/flora.py.
CARD_ATLAS_VERTEX = (
    VERSION
    + """
in vec3 position; in vec3 albedo; in vec3 leaf;
uniform vec2 cell;  // number of plants, which one
out vec3 paint; out vec3 at;
void main() {
    paint = albedo * (1.1 + 0.5 * position.z);  // one sees less of the pale tips from the side than from above
    at = leaf;
    vec2 p = vec2(position.x * 2.0, position.z * 2.0 - 1.0);
    gl_Position = vec4((cell.y + p.x * 0.5 + 0.5) / cell.x * 2.0 - 1.0, p.y, position.y, 1.0);
}
"""
)

CARD_ATLAS_FRAGMENT = (
    VERSION
    + "in vec3 paint;\nout vec4 colour;"
    + _CUT
    + "void main() { colour = vec4(sqrt(paint) * brightness_or_discard(), 1.0); }\n"
)
