# ruff: noqa: E501  # a page reads better with one element a line
"""The page of mission_page.py: one file, no scripts, no network; dark or light as the reader's system is."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ r.task.id }} · {{ r.planner }} · {{ percent(m.rs) }}</title>
<style>
:root { --paper:#fff; --back:#f3f5f6; --ink:#1d2429; --muted:#667079; --line:#dfe4e7; --good:#1f9d6b; --near:#d19600;
  --bad:#d6453d; --calm:#4a7fd0; --shade0:#dbe5f3; --shade1:#c8d7ee; --soft:#eef6f2; }
@media (prefers-color-scheme: dark) { :root { --paper:#1a2024; --back:#11161a; --ink:#e8edf0; --muted:#98a3ab;
  --line:#2c353b; --good:#35b884; --near:#e3ab22; --bad:#ef6a62; --calm:#6c9be6; --shade0:#293b52; --shade1:#334a67;
  --soft:#1c2b26; } }
* { box-sizing:border-box; }
body { margin:0; background:var(--back); color:var(--ink); font:16px/1.5 system-ui,"Segoe UI",Roboto,sans-serif; }
main { max-width:1080px; margin:0 auto; padding:28px 16px 60px; }
section, header { background:var(--paper); border:1px solid var(--line); border-radius:14px; padding:22px; margin:0 0 18px; }
h1 { font-size:30px; line-height:1.15; margin:2px 0 6px; } h2 { font-size:19px; margin:0 0 14px; }
h3 { font-size:16px; margin:0; } p { margin:0 0 10px; } .muted { color:var(--muted); } .small { font-size:14px; }
.top { display:flex; gap:26px; flex-wrap:wrap; align-items:center; justify-content:space-between; }
.eyebrow { font-size:12px; letter-spacing:.08em; font-weight:700; color:var(--muted); }
.ring { width:150px; height:150px; flex:none; } .ring text { text-anchor:middle; fill:var(--ink); font-weight:700; }
.bars { flex:1 1 300px; max-width:430px; display:grid; gap:10px; }
.bar { display:grid; grid-template-columns:44px 1fr 54px; gap:10px; align-items:center; font-weight:700; }
.bar i { display:block; height:8px; border-radius:4px; background:var(--line); overflow:hidden; }
.bar i b { display:block; height:100%; background:var(--good); } .bar span:last-child { text-align:right; }
.facts { display:grid; grid-template-columns:repeat(4,1fr); gap:14px; margin-top:20px;
  border-top:1px solid var(--line); padding-top:18px; }
.facts b { display:block; font-size:20px; line-height:1.2; } .facts span { font-size:13px; color:var(--muted); }
.note { border-left:4px solid var(--near); padding:6px 12px; margin:14px 0 0; background:var(--back); border-radius:4px; }
.note.bad { border-color:var(--bad); } blockquote { margin:0; padding:2px 0 2px 14px; border-left:3px solid var(--line); }
.read { color:var(--good); } .unread { color:var(--bad); text-decoration:underline dotted; }
.map { padding:0; overflow:hidden; } .map img { display:block; width:100%; height:auto; }
.scroll { overflow-x:auto; } table { border-collapse:collapse; width:100%; font-size:15px; }
th { text-align:left; font-size:13px; color:var(--muted); font-weight:600; } td, th { padding:7px 14px 7px 0; border-bottom:1px solid var(--line); vertical-align:top; }
tr:last-child td { border-bottom:0; } td.n { text-align:right; font-variant-numeric:tabular-nums; white-space:nowrap; } th.n { text-align:right; }
.chip { display:inline-block; padding:1px 9px; border-radius:10px; font-size:13px; font-weight:700; color:#fff; background:var(--good); }
.chip.near { background:var(--near); } .chip.bad { background:var(--bad); }
.find { padding:16px 0; border-top:1px solid var(--line); } .find:first-of-type { border-top:0; padding-top:0; }
.views { display:grid; grid-template-columns:repeat(4,1fr); gap:8px; margin-top:10px; }
figure { margin:0; position:relative; } figure img { width:100%; display:block; border-radius:8px; }
figure.it img { outline:3px solid var(--good); outline-offset:-3px; }
figcaption { position:absolute; left:8px; bottom:6px; font-size:12px; color:#fff; text-shadow:0 1px 3px #000; }
.timeline { width:100%; min-width:640px; height:auto; font:12px system-ui,sans-serif; }
.timeline .label, .timeline .tick, .timeline .value { fill:var(--muted); } .timeline .inside { fill:var(--ink); font-size:11.5px; }
.timeline .good { fill:var(--good); } .timeline .near { fill:var(--near); } .timeline .bad { fill:var(--bad); } .timeline .calm { fill:var(--calm); }
.timeline .decision.shade0 { fill:var(--shade0); } .timeline .decision.shade1 { fill:var(--shade1); }
.timeline .grid { stroke:var(--line); stroke-width:1; opacity:.6; } .timeline .rule { stroke:var(--line); }
.timeline .curve { fill:none; stroke:var(--calm); stroke-width:2; } .timeline .area { fill:var(--calm); opacity:.14; }
.two { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(400px,100%),1fr)); gap:18px; } .two section { margin:0; }
details summary { cursor:pointer; color:var(--muted); } code { font-size:13px; word-break:break-all; }
@media (max-width:640px) { .facts { grid-template-columns:repeat(2,1fr); } .views { grid-template-columns:repeat(2,1fr); } section, header { padding:16px; border-radius:10px; } h1 { font-size:25px; } .ring { margin:0 auto; } }
@media print { body { background:#fff; } section { break-inside:avoid; } }
</style>
</head>
<body><main>
<header>
 <div class="top">
  <div>
   <div class="eyebrow">SEARCH AND RESCUE MISSION</div>
   <h1>{{ r.task.id }}</h1>
   <p>{{ r.planner }} · {{ ending }}{% if r.end_text %} <span class="muted">({{ r.end_text }})</span>{% endif %}</p>
   <p class="muted small">{{ r.task.map }} · {{ conditions }} · {{ r.task.tier }}, difficulty {{ r.task.difficulty }}</p>
  </div>
  <svg class="ring" viewBox="0 0 150 150" role="img" aria-label="rescue score {{ score(m.rs) }} per cent">
   <circle cx="75" cy="75" r="64" fill="none" stroke="var(--line)" stroke-width="13"/>
   <circle cx="75" cy="75" r="64" fill="none" stroke="var(--good)" stroke-width="13" stroke-dasharray="{{ '%.1f' % (402.1 * m.rs) }} 402.2" transform="rotate(-90 75 75)"/>
   <text x="75" y="82" font-size="32">{{ score(m.rs) }}</text><text x="75" y="101" font-size="10" opacity=".7">RESCUE SCORE</text>
  </svg>
  <div class="bars">
   {% for name, value in bars %}<div class="bar"><span>{{ name }}</span><i><b style="width:{{ '%.1f' % (100 * value) }}%"></b></i><span>{{ score(value) }}</span></div>{% endfor %}
  </div>
 </div>
 <div class="facts">{% for name, value in facts %}<div><b>{{ value }}</b><span>{{ name }}</span></div>{% endfor %}</div>
 {% if headline %}<div class="note bad">{{ headline[0] | upper }}{{ headline[1:] }}.</div>{% endif %}
 {% if not m.safe %}<div class="note bad">Not safe: {{ r.safety.reasons | join(", ") }}.</div>{% endif %}
 {% for note in caveats %}<div class="note">{{ note[0] | upper }}{{ note[1:] }}.</div>{% endfor %}
</header>

<section class="map"><img alt="map of the flight" src="{{ uri(map) }}"></section>
{% if surface %}
<section><h2>The ground as the cameras saw it</h2><figure><img alt="the ground as the cameras saw it, from the south at an angle" src="{{ uri(surface) }}"></figure>
<p class="muted small">Colour and depth images fused along the odometry, seen towards north. As a point cloud and a mesh: <code>esar export</code>.</p></section>
{% endif %}

<section><h2>The brief</h2><blockquote>{% for line in brief %}<p>
{%- for run in line.runs %}{% if run.is_read is none %}{{ run.words }}{% else %}<span class="{{ 'read' if run.is_read else 'unread' }}">{{ run.words }}</span>{% endif %}{% endfor %}
{% for meaning in line.meanings %}<br><span class="muted small">{{ meaning }}</span>{% endfor %}
{%- for warning in line.warnings %}<br><span class="unread small">{{ warning }}</span>{% endfor %}</p>{% endfor %}</blockquote>
<p class="muted small">The brief as the rules of <code>belief</code> read it: <span class="read">understood</span>, <span class="unread">not understood</span>; {{ reading|join("; ") }}.</p></section>

<section><h2>Victims and clues</h2><div class="scroll"><table>
<tr><th>what</th><th>outcome</th><th>why missed</th><th class="n">nearest look</th><th class="n">first seen from</th><th class="n">found at</th><th class="n">off by</th><th>reported as</th></tr>
{% for thing in r.things %}<tr><td>{% if thing.name is defined %}<b>{{ thing.name }}</b>, {{ thing.pose }}{% else %}{{ thing.description }}{% endif %}</td>
<td><span class="chip {{ chip(thing) }}">{{ found_word(thing) }}</span></td><td class="small">{{ why(thing) }}</td>
<td class="n">{% if thing.nearest_picture is none and thing.closest_approach is not none %}<span class="muted">passed at {{ metres(thing.closest_approach) }}</span>{% else %}{{ metres(thing.nearest_picture) }}{% endif %}</td><td class="n">{{ metres(thing.told_from) }}</td>
<td class="n">{{ seconds(thing.time) }}</td><td class="n">{{ metres(thing.distance) }}</td><td>{% if thing.report is not none %}{{ r.reports[thing.report].text }}{% endif %}</td></tr>
{% endfor %}</table></div>
<p class="muted small">Nearest look: least distance of a picture within 60 m that showed it, no ground in between. First seen from: how far off it was when the detector{% if r.detector_details.backend is defined %} ({{ r.detector_details.backend }}){% endif %} first told of it.</p></section>

{% if finds %}<section><h2>What the cameras saw</h2>
{% for find in finds %}<div class="find"><h3>{{ find.thing.name if find.thing.name is defined else find.thing.description }}
 <span class="muted small">at {{ seconds(find.report.time) }}, {{ find.report.vehicle }}: “{{ find.report.text }}”, {{ metres(find.thing.distance) }} off</span></h3>
 {% if find.views %}<div class="views">{% for view in find.views %}<figure{% if view.holds_it %} class="it"{% endif %}><img loading="lazy" alt="{{ view.camera }} camera" src="{{ uri(view.jpeg) }}"><figcaption>{{ view.camera }}</figcaption></figure>{% endfor %}</div>
 {% else %}<p class="muted small">No pictures in the bag at this time.</p>{% endif %}</div>{% endfor %}
 <p class="muted small">A ring marks where the thing truly lies, magnified in the corner; something may stand in between.</p></section>{% endif %}

{% if misses %}<section><h2>What was looked at and missed</h2>
{% for miss in misses %}<div class="find"><h3>{{ miss.thing.name if miss.thing.name is defined else miss.thing.description }}
 <span class="muted small">nearest look at {{ seconds(miss.moment.time) }}, {{ miss.moment.vehicle }}, from {{ metres(miss.thing.nearest_picture) }}: {{ why(miss.thing) }}</span></h3>
 {% if miss.views %}<div class="views">{% for view in miss.views %}<figure class="it"><img loading="lazy" alt="{{ view.camera }} camera" src="{{ uri(view.jpeg) }}"><figcaption>{{ view.camera }}</figcaption></figure>{% endfor %}</div>
 {% else %}<p class="muted small">No pictures in the bag at this time.</p>{% endif %}</div>{% endfor %}</section>{% endif %}

<section><h2>Course of the mission</h2><div class="scroll">{{ timeline }}</div>
{% for vehicle, spans in decisions %}<details><summary>{{ spans | length }} decisions of {{ vehicle }}</summary><div class="scroll"><table>
<tr><th class="n">from</th><th class="n">to</th><th>action</th><th>why</th></tr>
{% for span in spans %}<tr><td class="n">{{ seconds(span.start) }}</td><td class="n">{{ seconds(span.end) }}</td><td>{{ span.word }}</td><td>{{ span.note }}</td></tr>{% endfor %}
</table></div></details>{% endfor %}
{% for vehicle, spans in holds %}<details{% if spans | length <= 12 %} open{% endif %}><summary>{{ spans | length }} interventions of the safety governor, {{ vehicle }}</summary><div class="scroll"><table>
<tr><th class="n">from</th><th class="n">lasted</th><th>mode</th><th>reason</th></tr>
{% for span in spans[:200] %}<tr><td class="n">{{ '%.1f s' % span.start }}</td><td class="n">{{ '%.1f s' % (span.end - span.start) }}</td><td>{{ span.word }}</td><td>{{ span.note }}</td></tr>{% endfor %}
</table></div></details>{% endfor %}</section>

<section><h2>Reports</h2><div class="scroll"><table>
<tr><th class="n">at</th><th>said</th><th>verdict</th><th>nearest</th><th class="n">off by</th><th class="n">confidence</th></tr>
{% for report in r.reports[:300] %}<tr><td class="n">{{ seconds(report.time) }}</td><td>{{ report.text or report.kind }}</td>
<td><span class="chip {{ verdict_chip(report.verdict) }}">{{ plain(report.verdict) }}</span></td><td>{{ report.matched or "–" }}</td><td class="n">{{ metres(report.distance) }}</td><td class="n">{{ '%.2f' % report.confidence }}</td></tr>
{% else %}<tr><td>none</td></tr>{% endfor %}</table></div></section>

<div class="two">
<section><h2>Safety</h2><table>{% for name, value in safety %}<tr><td>{{ name }}</td><td class="n">{{ value }}</td></tr>{% endfor %}</table></section>
<section><h2>Timing</h2><table>{% for name, value in timing %}<tr><td>{{ name }}</td><td class="n">{{ value }}</td></tr>{% endfor %}</table>
<p class="muted small">Depends on the machine; no part of the score.</p></section>
<section><h2>Sensitivity</h2><table><tr><th class="n">E (m)</th><th class="n">SR</th><th class="n">gated first</th><th class="n">TSR</th><th class="n">CDS</th><th class="n">RS</th></tr>
{% for gate, s in sensitivity %}<tr><td class="n">{{ gate }}</td><td class="n">{{ percent(s.sr) }}</td><td class="n">{{ percent(s.sr_gated_first) }}</td><td class="n">{{ percent(s.tsr) }}</td><td class="n">{{ percent(s.cds) }}</td><td class="n">{{ percent(s.rs) }}</td></tr>{% endfor %}</table>
<p class="muted small">RS without the safety term: {{ percent(m.rs_without_safety) }}.</p></section>
<section><h2>Thresholds</h2><table>{% for name, value in thresholds %}<tr><td>{{ name }}</td><td class="n">{{ value }}</td></tr>{% endfor %}</table></section>
</div>

<section style="margin-top:18px"><h2>How it was run</h2><table>{% for name, value in run %}<tr><td>{{ name }}</td><td><code>{{ value }}</code></td></tr>{% endfor %}</table></section>
</main></body></html>
"""
