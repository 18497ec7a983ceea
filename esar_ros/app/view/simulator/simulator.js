// Shows what the simulator does, and sends keys and buttons to it, with the token that the page carries.

const token = document.body.dataset.token, $ = q => document.querySelector(q);
let refused = ""; // why the last command was
const send = words => fetch("/command", {method: "POST", headers: {"X-Token": token}, body: JSON.stringify(words)})
  .then(async r => { refused = r.status === 403 ? "the simulator was started anew: load this page again" : (await r.json()).error || ""; }).catch(() => {});
const relief = new Image(); let state = null; relief.src = "/picture/map"; relief.onload = () => draw();
// Words are set as text, never as markup: names come from a server that may be anybody's.
function make(tag, properties, ...children) { const made = Object.assign(document.createElement(tag), properties); made.append(...children); return made; }
const bold = text => make("b", {textContent: text});
function cameras(names) {
  for (const name of names) {
    $("#cameras").append(make("figure", {}, make("img", {alt: `${name} camera`, src: `/stream/${encodeURIComponent(name)}`}),
      make("figcaption", {textContent: name})));
  }
}
function draw() {
  const canvas = $("canvas"), g = canvas.getContext("2d"), n = canvas.width;
  g.fillStyle = "#222a30"; g.fillRect(0, 0, n, n);
  if (!state || !state.map_size) return;
  if (relief.naturalWidth) g.drawImage(relief, 0, 0, n, n);
  const size = state.map_size, put = p => [(p[0] / size + .5) * n, (.5 - p[1] / size) * n];
  const bar = size >= 4000 ? 1000 : 500;
  g.fillStyle = "#000a"; g.fillRect(14, n - 40, bar / size * n + 12, 28); g.fillStyle = "#fff"; g.fillRect(20, n - 20, bar / size * n, 3);
  g.font = "15px system-ui"; g.fillText(bar + " m", 20, n - 25);
  g.fillText("N", n - 26, 40); g.beginPath(); g.moveTo(n - 20, 8); g.lineTo(n - 27, 24); g.lineTo(n - 13, 24); g.fill();
  for (const [name, craft] of Object.entries(state.craft || {})) {
    const hot = name === state.vehicle;
    g.strokeStyle = hot ? "#ffb454" : "#9ecbff"; g.lineWidth = 3; g.beginPath();
    craft.trail.forEach((p, i) => g[i ? "lineTo" : "moveTo"](...put(p))); g.lineTo(...put(craft.position)); g.stroke();
    const [x, y] = put(craft.position), a = craft.heading * Math.PI / 180;
    g.save(); g.translate(x, y); g.rotate(-a); g.fillStyle = hot ? "#ffb454" : "#9ecbff"; g.strokeStyle = "#000"; g.lineWidth = 1.5;
    g.beginPath(); g.moveTo(15, 0); g.lineTo(-9, 8); g.lineTo(-4, 0); g.lineTo(-9, -8); g.closePath(); g.fill(); g.stroke(); g.restore();
  }
}
function write() {
  const craft = state.craft && state.craft[state.vehicle]; $("#error").textContent = state.error || refused;
  $("#place").replaceChildren(bold(state.map)); $("#rate").replaceChildren(bold(state.frame_rate), " pictures/s");
  if (!craft) return;
  $("#clock").replaceChildren(bold(craft.time.toFixed(1)), ` s${state.paused ? ", paused" : ""}`);
  const heading = ((90 - craft.heading) % 360 + 360) % 360;
  const rows = [["east, north", craft.position[0].toFixed(1) + ", " + craft.position[1].toFixed(1) + " m"],
    ["above ground", craft.height === null ? "off the map" : craft.height.toFixed(1) + " m"], ["speed", craft.speed.toFixed(1) + " m/s"],
    ["compass", heading.toFixed(0).padStart(3, "0") + "\u00b0"], ["state", craft.landed ? "on the ground" : "flying"],
    ["contact", craft.collided ? "yes" : "none"]];
  $("#numbers").replaceChildren(...rows.flatMap(([name, value]) => [make("dt", {textContent: name}), make("dd", {textContent: value})]));
}
async function look() {
  try {
    const fresh = await (await fetch("/state")).json();
    if (!state) {
      cameras(fresh.cameras);
      if (fresh.vehicles.length > 1) { $("#vehicle").hidden = false; $("#vehicle").replaceChildren(...fresh.vehicles.map(v => make("option", {textContent: v}))); }
    }
    state = fresh; write(); draw();
  } catch (e) { $("#error").textContent = "the simulator has ended"; }
  setTimeout(look, document.hidden ? 1000 : 150);
}
const down = new Set(), axis = (plus, minus) => (down.has(plus) ? 1 : 0) - (down.has(minus) ? 1 : 0);
const moves = ["w", "s", "a", "d", "arrowup", "arrowdown", "arrowleft", "arrowright"], acts = {t: "take_off", h: "hover", l: "land"};
function move() { send({do: "move", forward: axis("w", "s"), left: axis("a", "d"), up: axis("arrowup", "arrowdown"), turn: axis("arrowleft", "arrowright")}); }
setInterval(() => { if (down.size) move(); }, 150);
function mark() { document.querySelectorAll("kbd[data-key]").forEach(k => k.classList.toggle("down", down.has(k.dataset.key))); }
addEventListener("keydown", e => {
  const key = e.key.toLowerCase(); if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (moves.includes(key)) { e.preventDefault(); if (!down.has(key)) { down.add(key); mark(); move(); } }
  else if (acts[key] && !e.repeat) send({do: acts[key]});
});
addEventListener("keyup", e => { if (down.delete(e.key.toLowerCase())) { mark(); if (!down.size) send({do: "hover"}); } });
addEventListener("blur", () => { if (down.size) { down.clear(); mark(); send({do: "hover"}); } });
document.querySelectorAll("button[data-do]").forEach(b => b.onclick = () => { send({do: b.dataset.do}); b.blur(); });
$("#vehicle").onchange = e => { send({do: "choose", vehicle: e.target.value}); e.target.blur(); };
look();
