# ruff: noqa: E501  # a page reads better with one element a line
"""The page of comparison_page.py: one file, no scripts, no network; dark or light as the reader's system is."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>
:root { --paper:#fff; --back:#f3f5f6; --ink:#1d2429; --muted:#5f6a73; --line:#dfe4e7; --good:#14794f; --near:#d19600; --bad:#d6453d; --soft:#eef6f2; --shade:#1d242966; }
@media (prefers-color-scheme: dark) { :root { --paper:#1a2024; --back:#11161a; --ink:#e8edf0; --muted:#98a3ab; --line:#2c353b; --good:#4fd39d; --soft:#1c2b26; --shade:#000c; } }
* { box-sizing:border-box; }
body { margin:0; background:var(--back); color:var(--ink); font:16px/1.5 system-ui,"Segoe UI",Roboto,sans-serif; }
main { max-width:1340px; margin:0 auto; padding:28px 16px 60px; }
section, header { background:var(--paper); border:1px solid var(--line); border-radius:14px; padding:22px; margin:0 0 18px; }
h1 { font-size:30px; line-height:1.15; margin:2px 0 6px; } h2 { font-size:19px; margin:0 0 12px; } p { margin:0 0 10px; }
.muted { color:var(--muted); } .small { font-size:13.5px; } .eyebrow { font-size:12px; letter-spacing:.08em; font-weight:700; color:var(--muted); }
.facts { display:grid; grid-template-columns:repeat(auto-fit,minmax(130px,1fr)); gap:14px; margin-top:18px; border-top:1px solid var(--line); padding-top:16px; }
.facts b { display:block; font-size:22px; line-height:1.2; } .facts span { font-size:13px; color:var(--muted); }
.note { border-left:4px solid var(--near); padding:6px 12px; margin:8px 0 0; background:var(--back); border-radius:4px; font-size:14.5px; }
/* A table that is too wide scrolls beside its first column; a shadow at an edge says that there is more beyond it. */
.scroll { overflow-x:auto; scrollbar-width:thin; background:linear-gradient(to left,var(--paper) 30%,transparent) right/48px 100% no-repeat local,radial-gradient(farthest-side at 100% 50%,var(--shade),transparent) right/16px 100% no-repeat scroll; }
.scroll:focus-visible { outline:2px solid var(--muted); } table { border-collapse:collapse; width:100%; font-size:14px; }
th, td { padding:6px 8px; border-bottom:1px solid var(--line); text-align:right; white-space:nowrap; vertical-align:top; font-variant-numeric:tabular-nums; }
th { font-size:12.5px; color:var(--muted); font-weight:600; } th.group { text-align:center; color:var(--ink); border-bottom:1px solid var(--line); }
th:first-child, td:first-child { text-align:left; font-weight:600; position:sticky; left:0; background:var(--paper); }
.scroll th:first-child, .scroll td:first-child { box-shadow:inset -1px 0 var(--line); }
td.words { text-align:left; } tr.rule td { border-top:2px solid var(--muted); } tr:last-child td { border-bottom:0; }
td i { display:block; font-style:normal; font-size:11px; color:var(--muted); } td.best { color:var(--good); font-weight:700; } td.best i { font-weight:400; } td.bad { color:var(--bad); }
.after { margin:10px 0 0; } .figure svg, .figure img { min-width:600px; } .figure svg { width:100%; height:auto; background:#fff; border-radius:8px; } .figure img { width:100%; height:auto; display:block; border-radius:8px; }
.paper { border-style:dashed; } .paper table { font-size:12.5px; } .paper th, .paper td { padding:6px 4px; } .two { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(420px,100%),1fr)); gap:18px; } .two section { margin:0 0 18px; }
details summary { cursor:pointer; color:var(--muted); } code { font-size:13px; word-break:break-all; white-space:normal; }
.list td:first-child { position:static; white-space:normal; } td.code { text-align:left; white-space:normal; }
@media (max-width:600px) { section, header { padding:16px 12px; } .scroll td:first-child { white-space:normal; min-width:92px; max-width:38vw; overflow-wrap:anywhere; } }
@media print { body { background:#fff; } section { break-inside:avoid; } }
</style>
</head>
<body><main>
{% macro show(table) %}<div class="scroll" tabindex="0" role="region" aria-label="{{ table.title }}"><table>
{% if table.groups %}<tr>{% for text, span in table.groups %}<th class="group" colspan="{{ span }}">{{ text }}</th>{% endfor %}</tr>{% endif %}
<tr>{% for head in table.heads %}<th>{{ head }}</th>{% endfor %}</tr>
{% for row in table.rows %}<tr{% if loop.index0 in table.rules %} class="rule"{% endif %}>{% for cell in row %}<td{% if cell.best %} class="best"{% elif cell.bad %} class="bad"{% endif %}>{{ cell.text }}{% if cell.interval or cell.note %}<i>{{ cell.interval or cell.note }}</i>{% endif %}</td>{% endfor %}</tr>
{% endfor %}</table></div>
<div class="after">{% for note in table.notes %}<p class="muted small">{{ note }}</p>{% endfor %}</div>{% endmacro %}
<header>
 <div class="eyebrow">{{ eyebrow }}</div>
 <h1>{{ title }}</h1>
 <p class="muted">{{ lead }}</p>
 <div class="facts">{% for name, value in facts %}<div><b>{{ value }}</b><span>{{ name }}</span></div>{% endfor %}</div>
 {% for note in notes %}<div class="note">{{ note }}</div>{% endfor %}
</header>

{% for section, image in sections %}
<section class="{{ 'figure' if image else '' }}{{ ' paper' if section.name == 'paper' else '' }}"><h2>{{ section.title }}</h2>
{% if image %}<div class="scroll" tabindex="0" role="region" aria-label="{{ section.title }}">{{ image }}</div>{% if section.note %}<p class="muted small after">{{ section.note }}</p>{% endif %}
{% else %}{{ show(section) }}{% endif %}</section>
{% endfor %}
{% if failures %}<section><details><summary>{{ failures | length }} failed episodes</summary><div class="scroll"><table><tr><th>episode</th><th style="text-align:left">reason</th></tr>{% for name, reason in failures[:200] %}<tr><td>{{ name }}</td><td class="code">{{ reason }}</td></tr>{% endfor %}</table></div></details></section>{% endif %}
<div class="two">
{% if thresholds %}
<section><h2>Thresholds</h2><table class="list">{% for name, value in thresholds %}<tr><td>{{ name }}</td><td>{{ value }}</td></tr>{% endfor %}</table></section>
{% endif %}
<section><h2>How it was run</h2><table class="list">{% for name, value in run %}<tr><td>{{ name }}</td><td class="code"><code>{{ value }}</code></td></tr>{% endfor %}</table></section>
</div>
</main></body></html>
"""
