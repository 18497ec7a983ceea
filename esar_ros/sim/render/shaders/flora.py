"""GLSL of plants and rocks: near ones of triangles, far ones as billboards, their shadows and the billboards' atlas."""

from __future__ import annotations

from esar_ros.sim.render.shaders.common import AIR, FRAME, LAMP, SNOW, TARGETS, VERSION

# Plants and rocks are lit at their vertices: many small triangles, few pixels each.
PLANT_INPUTS = (
    VERSION
    + FRAME
    + AIR
    + LAMP
    + SNOW
    + """
in vec3 position; in vec3 normal; in vec3 albedo;
in vec4 foot;   // x, y, z, yaw
in vec4 look;   // horizontal scale, height, tint, sun share
out vec3 lit_colour; out vec3 speck;  // speck.z: planar depth
"""
)

PLANT_MAIN = """void main() {
    float c = cos(foot.w), s = sin(foot.w);
    mat2 turn = mat2(c, s, -s, c);
    vec3 p = position * vec3(look.xx, look.y);
    p.xy = turn * p.xy;
    vec3 world = p + foot.xyz;
    vec3 n = vec3(turn * normal.xy, normal.z);
    vec3 ray = world - eye.xyz;
    float direct = max(dot(n, to_sun.xyz) * 0.75 + 0.25, 0.0) * look.w;
    vec3 light = sun.rgb * direct + ambient.rgb * (0.75 + 0.35 * n.z) + lamps(world, n);
    vec3 base = mix(albedo * look.z * (1.0 - 0.3 * min(1.0, ground.y)), dust.rgb, 0.45 * ground.z);
    base = mix(base, SNOW, ground.x * 0.85 * smoothstep(0.05, 0.7, n.z));
    lit_colour = tone(air(base * light, ray));
    speck = vec3(vec2(p.x + 0.6 * p.y, p.z - 0.5 * p.y) * 0.4, dot(ray, forward.xyz));
    gl_Position = view_projection * vec4(world, 1.0);
"""

PLANT_VERTEX = PLANT_INPUTS + PLANT_MAIN + "}\n"

PLANT_FRAGMENT = (
    VERSION
    + TARGETS
    + """
in vec3 lit_colour; in vec3 speck;
uniform sampler2D detail;
void main() {
    colour = vec4(lit_colour * (0.62 + 0.76 * texture(detail, speck.xy).r), 0.0);
    depth = speck.z;
}
"""
)

PLANT_BARE_FRAGMENT = (
    VERSION
    + TARGETS
    + "in vec3 lit_colour; in vec3 speck;\nvoid main() { colour = vec4(lit_colour + speck, 0.0); depth = speck.z; }\n"
)

# A billboard turns about its vertical axis to the eye; one triangle about its image.
BILLBOARD_VERTEX = (
    VERSION
    + FRAME
    + LAMP
    + """
in vec2 corner; in vec4 foot; in vec4 look;  // foot.w: which plant
uniform float plants;
out vec3 world; out vec3 uv; out vec3 light;
void main() {
    vec2 away = normalize(foot.xy - eye.xy);
    vec3 side = vec3(away.y, -away.x, 0.0);
    world = foot.xyz + side * (corner.x * 0.5 * look.x) + vec3(0.0, 0.0, corner.y * look.y);
    uv = vec3((foot.w + corner.x * 0.5 + 0.5) / plants, corner.y, corner.x);
    vec3 n = normalize(side * corner.x - vec3(away, 0.0) + vec3(0.0, 0.0, 0.5));
    float direct = max(dot(n, to_sun.xyz) * 0.75 + 0.25, 0.0) * look.w;
    light = (sun.rgb * direct + ambient.rgb * (0.65 + 0.35 * corner.y) + lamps(world, n)) * look.z;
    gl_Position = view_projection * vec4(world, 1.0);
}
"""
)

_CUT_OUT = """
in vec3 world; in vec3 uv; in vec3 light;  // uv.z: across the plant's own cell, -1 to 1
uniform sampler2D atlas;
vec4 texel_or_discard() {
    vec4 texel = texture(atlas, uv.xy);
    if (texel.a < 0.4 || abs(uv.z) > 1.0 || uv.y > 1.0 || uv.y < 0.0) discard;
    return texel;
}
"""

BILLBOARD_BARE_FRAGMENT = (
    VERSION
    + FRAME
    + TARGETS
    + _CUT_OUT
    + """
void main() {
    colour = vec4(texel_or_discard().rgb + world + light, 0.0);
    depth = dot(world - eye.xyz, forward.xyz);
}
"""
)

BILLBOARD_FRAGMENT = (
    VERSION
    + FRAME
    + AIR
    + SNOW
    + TARGETS
    + _CUT_OUT
    + """
void main() {
    vec4 texel = texel_or_discard();
    vec3 ray = world - eye.xyz;
    vec3 base = texel.rgb * texel.rgb;
    base = mix(base * (1.0 - 0.3 * min(1.0, ground.y)), dust.rgb, 0.45 * ground.z);
    base = mix(base, SNOW, ground.x * clamp(texel.g * 2.2 - 0.15, 0.0, 0.6));
    colour = vec4(tone(air(base * light, ray)), 0.0);
    depth = dot(ray, forward.xyz);
}
"""
)

PLANT_SHADOW_VERTEX = (
    VERSION
    + """
uniform mat4 to_light;
in vec3 position; in vec4 foot; in vec4 look;
void main() {
    float c = cos(foot.w), s = sin(foot.w);
    vec3 p = position * vec3(look.xx, look.y);
    p.xy = mat2(c, s, -s, c) * p.xy;
    gl_Position = to_light * vec4(p + foot.xyz, 1.0);
}
"""
)

# Plants painted once from the side into the billboard atlas.
ATLAS_VERTEX = (
    VERSION
    + """
in vec3 position; in vec3 albedo;
uniform vec2 cell;  // number of plants, which one
out vec3 paint;
void main() {
    paint = albedo * (0.75 + 0.35 * position.z);
    vec2 at = vec2(position.x * 2.0, position.z * 2.0 - 1.0);
    gl_Position = vec4((cell.y + at.x * 0.5 + 0.5) / cell.x * 2.0 - 1.0, at.y, position.y, 1.0);
}
"""
)

ATLAS_FRAGMENT = (
    VERSION
    + """
in vec3 paint;
out vec4 colour;
void main() { colour = vec4(sqrt(paint), 1.0); }
"""
)
