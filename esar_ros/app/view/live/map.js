// The map: north up, metres east and north of its centre; drag to move, wheel to zoom.

import { $ } from "./parts.js";

const COLOURS = ["#ffb454", "#9ecbff", "#c8f06e", "#f59ad8"];
const LEAST_SIDE = 260; // m shown at least when the map follows
const BARS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

export class MissionMap {
  constructor(canvas, state) {
    this.canvas = canvas; this.state = state; this.follow = true; this.centre = [0, 0]; this.scale = 0.3; // px per m
    this.layers = { belief: true, "map/coverage": true, labels: true };
    this.pictures = new Map(); this.chosen = null; this.picked = null; this.onPick = null; this.dirty = true;
    new ResizeObserver(() => this.touch()).observe(canvas);
    canvas.addEventListener("wheel", (e) => { e.preventDefault(); this.zoom(Math.exp(-e.deltaY * 0.0015), e.offsetX, e.offsetY); }, { passive: false });
    canvas.addEventListener("pointerdown", (e) => { this.grip = { x: e.offsetX, y: e.offsetY, moved: false }; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", (e) => this.drag(e));
    canvas.addEventListener("pointerup", (e) => { if (this.grip && !this.grip.moved && this.onPick) this.onPick(this.ground(e.offsetX, e.offsetY)); this.grip = null; });
    const frame = () => { if (this.dirty) { this.dirty = false; this.draw(); } requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
  }

  touch() { this.dirty = true; }
  colour(vehicle) { return COLOURS[Math.max(0, (this.state.page?.vehicles ?? []).indexOf(vehicle)) % COLOURS.length]; }
  setFollow(on) { this.follow = on; $("[data-map=follow]").classList.toggle("on", on); this.touch(); }
  whole() { this.setFollow(false); const side = this.state.place?.size ?? 2000; this.centre = [0, 0]; this.scale = Math.min(this.width, this.height) / side; this.touch(); }
  show(position) { this.setFollow(false); this.centre = [position[0], position[1]]; this.scale = Math.max(this.scale, this.width / 300); this.touch(); }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const fixed = this.ground(x, y);
    this.scale = Math.min(Math.max(this.scale * factor, 0.05), 40);
    const [px, py] = this.pixel(fixed);
    this.centre = [this.centre[0] + (px - x) / this.scale, this.centre[1] - (py - y) / this.scale];
    this.setFollow(false);
  }

  drag(e) {
    if (!this.grip) return;
    const dx = e.offsetX - this.grip.x, dy = e.offsetY - this.grip.y;
    if (!this.grip.moved && Math.hypot(dx, dy) < 4) return;
    Object.assign(this.grip, { x: e.offsetX, y: e.offsetY, moved: true });
    this.centre = [this.centre[0] - dx / this.scale, this.centre[1] + dy / this.scale];
    this.setFollow(false);
  }

  get width() { return this.canvas.clientWidth || 1; }
  get height() { return this.canvas.clientHeight || 1; }
  pixel(p) { return [this.width / 2 + (p[0] - this.centre[0]) * this.scale, this.height / 2 - (p[1] - this.centre[1]) * this.scale]; }
  ground(x, y) { return [this.centre[0] + (x - this.width / 2) / this.scale, this.centre[1] - (y - this.height / 2) / this.scale]; }

  picture(name, serial) {
    const known = this.pictures.get(name);
    if (known && known.serial === serial) return known.ready;
    const image = new Image(), entry = { serial, ready: known?.ready ?? null };
    this.pictures.set(name, entry);
    image.onload = () => { entry.ready = image; this.touch(); };
    image.src = `/picture/${name}?n=${serial}`;
    return entry.ready;
  }

  // Everything that matters, with a margin.
  fit() {
    const points = [];
    for (const vehicle of this.state.page?.vehicles ?? []) {
      points.push(...(this.state[`track/${vehicle}`] ?? []).filter((_, i, all) => i % 10 === 0 || i === all.length - 1));
      const home = this.state[`home/${vehicle}`], goal = this.state[`goal/${vehicle}`]?.position;
      if (home) points.push(home);
      if (goal) points.push(goal);
      for (const clue of this.state[`clues/${vehicle}`] ?? []) if (!clue.candidate) points.push(clue.position);
    }
    for (const thing of this.state.truth ?? []) points.push(thing.position);
    if (!points.length) return;
    const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
    const [west, east, south, north] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    this.centre = [(west + east) / 2, (south + north) / 2];
    const least = Math.min(LEAST_SIDE, (this.state.place?.size ?? Infinity) / 4); // of small places less
    this.scale = Math.min(this.width / Math.max(1.35 * (east - west), least), this.height / Math.max(1.35 * (north - south), least));
  }

  draw() {
    const ratio = devicePixelRatio || 1, canvas = this.canvas;
    if (canvas.width !== Math.round(this.width * ratio)) canvas.width = Math.round(this.width * ratio);
    if (canvas.height !== Math.round(this.height * ratio)) canvas.height = Math.round(this.height * ratio);
    const g = (this.g = canvas.getContext("2d"));
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.fillStyle = "#222a30"; g.fillRect(0, 0, this.width, this.height);
    if (this.follow) this.fit();
    this.labels = [];
    this.drawGround();
    for (const vehicle of this.state.page?.vehicles ?? []) this.drawLayers(vehicle);
    this.drawIncident();
    this.drawArea();
    for (const vehicle of this.state.page?.vehicles ?? []) this.drawWay(vehicle);
    for (const vehicle of this.state.page?.vehicles ?? []) this.drawClues(vehicle);
    this.drawReports();
    this.drawTruth();
    for (const vehicle of this.state.page?.vehicles ?? []) this.drawCraft(vehicle);
    if (this.picked) this.cross(this.picked, "#fff", 9);
    this.drawLabels();
    this.drawScale();
  }

  drawGround() {
    if (!this.state.brief) return;
    const image = this.picture("relief", 0), size = this.state.place?.size;
    if (!image || !size) return;
    this.lay(image, [-size / 2, -size / 2, size / 2, size / 2]);
    this.g.fillStyle = "#10161b55"; this.g.fillRect(0, 0, this.width, this.height); // dimmed: what is found counts
    for (const track of this.state.place.tracks) { this.line(track, "#0006", 3); this.line(track, "#e8d9b8", 1.2, [6, 4]); }
  }

  drawLayers(vehicle) {
    for (const topic of ["map/coverage", "belief"]) {
      const layer = this.state[`layer/${topic}/${vehicle}`];
      if (!layer || !this.layers[topic]) continue;
      const image = this.picture(`layer/${topic}/${vehicle}`, layer.serial);
      if (image) this.lay(image, layer.extent);
    }
  }

  lay(image, [west, south, east, north]) {
    const [x, y] = this.pixel([west, north]);
    this.g.drawImage(image, x, y, (east - west) * this.scale, (north - south) * this.scale);
  }

  line(points, colour, width, dash = []) {
    if (points.length < 2) return;
    const g = this.g;
    g.beginPath(); points.forEach((p, i) => g[i ? "lineTo" : "moveTo"](...this.pixel(p)));
    g.strokeStyle = colour; g.lineWidth = width; g.lineJoin = "round"; g.setLineDash(dash); g.stroke(); g.setLineDash([]);
  }

  // Segments with what POA is left in each, zones, finds of flights before, and the planned ways.
  drawIncident() {
    const { segments = [], zones = [], finds = [], sorties = [] } = this.state.incident ?? {};
    const named = segments.length && (segments[0].outline[0] ?? []).length && this.scale * 250 > 60;
    for (const { name, poa, outline } of segments) {
      this.line([...outline, outline[0]], "#ffffff55", 1);
      const x = outline.reduce((sum, p) => sum + p[0], 0) / outline.length, y = outline.reduce((sum, p) => sum + p[1], 0) / outline.length;
      if (named && poa >= 0.005) this.label(`${name} ${(100 * poa).toFixed(1)} %`, ...this.pixel([x, y]), "#fff", 0);
    }
    for (const { name, kind, outline } of zones) {
      const colour = kind === "search" ? "#ffffff88" : "#ff6b6b";
      this.line([...outline, outline[0]], colour, 2, kind === "search" ? [7, 6] : []);
      if (kind !== "search") this.label(name, ...this.pixel(outline[0]), colour, 1);
    }
    for (const way of sorties) this.line(way, "#ffd27a99", 1.5, [2, 4]);
    for (const { label, state, position } of finds) {
      if (state === "dismissed") continue;
      this.cross(position, "#ff9d5c", 6);
      this.label(label, ...this.pixel(position), "#ff9d5c", 2);
    }
  }

  drawArea() {
    const area = this.state.brief?.area;
    if (area?.length) this.line([...area, area[0]], "#ffffff88", 1.5, [7, 6]);
  }

  drawWay(vehicle) {
    const craft = this.state[`craft/${vehicle}`], track = [...(this.state[`track/${vehicle}`] ?? [])];
    if (craft) track.push(craft.position);
    this.line(track, "#0009", 5); this.line(track, this.colour(vehicle), 2.5);
    const path = this.state[`path/${vehicle}`] ?? [];
    if (craft && path.length) this.line([craft.position, ...path], "#ffffffcc", 1.5, [4, 4]);
    const goal = this.state[`goal/${vehicle}`]?.position, home = this.state[`home/${vehicle}`], g = this.g;
    if (home) {
      const [x, y] = this.pixel(home);
      g.fillStyle = "#fff"; g.strokeStyle = "#000"; g.lineWidth = 1; g.beginPath(); g.moveTo(x - 7, y + 1); g.lineTo(x, y - 7); g.lineTo(x + 7, y + 1);
      g.lineTo(x + 5, y + 1); g.lineTo(x + 5, y + 7); g.lineTo(x - 5, y + 7); g.lineTo(x - 5, y + 1); g.closePath(); g.fill(); g.stroke();
      this.label("start", x, y, "#fff");
    }
    if (goal) {
      const [x, y] = this.pixel(goal);
      g.strokeStyle = "#000"; g.lineWidth = 4; this.diamond(x, y, 8); g.stroke();
      g.strokeStyle = "#fff"; g.lineWidth = 2; this.diamond(x, y, 8); g.stroke();
      this.label("goal", x, y, "#fff");
    }
  }

  diamond(x, y, r) { const g = this.g; g.beginPath(); g.moveTo(x, y - r); g.lineTo(x + r, y); g.lineTo(x, y + r); g.lineTo(x - r, y); g.closePath(); }

  drawClues(vehicle) {
    const g = this.g;
    for (const clue of this.state[`clues/${vehicle}`] ?? []) {
      const person = clue.kind === "person", colour = person ? "#ff6b6b" : "#6fe0ff";
      const [x, y] = this.pixel(clue.position), [major, minor, angle] = clue.ellipse, chosen = this.chosen === clue.id;
      if (clue.candidate) { // too unlikely to be reported: a mark without a word
        g.beginPath(); g.arc(x, y, chosen ? 6 : 2.5, 0, 7); g.fillStyle = chosen ? "#dfe6ea" : "#9aa6aecc"; g.fill();
        continue;
      }
      if (major !== null && minor !== null) { // two standard deviations
        g.beginPath(); g.ellipse(x, y, Math.max(2 * major * this.scale, 1), Math.max(2 * minor * this.scale, 1), (-angle * Math.PI) / 180, 0, 7);
        g.fillStyle = person ? "#ff6b6b33" : "#6fe0ff2e"; g.fill(); g.strokeStyle = colour; g.lineWidth = 1; g.stroke();
      }
      g.beginPath(); g.arc(x, y, chosen ? 7 : 4.5, 0, 7); g.fillStyle = colour; g.fill(); g.strokeStyle = "#000"; g.lineWidth = 1.5; g.stroke();
      if (clue.label) this.label(clue.label, x, y, colour, person ? 2 : 1);
    }
  }

  drawReports() {
    for (const report of this.state.reports ?? []) {
      const [x, y] = this.pixel(report.position), g = this.g, colour = report.type === "victim" ? "#ff4d4d" : "#4dd2a0";
      g.strokeStyle = "#000"; g.lineWidth = 5; g.beginPath(); g.arc(x, y, 10, 0, 7); g.stroke();
      g.strokeStyle = colour; g.lineWidth = 2.5; g.beginPath(); g.arc(x, y, 10, 0, 7); g.stroke();
      if (report.type === "victim") this.label("victim reported", x, y, colour, 3);
    }
  }

  drawTruth() {
    for (const thing of this.state.truth ?? []) {
      this.cross(thing.position, thing.kind === "victim" ? "#ffe14d" : "#f2f2f2", thing.kind === "victim" ? 9 : 5);
      if (thing.kind === "victim") this.label(thing.name || "victim", ...this.pixel(thing.position), "#ffe14d", 4);
    }
  }

  cross(position, colour, r) {
    const [x, y] = this.pixel(position), g = this.g;
    for (const [style, width] of [["#000", 5], [colour, 2.5]]) {
      g.strokeStyle = style; g.lineWidth = width; g.beginPath(); g.moveTo(x - r, y - r); g.lineTo(x + r, y + r); g.moveTo(x - r, y + r); g.lineTo(x + r, y - r); g.stroke();
    }
  }

  drawCraft(vehicle) {
    const craft = this.state[`craft/${vehicle}`], g = this.g;
    if (!craft) return;
    const [x, y] = this.pixel(craft.position), stopping = this.state[`governor/${vehicle}`]?.stopping;
    if (stopping > 0.5) { g.beginPath(); g.arc(x, y, stopping * this.scale, 0, 7); g.strokeStyle = "#ffb454cc"; g.lineWidth = 1.5; g.setLineDash([3, 3]); g.stroke(); g.setLineDash([]); }
    g.save(); g.translate(x, y); g.rotate(-craft.yaw); g.fillStyle = this.colour(vehicle); g.strokeStyle = "#000"; g.lineWidth = 1.5;
    g.beginPath(); g.moveTo(14, 0); g.lineTo(-9, 8); g.lineTo(-4, 0); g.lineTo(-9, -8); g.closePath(); g.fill(); g.stroke(); g.restore();
    if ((this.state.page?.vehicles.length ?? 1) > 1) this.label(vehicle, x, y, this.colour(vehicle));
  }

  label(text, x, y, colour, weight = 0) { if (this.layers.labels) this.labels.push({ text, x, y, colour, weight }); }

  // Last, so that no mark hides them: right of their mark, or left where a weightier one or a vehicle is, or not at all.
  drawLabels() {
    const g = this.g, crafts = (this.state.page?.vehicles ?? []).map((v) => this.state[`craft/${v}`]).filter(Boolean);
    const taken = crafts.map((c) => this.pixel(c.position)).map(([x, y]) => ({ x: x - 12, y: y - 12, w: 24, h: 24 }));
    const free = (box) => !taken.some((o) => box.x < o.x + o.w && o.x < box.x + box.w && box.y < o.y + o.h && o.y < box.y + box.h);
    g.font = "12px system-ui, DejaVu Sans, sans-serif"; g.textBaseline = "middle";
    for (const { text, x, y, colour } of this.labels.sort((a, b) => b.weight - a.weight)) {
      const w = g.measureText(text).width + 8;
      const box = [x + 13, x - 13 - w].map((left) => ({ x: left, y: y - 9, w, h: 18 })).find(free);
      if (!box) continue;
      taken.push(box);
      g.fillStyle = "#0d1216cc"; g.fillRect(box.x, box.y, box.w, box.h); g.fillStyle = colour; g.fillText(text, box.x + 4, y);
    }
  }

  drawScale() {
    const g = this.g, length = BARS.filter((bar) => bar * this.scale < this.width / 4).at(-1) ?? 10, w = length * this.scale;
    const x = this.width - w - 20, y = this.height - 20;
    g.fillStyle = "#10161bcc"; g.fillRect(x - 10, y - 24, w + 20, 36);
    g.fillStyle = "#fff"; g.fillRect(x, y, w, 3); g.font = "13px system-ui, DejaVu Sans, sans-serif"; g.textBaseline = "alphabetic"; g.fillText(`${length} m`, x, y - 6);
    const n = this.width - 26; g.fillStyle = "#10161bcc"; g.beginPath(); g.arc(n, 30, 17, 0, 7); g.fill();
    g.fillStyle = "#fff"; g.beginPath(); g.moveTo(n, 16); g.lineTo(n - 5, 27); g.lineTo(n + 5, 27); g.closePath(); g.fill(); g.textAlign = "center"; g.fillText("N", n, 41); g.textAlign = "left";
  }
}
