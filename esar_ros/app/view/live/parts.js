// Small helpers: elements whose texts are never read as HTML, and numbers in the words of people.

export const $ = (query) => document.querySelector(query);

export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function fill(element, ...children) { element.replaceChildren(...children); }

export function pairs(list, rows) {
  fill(list, ...rows.flatMap(([name, value]) => [make("dt", { textContent: name }), make("dd", { textContent: value })]));
}

export const unknown = "–";
export const number = (value, digits = 1) => (value === null || value === undefined ? unknown : value.toFixed(digits));
export const metres = (value, digits = 1) => (value === null || value === undefined ? unknown : `${value.toFixed(digits)} m`);
export const share = (value, digits = 0) => (value === null || value === undefined ? unknown : `${(100 * value).toFixed(digits)} %`);
export function minutes(seconds) {
  if (seconds === null || seconds === undefined) return unknown;
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
const WINDS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"];
export const compass = (degrees) => `${String(Math.round(degrees) % 360).padStart(3, "0")}° ${WINDS[Math.round(degrees / 45) % 8]}`;
export const signed = (value, unit) => `${value < -0.04 ? "−" : "+"}${Math.abs(value).toFixed(1)} ${unit}`;
export const place = ([x, y]) => `${Math.abs(x).toFixed(0)} m ${x < 0 ? "west" : "east"}, ${Math.abs(y).toFixed(0)} m ${y < 0 ? "south" : "north"}`;
