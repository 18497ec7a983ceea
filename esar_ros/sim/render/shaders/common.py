"""GLSL of the renderer: what all share, ground, objects, scenery. Plants: shaders/flora.py; the sky: shaders/sky.py.

One uniform block a camera; two targets: colour with the id in alpha, and planar depth. Light comes multiplied by
the exposure. Ground, plants and sky are sampled once a pixel, at its centre, and so are ids and depth; objects'
colour is supersampled and laid over them (object_drawing.py).
"""

from __future__ import annotations

VERSION = "#version 330 core\n"
LAMPS = 4  # fires and lamps that light the ground, at most

FRAME = f"""
layout(std140) uniform Frame {{
    mat4 view_projection;  // map frame to clip space, image row 0 at y = -1
    mat4 shadow_matrix;    // map frame to the shadow map's clip space
    vec4 eye;              // camera position; w: half extent of the map, m
    vec4 forward;          // optical axis; w: m over which the shadow map fades into baked shade
    vec4 right;            // half the image's width at unit depth; w: time, s
    vec4 down;             // half the image's height at unit depth; w: exposure
    vec4 to_sun;           // to sun or moon, what throws shadows; w: share of clouds
    vec4 sun;              // its direct light
    vec4 ambient;          // sky light
    vec4 haze;             // w: extinction, 1/m
    vec4 zenith;           // w: how well stars show
    vec4 ground;           // new snow, water, dust; w: water level, m
    vec4 dust;             // albedo of settled dust; w: azimuth of the sun, rad
    vec4 to_moon;          // w: lit share of the moon
    vec4 afterglow;        // w: height (sine) of the sun
    vec4 lamp[{LAMPS}];          // position; w: squared radius of the flame, m2
    vec4 lamp_light[{LAMPS}];    // intensity times exposure; w: cosine of the beam's half angle
    vec4 lamp_beam[{LAMPS}];     // direction of the beam
}};
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

# Light of fires and lamps on a surface whose normal is n; compiled in only for frames that have any.
LAMP = f"""
#ifdef LAMPLIT
vec3 lamps(vec3 p, vec3 n) {{
    vec3 c = vec3(0.0);
    for (int i = 0; i < {LAMPS}; i++) {{
        vec3 d = lamp[i].xyz - p;
        float q = dot(d, d) + lamp[i].w;
        float r = inversesqrt(q);
        float facing = 0.3 + 0.7 * max(dot(n, d) * r, 0.0);
        float off = -dot(d, lamp_beam[i].xyz) * r - lamp_light[i].w;
        c += lamp_light[i].rgb * (facing * r * r * clamp(off * 12.0 + 0.7, 0.0, 1.0));
    }}
    return c;
}}
#else
vec3 lamps(vec3 p, vec3 n) {{ return vec3(0.0); }}
#endif
"""

SNOW = "const vec3 SNOW = vec3(0.80, 0.83, 0.87);\n"

SHADOW = """
uniform sampler2DShadow shadow_map;
float shadow_at(vec3 p) { vec4 q = shadow_matrix * vec4(p, 1.0); return texture(shadow_map, q.xyz * 0.5 + 0.5); }
float baked_weight(vec3 ray) { return smoothstep(0.8, 1.0, length(ray) / forward.w); }
"""

TARGETS = "layout(location = 0) out vec4 colour;\nlayout(location = 1) out float depth;\n"

# Head of what is lit by the pixel.
_LIT = VERSION + FRAME + AIR + LAMP + SNOW + SHADOW

TERRAIN_VERTEX = (
    VERSION
    + FRAME
    + """
in vec3 position;
out vec3 world;
void main() { world = position; gl_Position = view_projection * vec4(position, 1.0); }
"""
)

# albedo: square roots, alpha the detail pattern in thirds; light: see ground_light.py.
_TERRAIN_LIGHT = (
    VERSION
    + FRAME
    + AIR
    + LAMP
    + SNOW
    + TARGETS
    + """
in vec3 world;
uniform sampler2D albedo; uniform sampler2D light;
vec3 lit(vec3 base, vec4 lie, float shade, float grain) {
    float hold = lie.a + grain;
    base *= base;
    base *= 1.0 - 0.45 * min(1.0, 2.0 * ground.y);
    base = mix(base, dust.rgb, ground.z * clamp(0.35 + 0.6 * hold, 0.0, 1.0));
    base = mix(base, SNOW, smoothstep(-0.10, 0.10, hold + ground.x - 0.97) * min(1.0, 6.0 * ground.x));
    vec3 up = vec3(0.0, 0.0, 1.0);
    vec3 c = base * (sun.rgb * (lie.r * lie.r * shade) + ambient.rgb * (lie.g * 1.2) + lamps(world, up));
"""
)
TERRAIN_HEAD = (
    _TERRAIN_LIGHT
    + """    float pool = smoothstep(0.0, 0.03, lie.a - 1.0 + 0.13 * clamp(2.0 * ground.y - 1.0, 0.0, 1.0));
    vec3 ray = world - eye.xyz;
    float mirror = 1.0 + ray.z * inversesqrt(dot(ray, ray));
    vec3 puddle = mix(c * 0.5, mix(haze.rgb, zenith.rgb, 0.5), 0.05 + 0.35 * mirror * mirror * mirror);
    return mix(c, puddle, 0.9 * pool * (1.0 - ground.x));
}
"""
)
TILED_HEAD = _TERRAIN_LIGHT + "    return c;\n}\n"  # of ground with tiles, which has puddles of its own

# Sea and lakes: two sheets of drifting ripples, sky and sun mirrored by Schlick's Fresnel term.
WATER = """
#ifdef WATER
uniform sampler2D ripples;
vec3 water(vec3 c, vec3 ray) {
    float range = length(ray);
    vec3 v = ray / range;
    vec2 drift = vec2(0.9, 0.5) * right.w;
    vec2 g = texture(ripples, (world.xy + drift) * 0.011).ab - texture(ripples, (world.yx - drift) * 0.037).ba;
    g += 0.6 * (texture(ripples, (world.xy - drift.yx) * 0.0023).ab - 0.5);
    vec3 n = normalize(vec3(g * 0.16, 1.0));
    vec3 r = reflect(v, n);
    float mirror = 0.02 + 0.98 * pow(1.0 - clamp(-dot(v, n), 0.0, 1.0), 5.0);
    mirror = min(mirror, 0.62);
    vec3 sky = mix(haze.rgb, zenith.rgb, clamp(abs(r.z) * 2.2, 0.0, 1.0));
    sky += sun.rgb * (pow(max(dot(r, to_sun.xyz), 0.0), 180.0) * 3.0);
    vec3 body = c;
    body += 0.05 * smoothstep(0.20, 0.34, g.x + g.y) * (ambient.rgb + sun.rgb * max(to_sun.z, 0.0));
    float is_water = smoothstep(ground.w + 0.06, ground.w + 0.03, world.z);
    return mix(c, mix(body, sky, mirror), is_water);
}
#else
vec3 water(vec3 c, vec3 ray) { return c; }
#endif
"""

# Where nobody looks at colours. Everything that comes from the vertices is used all the same: were any of it left out,
# a compiler would make another program of the vertices' shader, and depth would differ in its last bits.
GROUND_BARE_FRAGMENT = (
    VERSION
    + FRAME
    + TARGETS
    + "in vec3 world;\nvoid main() { colour = vec4(world, 0.0); depth = dot(world - eye.xyz, forward.xyz); }\n"
)

TERRAIN_FAR_FRAGMENT = (
    TERRAIN_HEAD
    + WATER
    + """
void main() {
    vec2 uv = world.xy / (2.0 * eye.w) + 0.5;
    vec4 lie = texture(light, uv);
    vec3 ray = world - eye.xyz;
    vec3 c = water(lit(texture(albedo, uv).rgb, lie, lie.b, 0.0), ray);
    colour = vec4(tone(air(c, ray)), 0.0);
    depth = dot(ray, forward.xyz);
}
"""
)

TERRAIN_NEAR_FRAGMENT = (
    TERRAIN_HEAD
    + WATER
    + SHADOW
    + """
uniform sampler2D detail;
uniform float detail_range;
void main() {
    vec2 uv = world.xy / (2.0 * eye.w) + 0.5;
    vec4 base = texture(albedo, uv);
    vec4 lie = texture(light, uv);
    vec3 ray = world - eye.xyz;
    float far = clamp(length(ray) / detail_range, 0.0, 1.0);
    vec4 weight = max(vec4(0.0), 1.0 - abs(base.a * 3.0 - vec4(0.0, 1.0, 2.0, 3.0)));
    float fine = dot(texture(detail, mat2(0.151, 0.082, -0.082, 0.151) * world.xy), weight);
    float grain = (fine - 0.5) * (1.0 - far * far);
    float near_shade = mix(shadow_at(world + vec3(0.0, 0.0, 0.12)), lie.b, baked_weight(ray));
    vec3 c = lit(base.rgb, lie, mix(0.08, 1.0, near_shade), 0.5 * grain) * (1.0 + 1.6 * grain);
    colour = vec4(tone(air(water(c, ray), ray)), 0.0);
    depth = dot(ray, forward.xyz);
}
"""
)

# What lies beyond the map: few large triangles, lit at their vertices.
APRON_VERTEX = (
    VERSION
    + FRAME
    + LAMP
    + SNOW
    + """
in vec3 position; in vec3 normal; in vec3 paint;
out vec3 world; out vec3 lit_colour;
void main() {
    world = position;
    vec3 base = mix(paint * (1.0 - 0.4 * ground.y), dust.rgb, 0.6 * ground.z);
    base = mix(base, SNOW, ground.x * 0.9 * smoothstep(0.6, 0.9, normal.z));
    lit_colour = base * (sun.rgb * max(dot(normal, to_sun.xyz), 0.0) + ambient.rgb * 0.9);
    gl_Position = view_projection * vec4(position, 1.0);
}
"""
)

APRON_FRAGMENT = (
    VERSION
    + FRAME
    + AIR
    + LAMP
    + TARGETS
    + "in vec3 world; in vec3 lit_colour;\n"
    + WATER
    + """
void main() {
    vec3 ray = world - eye.xyz;
    colour = vec4(tone(air(water(lit_colour, ray), ray)), 0.0);
    depth = dot(ray, forward.xyz);
}
"""
)

# Drawn ground is up to this far (m) from the true one, on which things lie: they give way by as much.
_GROUND_ERROR = "const float GROUND_ERROR = 0.12;\n"

OBJECT_VERTEX = (
    VERSION
    + FRAME
    + _GROUND_ERROR
    + """
in vec3 position; in vec3 normal; in vec3 albedo; in vec2 glow;  // emission, K above the air
uniform mat4 model; uniform mat3 turn;
out vec3 world; out vec3 facing; out vec3 paint; out vec2 heat;
void main() {
    world = (model * vec4(position, 1.0)).xyz;
    facing = turn * normal; paint = albedo; heat = glow;
    gl_Position = view_projection * vec4(world, 1.0);
    vec3 ray = world - eye.xyz;
    vec4 nearer = view_projection * vec4(world - ray * min(0.1, GROUND_ERROR / length(ray)), 1.0);
    gl_Position.z = nearer.z / nearer.w * gl_Position.w;  // against the ground that is drawn, which is not the true one
}
"""
)

# Into a tile of several samples a pixel, cut off by the scene's depth; reciprocal depth is linear across a surface.
OBJECT_FRAGMENT = (
    _LIT
    + _GROUND_ERROR
    + """
layout(location = 0) out vec4 colour;
in vec3 world; in vec3 facing; in vec3 paint; in vec2 heat;
uniform float sun_share; uniform float tree_shade;
uniform sampler2D scene_depth;
uniform vec4 tile;      // its lower corner in the atlas, px; 1 / samples a pixel along a side; 1: cut by scene_depth
uniform ivec4 picture;  // the tile's lower corner in the picture; least and greatest row of its camera
void main() {
    vec3 ray = world - eye.xyz;
    vec2 at = (gl_FragCoord.xy - tile.xy) * tile.z + vec2(picture.xy) - 0.5;
    ivec2 low = ivec2(floor(at));
    vec2 f = at - vec2(low);
    ivec2 least = ivec2(0, picture.z), most = ivec2(textureSize(scene_depth, 0).x - 1, picture.w);
    vec2 west = 1.0 / vec2(texelFetch(scene_depth, clamp(low, least, most), 0).r,
                           texelFetch(scene_depth, clamp(low + ivec2(0, 1), least, most), 0).r);
    vec2 east = 1.0 / vec2(texelFetch(scene_depth, clamp(low + ivec2(1, 0), least, most), 0).r,
                           texelFetch(scene_depth, clamp(low + ivec2(1, 1), least, most), 0).r);
    vec2 across = mix(west, east, f.x);
    if (dot(ray, forward.xyz) * tile.w > 1.0 / mix(across.x, across.y, f.y) + GROUND_ERROR) discard;
    vec3 n = normalize(facing);
    float seen = mix(shadow_at(world + n * 0.06 + to_sun.xyz * 0.10), tree_shade, baked_weight(ray)) * sun_share;
    vec3 light = sun.rgb * max(dot(n, to_sun.xyz), 0.0) * seen + ambient.rgb * (0.75 + 0.35 * n.z) + lamps(world, n);
    vec3 base = mix(paint * (1.0 - 0.2 * min(1.0, ground.y)), dust.rgb, 0.3 * ground.z * max(n.z, 0.0));
    base = mix(base, SNOW, 0.4 * ground.x * smoothstep(0.6, 0.9, n.z));
    colour = vec4(tone(air(mix(base * light, paint * max(down.w, 1.0), heat.x), ray)), 1.0);
}
"""
)

# Ids and depth, at the pixel's centre.
OBJECT_ID_FRAGMENT = (
    VERSION
    + FRAME
    + TARGETS
    + """
in vec3 world; in vec3 facing; in vec3 paint; in vec2 heat;
uniform float id;
void main() { colour = vec4(paint, id); depth = dot(world - eye.xyz, forward.xyz); }
"""
)

WARMTH_FRAGMENT = (
    VERSION
    + """
layout(location = 0) out float warmth;
in vec3 world; in vec3 facing; in vec3 paint; in vec2 heat;
void main() { warmth = heat.y; }
"""
)

# The mean of a tile's samples over the image; blended with coverage, alpha left alone.
RESOLVE_VERTEX = VERSION + "in vec2 corner;\nvoid main() { gl_Position = vec4(corner, 0.0, 1.0); }\n"

RESOLVE_FRAGMENT = (
    VERSION
    + """
layout(location = 0) out vec4 colour;
uniform sampler2D tiles;
uniform ivec4 tile;     // its lower corner in the atlas; in the picture
uniform int samples;    // along a side of a pixel
void main() {
    ivec2 from = tile.xy + (ivec2(gl_FragCoord.xy) - tile.zw) * samples;
    vec4 sum = vec4(0.0);
    for (int j = 0; j < samples; j++)
        for (int i = 0; i < samples; i++) sum += texelFetch(tiles, from + ivec2(i, j), 0);
    colour = sum / float(samples * samples);
}
"""
)

# Scenery stands still in the map: facets, lit by the pixel, rough as plaster and boards are.
SCENERY_VERTEX = (
    VERSION
    + FRAME
    + _GROUND_ERROR
    + """
in vec3 position; in vec3 normal; in vec3 albedo;
out vec3 world; out vec3 facing; out vec3 paint;
void main() {
    world = position; facing = normal; paint = albedo;
    gl_Position = view_projection * vec4(world, 1.0);
    vec3 ray = world - eye.xyz;
    vec4 nearer = view_projection * vec4(world - ray * min(0.1, GROUND_ERROR / length(ray)), 1.0);
    gl_Position.z = nearer.z / nearer.w * gl_Position.w;  // as objects, against the ground that is drawn
}
"""
)

SCENERY_FRAGMENT = (
    _LIT
    + TARGETS
    + """
in vec3 world; in vec3 facing; in vec3 paint;
uniform sampler2D detail;
void main() {
    vec3 ray = world - eye.xyz;
    vec3 n = dot(facing, ray) > 0.0 ? -facing : facing;
    float seen = mix(shadow_at(world + n * 0.12 + to_sun.xyz * 0.15), 1.0, baked_weight(ray));
    vec3 light = sun.rgb * max(dot(n, to_sun.xyz), 0.0) * seen + ambient.rgb * (0.75 + 0.35 * n.z) + lamps(world, n);
    vec2 along = abs(n.z) > 0.7 ? world.xy : vec2(dot(world.xy, vec2(-n.y, n.x)), world.z);
    float grain = 1.0 + 0.35 * (texture(detail, along * 0.21).b - 0.5);
    vec3 base = mix(paint * grain * (1.0 - 0.2 * min(1.0, ground.y)), dust.rgb, 0.3 * ground.z * max(n.z, 0.0));
    base = mix(base, SNOW, 0.8 * ground.x * smoothstep(0.3, 0.8, n.z));
    colour = vec4(tone(air(base * light, ray)), 0.0);
    depth = dot(ray, forward.xyz);
}
"""
)

SCENERY_BARE_FRAGMENT = (
    VERSION
    + FRAME
    + TARGETS
    + """
in vec3 world; in vec3 facing; in vec3 paint;
void main() { colour = vec4(facing + paint, 0.0); depth = dot(world - eye.xyz, forward.xyz); }
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


def defined(source: str, *names: str) -> str:
    """The shader with names defined.

    WATER: the place has open water; LAMPLIT: lamps light the frame; WALLS: some ground is too steep to be looked at
    from above; GRAIN: the camera is low; PUDDLES: water stands in hollows; CUT: pictures cut out what they are laid on.
    """
    return source.replace(VERSION, VERSION + "".join(f"#define {name}\n" for name in names), 1)
