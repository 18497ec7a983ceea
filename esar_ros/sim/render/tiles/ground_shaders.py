"""GLSL of ground with tiles (tiles/ground_tiles.py): bumps and shadows finer than its texels, at a fetch a pixel."""

from __future__ import annotations

from esar_ros.sim.render.shaders.common import AIR, FRAME, LAMP, SHADOW, TARGETS, TILED_HEAD, VERSION, WATER
from esar_ros.sim.render.tiles.fields import SPAN
from esar_ros.sim.render.tiles.light import SUN_RANGE
from esar_ros.sim.render.tiles.store import COLOUR_RANGE

GRAIN_RANGE = 12.0  # m, within which the same tile shows once more, finer: compiled in for cameras as low as that
WALL = 0.62  # of a normal's z, below which ground is looked at from the side
_FROZEN_WALL = 0.45  # the same of snow and ice, whose slopes lie smooth under what slides down them

# albedo: square roots, alpha the ground's normal's z. kind: the tile's number, looked up beside the place, near the eye
# by a hash of its square of 11 cm, so that borders break up into tufts and stones. Walls are looked at from the side,
# by facet; snow and ice stay what they are there. Tiles are drawn out and pressed in waves of 50 to 90 m: of two places
# a tile apart, each is bent another way, so that no repetition shows.
_SKIN = f"""
uniform sampler2DArray tiles; uniform sampler2D kind;
uniform float walls, frozen;  // number of the tile of walls; how many tiles, the first ones, are snow and ice
vec2 hash(vec2 p) {{
    vec3 q = fract(p.xyx * vec3(0.1031, 0.1030, 0.0973));
    q += dot(q, q.yzx + 33.33);
    return fract((q.xx + q.yz) * q.zy);
}}
vec3 tile_at(vec2 uv, float up, vec2 beside) {{
    float layer = floor(texture(kind, uv + beside * (1.6 / float(textureSize(kind, 0).x))).r * 255.0 + 0.5);
    vec4 wave = fract(world.yxxy * vec4(0.0131, 0.0117, 0.0193, 0.0167)) - 0.5;
    wave *= 0.5 - abs(wave);
    vec2 drawn = 0.95 * wave.xy + 0.5 * wave.zw;
    vec3 at = vec3(mat2(0.8, -0.6, 0.6, 0.8) * world.xy / {SPAN:.1f} + drawn, layer);
#ifdef WALLS
    if (up + 0.10 * beside.x < (layer < frozen ? {_FROZEN_WALL} : {WALL})) {{
        vec3 n = cross(dFdx(world), dFdy(world));
        at.xy = vec2(abs(n.x) > abs(n.y) ? world.y : world.x, world.z) / {SPAN:.1f} + drawn * vec2(1.0, 0.3);
        at.z = layer < frozen ? layer : walls;
    }}
#endif
    return at;
}}
"""

# Roots of colour and of the sun's light relative to the map's, of which the tiles hold a share.
_RANGE = f"""
const float GRAIN_RANGE = {GRAIN_RANGE};
const vec4 RANGE = vec4(vec3({COLOUR_RANGE**0.5:.6f}), {SUN_RANGE**0.5:.6f});
"""

# Water that stands in the hollows of ground that is nearly level: it lies flat whatever is below it, mirrors the sky by
# Schlick's Fresnel term, hides less of the wet ground where it is shallow, and drops draw rings on it. dip: how much
# lower than what is around it the tile is here, in units of the hold of the ground's light; ambient.w: how
# densely rain falls. Compiled in only for frames with water enough: a branch that no pixel takes costs as much.
_PUDDLES = """
#ifdef PUDDLES
vec2 rings(vec2 p) {
    vec2 cell = floor(p);
    vec2 lot = hash(cell);
    float beat = right.w * 1.7 + lot.x;
    vec2 from = p - cell - 0.35 - 0.3 * fract(lot.yx * 7.3 + 0.618 * floor(beat));
    float age = fract(beat), off = length(from), wave = (off - 0.34 * age) * 12.0;
    float crest = max(0.0, 1.0 - wave * wave);
    return from / max(off, 0.01) * (wave * crest * crest * 3.0 * (1.0 - age));
}
vec3 puddles(vec3 c, vec3 ray, float hold, float up, float dip) {
    float water = clamp(2.0 * ground.y - 1.0, 0.0, 1.0);
    float deep = hold - 1.0 + 0.13 * water + dip;
    float level = smoothstep(0.986, 0.996, up) * min(1.0, 8.0 * water) * (1.0 - ground.x);
    c *= 1.0 - 0.3 * level * smoothstep(-0.05, 0.0, deep);  // mud round it
    float pool = level * smoothstep(0.0, 0.025, deep);
    if (pool <= 0.0) return c;
    vec3 n = vec3(0.0, 0.0, 1.0);
    vec3 v = normalize(ray);
#ifdef GRAIN
    n.xy = rings(world.xy * 1.7) * (0.4 * ambient.w);
    n = normalize(n);
#endif
    vec3 r = reflect(v, n);
    float graze = 1.0 - clamp(-dot(v, n), 0.0, 1.0);
    float mirror = graze * graze;
    mirror = 0.02 + 0.98 * mirror * mirror * graze;
    vec3 sky = mix(haze.rgb, zenith.rgb, clamp(abs(r.z) * 2.2, 0.0, 1.0));
    float glint = max(dot(r, to_sun.xyz), 0.0);
    glint *= glint; glint *= glint; glint *= glint; glint *= glint; glint *= glint; glint *= glint; glint *= glint;
    sky += sun.rgb * (4.0 * glint * glint);
    vec3 bed = c * mix(0.75, 0.40, smoothstep(0.0, 0.06, deep));
    return mix(c, mix(bed, sky, mirror), pool);
}
#else
vec3 puddles(vec3 c, vec3 ray, float hold, float up, float dip) { return c; }
#endif
"""

TILED_FAR_FRAGMENT = (
    TILED_HEAD
    + WATER
    + _RANGE
    + _SKIN
    + _PUDDLES
    + """
void main() {
    vec2 uv = world.xy / (2.0 * eye.w) + 0.5;
    vec4 base = texture(albedo, uv);
    vec4 lie = texture(light, uv);
    vec3 ray = world - eye.xyz;
    vec4 skin = texture(tiles, tile_at(uv, base.a, vec2(0.0)), -0.7) * RANGE;
    vec3 c = puddles(lit(base.rgb * skin.rgb, lie, lie.b * skin.a * skin.a, 0.0), ray, lie.a, base.a, 0.0);
    colour = vec4(tone(air(water(c, ray), ray)), 0.0);
    depth = dot(ray, forward.xyz);
}
"""
)

TILED_NEAR_FRAGMENT = (
    TILED_HEAD
    + WATER
    + SHADOW
    + _RANGE
    + _SKIN
    + _PUDDLES
    + """
uniform float detail_range;
void main() {
    vec2 uv = world.xy / (2.0 * eye.w) + 0.5;
    vec4 base = texture(albedo, uv);
    vec4 lie = texture(light, uv);
    vec3 ray = world - eye.xyz;
    float range = length(ray);
    vec3 at = tile_at(uv, base.a, hash(floor(world.xy * 9.0)) - 0.5);
    vec4 skin = texture(tiles, at, -0.7) * RANGE;
#ifdef GRAIN
    vec4 fine = texture(tiles, vec3(at.xy * 5.3 + 0.37, at.z), -0.3) * RANGE;
    skin *= 1.0 + 0.45 * clamp(1.25 * (1.0 - range / GRAIN_RANGE), 0.0, 1.0) * (fine - 1.0);
#endif
    float grain = (skin.g - 1.0) * clamp(2.0 - 2.0 * range / detail_range, 0.0, 1.0);
    float near_shade = mix(shadow_at(world + vec3(0.0, 0.0, 0.12)), lie.b, baked_weight(ray));
    vec3 c = lit(base.rgb * skin.rgb, lie, mix(0.08, 1.0, near_shade) * skin.a * skin.a, 0.5 * grain);
    c = puddles(c, ray, lie.a, base.a, 0.10 * (1.0 - skin.g));
    colour = vec4(tone(air(water(c, ray), ray)), 0.0);
    depth = dot(ray, forward.xyz);
}
"""
)

# Far ground, lit at its vertices; the tile over it at two sizes, so that neither near nor far looks empty.
TILED_APRON_FRAGMENT = (
    VERSION
    + FRAME
    + AIR
    + LAMP
    + TARGETS
    + "in vec3 world; in vec3 lit_colour;\nuniform sampler2DArray tiles; uniform float around;  // number of the tile\n"
    + WATER
    + _RANGE
    + f"""
float root(vec2 at) {{
    vec2 t = texture(tiles, vec3(at, around), -0.5).ga * RANGE.ga;
    return t.x * t.y;
}}
void main() {{
    vec3 ray = world - eye.xyz;
    vec3 n = cross(dFdx(world), dFdy(world));
    vec2 from_side = vec2(abs(n.x) > abs(n.y) ? world.y : world.x, world.z);
    vec2 at = (n.z * n.z > 0.4 * dot(n, n) ? world.xy : from_side) / {SPAN:.1f};
    float skin = root(at.yx * 0.27) * root(at * 0.043);
    colour = vec4(tone(air(water(lit_colour * skin * skin, ray), ray)), 0.0);
    depth = dot(ray, forward.xyz);
}}
"""
)
