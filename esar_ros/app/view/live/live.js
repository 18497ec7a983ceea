// Reads the mission's changes and shows them; sends what a person asks for, with the token.

import { MissionMap } from "./map.js";
import { $, compass, fill, make, metres, minutes, number, pairs, place, share, signed, unknown } from "./parts.js";

const state = {}, map = new MissionMap($("#map canvas"), state);
const cameras = ["front", "left", "right", "down", "thermal"]; // the last where one is mounted
const PHASES = { disarmed: "on the ground", "take off": "taking off", fly: "searching", hold: "holding", return: "flying home", land: "landing", done: "landed" };
const ENDS = { stop: "the planner stopped", timeout: "time is up", collision: "collision", breach: "safety breach", error: "error", aborted: "by a person", landed: "landed by governor or autopilot" };
const MODES = { normal: "good", slow: "warn" };
let token = sessionStorage.getItem("token") ?? "", events = null, vehicle = "", seen = {};

// The token comes behind the '#', which no server is told; it is taken out of the address bar.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) { token = given; sessionStorage.setItem("token", token); history.replaceState(null, "", location.pathname); }
}
takeToken();
addEventListener("hashchange", () => { takeToken(); if (state.mission?.phase === "ended") location.reload(); else allow(); });

function notice(text) { $("#notice").textContent = text; $("#notice").hidden = !text; }

async function send(words) {
  try {
    const answer = await fetch("/command", { method: "POST", headers: { "X-Token": token, "Content-Type": "application/json" }, body: JSON.stringify(words) });
    const told = await answer.json();
    if (answer.status === 403) { token = ""; sessionStorage.removeItem("token"); allow(); }
    notice(told.error ?? "");
    return answer.ok;
  } catch { notice("The mission's page is not served any more."); return false; }
}

function allow() {
  const may = Boolean(token) && state.page?.commands && state.mission?.phase !== "ended";
  for (const control of document.querySelectorAll("#clock button, #clock select, #orders button")) control.disabled = !may;
  $("[data-do=step]").disabled = !may || !state.clock?.paused;
  $("#clock").hidden = !state.page?.lockstep;
  $("#orders").hidden = !state.page?.commands;
  $("#unlock").hidden = Boolean(token) || !state.page?.commands;
  document.body.classList.toggle("may", may);
  document.body.classList.toggle("ended", state.mission?.phase === "ended");
}

// -- what comes ---------------------------------------------------------------------------------

// `?still`: one look instead of a stream, for pictures of the page.
async function look() {
  take(await (await fetch("/state")).json());
  const tab = new URLSearchParams(location.search).get("tab");
  if (tab) open(tab);
}

function connect() {
  events?.close();
  events = new EventSource(`/events?vehicle=${encodeURIComponent(vehicle)}`);
  events.onmessage = (e) => take(JSON.parse(e.data));
  events.onopen = () => {
    notice(""); seen = {};
    for (const key of Object.keys(state)) if (Array.isArray(state[key])) delete state[key]; // lists come whole again
  };
  events.onerror = () => {
    if (state.mission?.phase === "ended") { events.close(); notice("The mission has ended and its page is no longer served; what you see is its last state."); }
    else notice("No connection to the mission. Trying again…");
    for (const key of Object.keys(state)) if (Array.isArray(state[key]) && key !== "truth" && state.mission?.phase !== "ended") delete state[key];
  };
}

function take(changes) {
  if (state.page && changes.page && changes.page.run !== state.page.run) { location.reload(); return; } // another mission's: nothing of this one stays
  for (const [name, value] of Object.entries(changes)) {
    if (value && value.items !== undefined) state[name] = [...(state[name] ?? []).slice(0, value.from), ...value.items];
    else state[name] = value;
  }
  if (!vehicle && state.page) start();
  const touched = (...names) => names.some((name) => name in changes);
  if (touched("mission", "brief", "pace", "clock", "page", `order/${vehicle}`)) showHead();
  if (touched(`craft/${vehicle}`, `pilot/${vehicle}`, `battery/${vehicle}`, `map/${vehicle}`, `goal/${vehicle}`)) showVehicle();
  if (touched(`governor/${vehicle}`)) showGovernor();
  if (touched(`planner/${vehicle}`)) showNow();
  if (touched("log")) showLog();
  if (Object.keys(changes).some((name) => name.startsWith("clues/"))) showClues();
  if (touched("reports", "score")) showReports();
  if (touched("score")) showScore();
  for (const camera of cameras) showCamera(camera, state[`camera/${vehicle}/${camera}`]);
  map.touch();
}

function start() {
  vehicle = state.page.vehicles[0];
  const chooser = $("#vehicle");
  fill(chooser, ...state.page.vehicles.map((name) => make("option", { textContent: name })));
  chooser.hidden = state.page.vehicles.length < 2;
  fill($("#kind"), ...["person", ...state.page.kinds].map((kind) => make("option", { value: kind, textContent: kind.replaceAll("_", " ") })));
  fill($("#cameras"), ...cameras.map((camera) =>
    make("figure", { id: `camera-${camera}`, hidden: camera === "thermal" }, make("img", { alt: `${camera} camera`, hidden: true }), make("figcaption", { textContent: camera }))));
}

function showCamera(camera, serial) {
  if (!serial || seen[camera] === serial) return;
  seen[camera] = serial;
  const image = $(`#camera-${camera} img`);
  image.src = `/picture/camera/${vehicle}/${camera}?n=${serial}`;
  image.hidden = image.parentNode.hidden = false;
}

function showHead() {
  const mission = state.mission, brief = state.brief, order = state[`order/${vehicle}`];
  if (brief) {
    $("#title").textContent = brief.id; document.title = `${brief.id} · esar`;
    fill($("#brief"), ...brief.lines.map(([runs, meanings, warnings]) => make("p", {},
      ...runs.map(([words, read]) => make("span", { textContent: words, className: read === null ? "" : read ? "read" : "unread" })),
      ...meanings.map((words) => make("span", { textContent: words, className: "meaning" })),
      ...warnings.map((words) => make("span", { textContent: words, className: "meaning unread" })))),
      make("p", { className: "dim", textContent: `As the rules of belief read it: ${brief.reading.join("; ")}.` }),
      make("p", { className: "dim", textContent: `${brief.map}, ${brief.weather}, local time ${brief.local_time.replace("T", " ")}. At most ${brief.report_cap} reports are scored.` }));
  }
  if (mission) {
    const paused = state.clock?.paused && mission.phase === "running";
    const words = mission.phase === "ended" ? `ended${mission.end ? `: ${ENDS[mission.end] ?? mission.end}` : ""}` : paused ? "paused" : order && order !== "search" ? `operator: ${order}` : mission.phase;
    $("#phase").textContent = words;
    $("#phase").className = `chip ${paused || (order && order !== "search" && mission.phase === "running") ? "warn" : mission.phase === "running" ? "good" : ""}`;
    $("#elapsed").textContent = minutes(mission.elapsed); $("#left").textContent = `of ${minutes(mission.t_max)} min`;
    $("#progress").style.width = `${mission.t_max ? (100 * mission.elapsed) / mission.t_max : 0}%`;
    $("#pace").textContent = mission.phase === "running" && !paused && state.pace ? `${number(state.pace)}× real time` : "";
  }
  if (state.clock) {
    const pause = $("[data-do=pause], [data-do=go]");
    pause.dataset.do = state.clock.paused ? "go" : "pause"; pause.textContent = state.clock.paused ? "Go on" : "Pause"; pause.classList.toggle("on", state.clock.paused);
    const speed = $("#speed"), value = String(state.clock.speed);
    if (![...speed.options].some((option) => option.value === value)) speed.append(make("option", { value, textContent: `${value}×` }));
    speed.value = value;
  }
  for (const button of document.querySelectorAll("[data-order]")) button.classList.toggle("on", button.dataset.order === (order ?? "search"));
  allow();
}

function showVehicle() {
  const craft = state[`craft/${vehicle}`], pilot = state[`pilot/${vehicle}`], covered = state[`map/${vehicle}`], goal = state[`goal/${vehicle}`], home = state[`home/${vehicle}`];
  if (!craft) return;
  const to = goal?.position ? metres(Math.hypot(goal.position[0] - craft.position[0], goal.position[1] - craft.position[1]), 0) : goal?.type ?? unknown;
  pairs($("#numbers"), [
    ["phase", pilot ? (PHASES[pilot.phase] ?? pilot.phase) + (pilot.blocked ? ", way blocked" : "") : unknown],
    ["above ground", pilot?.height === null ? "out of range" : metres(pilot?.height)],
    ["above the start", home ? signed(craft.position[2] - home[2], "m") : unknown],
    ["speed over ground", `${number(craft.speed)} m/s`],
    ["climb", signed(craft.climb, "m/s")],
    ["heading", compass(craft.heading)],
    ["to the goal", to],
    ["battery", share(state[`battery/${vehicle}`])],
    ["search area looked at", share(covered?.coverage, 1)],
  ]);
}

function showGovernor() {
  const governor = state[`governor/${vehicle}`];
  $("#mode").textContent = governor.mode; $("#mode").className = `chip ${MODES[governor.mode] ?? "bad"}`;
  $("#reason").textContent = governor.reasons.filter((reason) => reason !== "none").join(", ") || "commands pass unchanged";
  $("#reason").title = governor.text;
  const { clearance, stopping } = governor, used = clearance ? stopping / clearance : 0;
  $("#gauge i").style.width = `${Math.min(100, 100 * used)}%`; $("#gauge").className = `gauge ${used > 0.9 ? "over" : used > 0.6 ? "near" : ""}`;
  $("#gauge").title = "stopping distance as a share of the nearest obstacle's distance";
  pairs($("#distances"), [
    ["stopping distance", metres(stopping)], ["nearest obstacle", clearance === null ? "none near" : metres(clearance)],
    ["asked → given", `${number(governor.asked)} → ${number(governor.given)} m/s`], ["changed commands", String(governor.interventions)],
  ]);
}

function showNow() {
  const now = state[`planner/${vehicle}`];
  if (!now) return;
  const weighed = now.considered ? `, ${now.considered} weighed` : "", model = now.tokens ? `, ${now.tokens} tokens` : "";
  fill($("#now"), make("span", { className: "dim", textContent: `${now.method} ` }), make("b", { textContent: now.action }), ` ${now.why} `,
    make("span", { className: "dim", textContent: `(${now.latency < 0.01 ? "< 0.01" : number(now.latency, 2)} s${weighed}${model})` }));
}

function showLog() {
  const many = (state.page?.vehicles.length ?? 1) > 1, body = $("#entries");
  const end = body.scrollTop < 4;
  fill(body, ...state.log.slice(-300).reverse().map((entry) => make("div", { className: `entry ${entry.kind}` },
    make("time", { textContent: minutes(entry.t) }), make("span", { className: "who", textContent: many && entry.vehicle ? `${entry.vehicle} ${entry.kind}` : entry.kind }),
    make("div", {}, make("b", { textContent: entry.title }), entry.text ? make("p", { textContent: entry.text }) : null))));
  if (end) body.scrollTop = 0;
}

function showClues() {
  const all = (state.page?.vehicles ?? []).flatMap((name) => (state[`clues/${name}`] ?? []).map((clue) => ({ ...clue, vehicle: name })));
  const candidates = all.filter((clue) => clue.candidate).length, clues = all.length - candidates;
  const told = `${clues} clue${clues === 1 ? "" : "s"}${candidates ? ` (${candidates} candidate${candidates === 1 ? "" : "s"}, too unlikely to be reported)` : ""}`;
  $("#count").textContent = all.length ? (candidates ? `${clues} (${candidates})` : clues) : "";
  $("#count").title = told;
  all.sort((a, b) => a.candidate - b.candidate || (b.kind === "person") - (a.kind === "person") || b.probability - a.probability);
  fill($("#clues"), make("p", { className: "dim", textContent: all.length ? told : "Nothing has been seen yet." }), ...all.map(clueRow));
}

function clueRow(clue) {
  const [major, minor] = clue.ellipse, row = make("div", { className: `clue ${clue.candidate ? "candidate" : clue.kind === "person" ? "person" : ""}` },
    clue.crop ? make("img", { alt: clue.kind, src: `/picture/crop/${clue.vehicle}/${clue.id}?n=${clue.crop}` }) : make("span", { className: "none", textContent: "no picture" }),
    make("div", {}, make("b", { textContent: clue.kind }), ` ${share(clue.probability)}`, make("p", { textContent: clue.text === clue.kind ? "" : clue.text }),
      make("p", { textContent: `${place(clue.position)}, ±${number(2 * major)} × ${number(2 * minor)} m (2σ), ${clue.views} view${clue.views === 1 ? "" : "s"}, nearest from ${metres(clue.nearest, 0)}` })),
    make("button", { textContent: "Report…", disabled: !document.body.classList.contains("may"), onclick: (e) => { e.stopPropagation(); ask(clue.position, clue.kind.replaceAll(" ", "_"), clue.text); } }));
  row.onclick = () => { map.chosen = clue.id; map.show(clue.position); };
  return row;
}

function showReports() {
  const reports = state.reports ?? [], verdicts = new Map((state.score?.verdicts ?? []).map((v) => [`${v.vehicle} ${v.seq}`, v]));
  $("#reported").textContent = reports.length || "";
  fill($("#reports"), ...(reports.length ? reports.map((report) => {
    const verdict = verdicts.get(`${report.vehicle} ${report.seq}`);
    return make("div", { className: "entry report" }, make("time", { textContent: minutes(report.t) }), make("span", { className: "who", textContent: report.type }),
      make("div", {}, make("b", { textContent: report.kind }), verdict ? ` ${verdict.verdict}` : "", make("p", { textContent: report.text }),
        report.where ? make("p", { className: "where", textContent: report.where, title: "One click selects it: WGS 84, ± holds 95 %" }) : null));
  }) : [make("p", { className: "dim", textContent: "Nothing has been reported yet." })]));
}

function showScore() {
  const { metrics, eligible, ineligible_reasons: reasons, safety } = state.score, body = $("#score");
  const big = [["SR", metrics.sr, "success"], ["TSR", metrics.tsr, "time-weighted"], ["CDS", metrics.cds, "clue discovery"], ["RS", metrics.rs, "rescue score"]];
  const list = make("dl");
  pairs(list, [
    ["victims found", `${metrics.victims_found} of ${metrics.victims}`], ["clues located", `${metrics.clues_located} of ${metrics.clues} (${metrics.clues_exact} exactly)`],
    ["false reports", `${metrics.false_reports} of ${metrics.reports}`], ["flown", `${metres(metrics.path_length, 0)} in ${minutes(metrics.elapsed)} min`],
    ["area looked at", share(metrics.coverage, 1)], ["least clearance", metres(metrics.min_clearance)],
    ["safe", safety.safe ? "yes" : safety.reasons.join(", ")], ["comparable", eligible ? "yes" : `no: ${reasons.join("; ")}`],
  ]);
  fill(body, make("div", { className: "scores" }, ...big.map(([name, value, about]) => make("div", {}, make("b", { textContent: value.toFixed(2) }), make("span", { textContent: `${name} · ${about}` })))), list);
  $("[data-tab=score]").hidden = false;
  open("score");
  allow();
}

// -- what is asked ------------------------------------------------------------------------------

function open(name) {
  for (const button of document.querySelectorAll("[data-tab]")) button.classList.toggle("on", button.dataset.tab === name);
  for (const body of document.querySelectorAll("#tabs .body")) body.hidden = body.id !== name;
}

function ask(position, kind = "person", words = "") {
  map.picked = position; map.onPick = pick; map.touch();
  $("#place").textContent = place(position);
  $("#kind").value = kind; $("#words").value = words; $("#form").hidden = false; $("#words").focus();
  $("#form").dataset.z = position.length > 2 ? position[2] : "";
}

function pick(position) { ask(position, $("#kind").value, $("#words").value); }
function stopPicking() { $("#form").hidden = true; $("#map").classList.remove("pick"); $("#report").classList.remove("on"); map.picked = map.onPick = null; notice(""); map.touch(); }

document.querySelectorAll("[data-tab]").forEach((button) => (button.onclick = () => open(button.dataset.tab)));
document.querySelectorAll("#clock button").forEach((button) => (button.onclick = () => send({ do: button.dataset.do })));
$("#speed").onchange = (e) => send({ do: "speed", speed: Number(e.target.value) });
document.querySelectorAll("[data-order]").forEach((button) => (button.onclick = () => {
  if (button.dataset.order === "return" && !button.classList.contains("sure")) { // pressed again within some seconds
    button.classList.add("sure"); button.textContent = "Return: sure?";
    setTimeout(() => { button.classList.remove("sure"); button.textContent = "Return"; }, 4000);
    return;
  }
  send({ do: button.dataset.order, vehicle });
}));
$("#report").onclick = () => {
  if (map.onPick) { stopPicking(); return; }
  $("#map").classList.add("pick"); $("#report").classList.add("on"); map.onPick = pick; notice("Choose the place on the map.");
};
$("#cancel").onclick = stopPicking;
$("#form").onsubmit = async (e) => {
  e.preventDefault();
  const z = $("#form").dataset.z, words = { do: "report", vehicle, kind: $("#kind").value, text: $("#words").value, x: map.picked[0], y: map.picked[1] };
  if (await send(z ? { ...words, z: Number(z) } : words)) stopPicking();
};
$("#unlock").onsubmit = (e) => { e.preventDefault(); token = $("#token").value.trim(); sessionStorage.setItem("token", token); $("#token").value = ""; allow(); };
$("#vehicle").onchange = (e) => { vehicle = e.target.value; connect(); showHead(); };
document.querySelectorAll("[data-layer]").forEach((box) => (box.onchange = () => { map.layers[box.dataset.layer] = box.checked; map.touch(); }));
$("[data-map=follow]").onclick = () => map.setFollow(!map.follow);
$("[data-map=all]").onclick = () => map.whole();
$("[data-map=in]").onclick = () => map.zoom(1.4);
$("[data-map=out]").onclick = () => map.zoom(1 / 1.4);
// A page in the background asks for nothing, and so costs nothing.
if (new URLSearchParams(location.search).has("still")) look();
else {
  document.addEventListener("visibilitychange", () => { if (document.hidden) { events?.close(); events = null; } else if (!events && state.mission?.phase !== "ended") connect(); });
  connect();
}
