"""GLSL of sky, stars, glows, smoke and what is seen of it."""

from __future__ import annotations

from esar_ros.sim.render.shaders.common import AIR, FRAME, TARGETS, VERSION

# The upper half of the sky on an octahedron laid flat: direction to texture coordinates, and back.
_DOME = """
vec2 on_dome(vec3 d) {
    vec2 p = d.xy / (abs(d.x) + abs(d.y) + d.z);
    return vec2(p.x + p.y, p.x - p.y) * 0.5 + 0.5;
}
vec3 from_dome(vec2 uv) {
    vec2 q = uv * 2.0 - 1.0;
    vec2 p = vec2(q.x + q.y, q.x - q.y) * 0.5;
    return normalize(vec3(p, 1.0 - abs(p.x) - abs(p.y)));
}
"""

DOME_VERTEX = (
    VERSION + "in vec2 corner;\nout vec2 at;\nvoid main() { at = corner; gl_Position = vec4(corner, 0.0, 1.0); }\n"
)

DOME_FRAGMENT = (
    VERSION
    + FRAME
    + AIR
    + _DOME
    + """
layout(location = 0) out vec4 colour;
in vec2 at;
uniform sampler2D clouds;
void main() {
    vec3 d = from_dome(at * 0.5 + 0.5);
    float up = max(d.z, 0.0);
    vec3 c = mix(haze.rgb, zenith.rgb, 1.0 - exp(-up * 3.2));
    vec2 west = vec2(cos(dust.w), sin(dust.w));
    float over = 0.5 + 0.5 * dot(normalize(d.xy + 1e-5), west);
    c += afterglow.rgb * over * over * over * exp(-up * 5.0);
    float near_sun = max(dot(d, to_sun.xyz), 0.0);
    c += sun.rgb * (pow(near_sun, 8.0) * 0.10 + pow(near_sun, 120.0) * 0.35 * (1.0 - to_sun.w));
    vec2 p = d.xy / (up + 0.10) * 0.14 + right.w * 0.0004;
    float n = texture(clouds, p).r * 0.58 + texture(clouds, p * 3.1 + 0.4).r * 0.30 + texture(clouds, p * 9.7).r * 0.12;
    float low = mix(0.72, 0.12, to_sun.w);
    float thick = smoothstep(low, low + 0.24, n) * min(1.0, up * 7.0);
    float belly = texture(clouds, p * 1.7 + 0.2).r;
    vec3 cloud = (ambient.rgb * 1.25 + sun.rgb * 0.42) * (1.45 - 0.8 * n) * mix(1.0, 0.55 + 0.7 * belly, to_sun.w);
    c = mix(c, cloud + afterglow.rgb * 0.5 * over, thick * 0.88);
    float thick_air = exp(-haze.w * 2500.0 / (0.15 + up));
    c = mix(haze.rgb + sun.rgb * pow(near_sun, 8.0) * 0.14, c, thick_air);
    colour = vec4(tone(c), thick * (1.0 - 0.9 * (1.0 - thick_air)) + (1.0 - thick_air));
}
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
    + _DOME
    + TARGETS
    + """
in vec3 ray;
uniform sampler2D dome;
void main() {
    colour = vec4(texture(dome, on_dome(vec3(ray.xy, max(ray.z, 0.0)))).rgb, 0.0);
    depth = uintBitsToFloat(0x7f800000u);
}
"""
)

# Sun and moon as discs of their true size, with the moon's phase; stars as points. All lie at the far end.
DISC_VERTEX = (
    VERSION
    + FRAME
    + """
in vec2 corner;
uniform vec4 body;  // direction; w: radius, rad
out vec2 at; out vec3 toward; out vec3 side;
void main() {
    side = normalize(cross(body.xyz, vec3(0.0, 0.0, 1.0)));
    vec3 up = cross(side, body.xyz);
    at = corner;
    vec3 d = body.xyz + (side * corner.x + up * corner.y) * body.w;
    vec3 light = vec3(cos(dust.w) * sqrt(1.0 - afterglow.w * afterglow.w),
                      sin(dust.w) * sqrt(1.0 - afterglow.w * afterglow.w), afterglow.w);
    toward = vec3(dot(light, side), dot(light, up), -dot(light, body.xyz));
    vec4 p = view_projection * vec4(eye.xyz + d * 1000.0, 1.0);
    gl_Position = p.xyww;
}
"""
)

DISC_FRAGMENT = (
    VERSION
    + FRAME
    + AIR
    + _DOME
    + """
layout(location = 0) out vec4 colour;
in vec2 at; in vec3 toward; in vec3 side;
uniform vec4 body; uniform float is_moon; uniform sampler2D dome;
void main() {
    float r = dot(at, at);
    if (r > 1.0) discard;
    vec3 n = vec3(at, sqrt(1.0 - r));
    float full = smoothstep(-0.05, 0.15, dot(n, toward));
    vec3 shine = mix(sun.rgb * 20.0, vec3(0.50, 0.52, 0.50) * down.w * 0.03 * full, is_moon);
    float veil = texture(dome, on_dome(vec3(body.xy, max(body.z, 0.0)))).a;
    colour = vec4(tone(shine * (1.0 - veil)), 0.0);
}
"""
)

STAR_VERTEX = (
    VERSION
    + FRAME
    + _DOME
    + """
in vec4 star;  // direction; w: brightness
uniform sampler2D dome;
out float shine;
void main() {
    float veil = textureLod(dome, on_dome(vec3(star.xy, max(star.z, 0.0))), 0.0).a;
    shine = star.w * zenith.w * max(0.0, 1.0 - 1.5 * veil) * smoothstep(0.02, 0.2, star.z);
    gl_Position = (view_projection * vec4(eye.xyz + star.xyz * 1000.0, 1.0)).xyww;
    gl_PointSize = 1.0;
}
"""
)

STAR_FRAGMENT = (
    VERSION
    + "layout(location = 0) out vec4 colour;\nin float shine;\n"
    + "void main() { colour = vec4(vec3(shine), 0.0); }\n"
)

# A soft round spot that faces the eye: glow about a flame (added) or a puff of smoke (laid over).
PUFF_VERTEX = (
    VERSION
    + FRAME
    + """
in vec2 corner; in vec4 centre; in vec4 tint;  // centre.w: radius, m; tint: colour, opacity
out vec2 at; out vec4 shade; out vec3 ray;
void main() {
    at = corner; shade = tint;
    vec3 x = normalize(right.xyz), y = normalize(down.xyz);
    vec3 world = centre.xyz + (x * corner.x + y * corner.y) * centre.w;
    ray = world - eye.xyz;
    gl_Position = view_projection * vec4(world, 1.0);
}
"""
)

SMOKE_FRAGMENT = (
    VERSION
    + FRAME
    + AIR
    + """
layout(location = 0) out vec4 colour;
in vec2 at; in vec4 shade; in vec3 ray;
void main() {
    float soft = max(0.0, 1.0 - dot(at, at));
    colour = vec4(tone(air(shade.rgb, ray)), 0.0);
    colour.a = shade.a * soft * soft;
    colour.rgb *= colour.a;
}
"""
)

GLOW_FRAGMENT = (
    VERSION
    + """
layout(location = 0) out vec4 colour;
in vec2 at; in vec4 shade; in vec3 ray;
void main() {
    float r = dot(at, at);
    float soft = max(0.0, 1.0 - r);
    colour = vec4(shade.rgb * shade.a * (0.35 * soft * soft + 0.65 * exp(-r * 30.0)), 0.0);
}
"""
)
