"""GLSL of the renderer. One uniform block a camera; two targets: colour with the id in alpha, and planar depth.

Nothing blends and nothing is anti-aliased across objects, so ids and depth are exact.
"""

from __future__ import annotations

VERSION = "#version 330 core\n"

FRAME = """
layout(std140) uniform Frame {
    mat4 view_projection;  // map frame to clip space, image row 0 at y = -1
    mat4 shadow_matrix;    // map frame to the shadow map's clip space
    vec4 eye;              // camera position; w: half extent of the map, m
    vec4 forward;          // optical axis; w: m over which the shadow map fades into baked shade
    vec4 right;            // half the image's width at unit depth; w: time, s
    vec4 down;             // half the image's height at unit depth; w: unused
    vec4 to_sun;           // w: share of clouds
    vec4 sun;              // direct light
    vec4 ambient;          // sky light
    vec4 haze;             // w: extinction, 1/m
    vec4 zenith;           // w: radiance that 1 stands for in the lit ground texture
};
"""

AIR = """
vec3 tone(vec3 c) { return sqrt(clamp(c / (c * 0.35 + 0.75), 0.0, 1.0)); }
vec3 air(vec3 c, vec3 ray) {
    float range = length(ray);
    float glow = max(dot(ray, to_sun.xyz) / range, 0.0);
    glow *= glow; glow *= glow; glow *= glow;
    return mix(haze.rgb + sun.rgb * glow * 0.14, c, exp(-range * haze.w));
}
"""

SHADOW = """
uniform sampler2DShadow shadow_map;
float shadow_at(vec3 p) { vec4 q = shadow_matrix * vec4(p, 1.0); return texture(shadow_map, q.xyz * 0.5 + 0.5); }
float baked_weight(vec3 ray) { return smoothstep(0.8, 1.0, length(ray) / forward.w); }
"""

TARGETS = "layout(location = 0) out vec4 colour;\nlayout(location = 1) out float depth;\n"

TERRAIN_VERTEX = (
    VERSION
    + FRAME
    + """
in vec3 position;
out vec3 world;
void main() { world = position; gl_Position = view_projection * vec4(position, 1.0); }
"""
)

_TERRAIN_HEAD = VERSION + FRAME + AIR + TARGETS + "in vec3 world;\nuniform sampler2D lit;\nuniform sampler2D surface;\n"

TERRAIN_FAR_FRAGMENT = (
    _TERRAIN_HEAD
    + """
void main() {
    vec2 uv = world.xy / (2.0 * eye.w) + 0.5;
    vec4 base = texture(lit, uv);
    float shade = texture(surface, uv).a;
    vec3 c = base.rgb * base.rgb * zenith.w * (1.0 - base.a * (1.0 - shade));
    vec3 ray = world - eye.xyz;
    colour = vec4(tone(air(c, ray)), 0.0);
    depth = dot(ray, forward.xyz);
}
"""
)

TERRAIN_NEAR_FRAGMENT = (
    _TERRAIN_HEAD
    + SHADOW
    + """
uniform sampler2D detail;
uniform float detail_range;
void main() {
    vec2 uv = world.xy / (2.0 * eye.w) + 0.5;
    vec4 base = texture(lit, uv);
    vec4 kind = texture(surface, uv);
    vec3 ray = world - eye.xyz;
    vec3 c = base.rgb * base.rgb * zenith.w;
    float far = clamp(length(ray) / detail_range, 0.0, 1.0);
    vec4 weight = vec4(kind.rgb, max(0.0, 1.0 - kind.r - kind.g - kind.b)).rgab;
    float fine = dot(texture(detail, mat2(0.151, 0.082, -0.082, 0.151) * world.xy), weight);
    c *= mix(0.2 + 1.6 * fine, 1.0, far * far);
    float near_shade = mix(shadow_at(world + vec3(0.0, 0.0, 0.12)), kind.a, baked_weight(ray));
    c *= 1.0 - base.a * (1.0 - mix(0.08, 1.0, near_shade));
    colour = vec4(tone(air(c, ray)), 0.0);
    depth = dot(ray, forward.xyz);
}
"""
)

# Plants and rocks are lit at their vertices: many small triangles, few pixels each.
PLANT_VERTEX = (
    VERSION
    + FRAME
    + AIR
    + """
in vec3 position; in vec3 normal; in vec3 albedo;
in vec4 foot;   // x, y, z, yaw
in vec4 look;   // horizontal scale, height, tint, sun share
out vec3 lit_colour; out vec3 speck;  // speck.z: planar depth
void main() {
    float c = cos(foot.w), s = sin(foot.w);
    mat2 turn = mat2(c, s, -s, c);
    vec3 p = position * vec3(look.xx, look.y);
    p.xy = turn * p.xy;
    vec3 world = p + foot.xyz;
    vec3 n = vec3(turn * normal.xy, normal.z);
    vec3 ray = world - eye.xyz;
    float direct = max(dot(n, to_sun.xyz) * 0.75 + 0.25, 0.0) * look.w;
    vec3 light = sun.rgb * direct + ambient.rgb * (0.75 + 0.35 * n.z);
    lit_colour = tone(air(albedo * look.z * light, ray));
    speck = vec3(vec2(p.x + 0.6 * p.y, p.z - 0.5 * p.y) * 0.4, dot(ray, forward.xyz));
    gl_Position = view_projection * vec4(world, 1.0);
}
"""
)

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

# A billboard turns about its vertical axis to the eye; one triangle about its picture.
BILLBOARD_VERTEX = (
    VERSION
    + FRAME
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
    light = (sun.rgb * direct + ambient.rgb * (0.65 + 0.35 * corner.y)) * look.z;
    gl_Position = view_projection * vec4(world, 1.0);
}
"""
)

BILLBOARD_FRAGMENT = (
    VERSION
    + FRAME
    + AIR
    + TARGETS
    + """
in vec3 world; in vec3 uv; in vec3 light;  // uv.z: across the plant's own cell, -1 to 1
uniform sampler2D atlas;
void main() {
    vec4 texel = texture(atlas, uv.xy);
    if (texel.a < 0.4 || abs(uv.z) > 1.0 || uv.y > 1.0 || uv.y < 0.0) discard;
    vec3 ray = world - eye.xyz;
    colour = vec4(tone(air(texel.rgb * texel.rgb * light, ray)), 0.0);
    depth = dot(ray, forward.xyz);
}
"""
)

OBJECT_VERTEX = (
    VERSION
    + FRAME
    + """
in vec3 position; in vec3 normal; in vec3 albedo; in float emission;
uniform mat4 model; uniform mat3 turn;
out vec3 world; out vec3 facing; out vec3 paint; out float glow;
void main() {
    world = (model * vec4(position, 1.0)).xyz;
    facing = turn * normal; paint = albedo; glow = emission;
    gl_Position = view_projection * vec4(world, 1.0);
}
"""
)

OBJECT_FRAGMENT = (
    VERSION
    + FRAME
    + AIR
    + SHADOW
    + TARGETS
    + """
in vec3 world; in vec3 facing; in vec3 paint; in float glow;
uniform float id; uniform float sun_share; uniform float tree_shade;
void main() {
    vec3 n = normalize(facing);
    vec3 ray = world - eye.xyz;
    float seen = mix(shadow_at(world + n * 0.06 + to_sun.xyz * 0.10), tree_shade, baked_weight(ray)) * sun_share;
    vec3 light = sun.rgb * max(dot(n, to_sun.xyz), 0.0) * seen + ambient.rgb * (0.75 + 0.35 * n.z);
    colour = vec4(tone(air(mix(paint * light, paint, glow), ray)), id);
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

OBJECT_SHADOW_VERTEX = (
    VERSION
    + """
uniform mat4 to_light; uniform mat4 model;
in vec3 position;
void main() { gl_Position = to_light * (model * vec4(position, 1.0)); }
"""
)

EMPTY_FRAGMENT = VERSION + "void main() {}\n"

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

SKY_VERTEX = (
    VERSION
    + FRAME
    + """
in vec2 corner;
out vec3 ray;
void main() {
    ray = forward.xyz + right.xyz * corner.x + down.xyz * corner.y;
    gl_Position = vec4(corner, 1.0, 1.0);
}
"""
)

SKY_FRAGMENT = (
    VERSION
    + FRAME
    + AIR
    + TARGETS
    + """
in vec3 ray;
uniform sampler2D clouds;
void main() {
    vec3 d = normalize(ray);
    float up = max(d.z, 0.0);
    vec3 c = mix(haze.rgb, zenith.rgb, 1.0 - exp(-up * 3.2));
    float near_sun = max(dot(d, to_sun.xyz), 0.0);
    c += sun.rgb * (pow(near_sun, 8.0) * 0.10 + pow(near_sun, 900.0) * 4.0 * (1.0 - to_sun.w));
    if (d.z > 0.015) {
        vec2 at = d.xy / (d.z + 0.10) * 0.14 + right.w * 0.0004;
        float n = texture(clouds, at).r * 0.62 + texture(clouds, at * 3.1 + 0.4).r * 0.38;
        float low = mix(0.72, 0.12, to_sun.w);
        float thick = smoothstep(low, low + 0.24, n) * min(1.0, d.z * 7.0);
        c = mix(c, ambient.rgb * 1.25 + sun.rgb * 0.42 * (1.3 - n), thick * 0.85);
    }
    // Ranges beyond the map: two rows of blue hills along the horizon.
    float turn = atan(d.y, d.x) * 0.15915494;
    float slope = d.z / max(length(d.xy), 1e-3);
    float near_hills = 0.005 + 0.085 * texture(clouds, vec2(turn * 2.0, 0.13)).r;
    near_hills -= 0.012 * texture(clouds, vec2(turn * 9.0, 0.7)).r;
    float far_hills = 0.03 + 0.075 * texture(clouds, vec2(turn * 3.0, 0.57)).r;
    float edge = 0.004;
    vec3 ridge = mix(ambient.rgb * vec3(0.20, 0.24, 0.24), haze.rgb, 0.45);
    c = mix(c, mix(ridge, haze.rgb, 0.55), smoothstep(edge, -edge, slope - far_hills));
    c = mix(c, mix(ridge, haze.rgb, clamp(-slope * 4.0, 0.0, 0.8)), smoothstep(edge, -edge, slope - near_hills));
    float thick_air = exp(-haze.w * 4000.0);
    c = mix(haze.rgb + sun.rgb * pow(near_sun, 8.0) * 0.14, c, thick_air);
    colour = vec4(tone(c), 0.0);
    depth = uintBitsToFloat(0x7f800000u);
}
"""
)
