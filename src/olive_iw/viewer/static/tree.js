// The search tree on a canvas: layout, zoom and pan, which node is pointed at; and as a file.

import { number, svgElement } from "./panels.js";

const FAR = 14; // pixels within which a node counts as pointed at
const MARGIN = 26;
const FONT = "11px system-ui, sans-serif";
const LEAD = 32; // pixels from the root to the names of its actions
const LINE = 13; // pixels from name to name, at least
const GOAL_LINE = [4, [6, 4]];
const SHARPER = 3; // pixels of a saved picture for each on the page
const COLOURS = { kept: "--kept", new: "--new", pruned: "--pruned", solved: "--solved", "depth limit": "--limit", terminal: "--terminal" };

function shape(context, status, x, y, r) {
  context.beginPath();
  if (status === "pruned") { context.moveTo(x, y - r); context.lineTo(x + r, y); context.lineTo(x, y + r); context.lineTo(x - r, y); context.closePath(); }
  else if (status === "terminal" || status === "depth limit") context.rect(x - r, y - r, 2 * r, 2 * r);
  else context.arc(x, y, r, 0, 7);
}

function paint(context, status, lost, x, y, r, colour) {
  shape(context, status, x, y, r);
  if (status === "kept") { context.fillStyle = colour["--card"]; context.fill(); context.strokeStyle = colour["--kept"]; context.lineWidth = 1.5; context.stroke(); }
  else { context.fillStyle = colour[COLOURS[status]]; context.fill(); }
  if (lost) { context.beginPath(); context.arc(x, y, r + 2.5, 0, 7); context.strokeStyle = colour["--lost"]; context.lineWidth = 2; context.stroke(); }
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = [...new Set([...Object.values(COLOURS), "--card", "--lost", "--branch", "--goal", "--edge", "--ink", "--dim", "--link"])];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name).trim()]));
}

export function drawLegend(list, statuses, prunes) {
  const colour = readColours();
  const words = { kept: "kept from before", new: "new", pruned: `${prunes ? "pruned" : "put back"}: not novel`, solved: "solved", "depth limit": "depth limit", terminal: "terminal" };
  const entry = (text, draw, mark = "") => {
    const item = document.createElement("li"), canvas = document.createElement("canvas");
    item.dataset.mark = mark;
    canvas.width = canvas.height = 32;
    const context = canvas.getContext("2d");
    context.scale(2, 2);
    draw(context);
    item.append(canvas, text);
    return item;
  };
  const line = (name, width, dash) => (context) => { context.strokeStyle = colour[name]; context.lineWidth = width; context.setLineDash(dash); context.beginPath(); context.moveTo(1, 8); context.lineTo(15, 8); context.stroke(); };
  list.replaceChildren(
    ...statuses.map((status) => entry(words[status] || status, (context) => paint(context, status, false, 8, 8, 5, colour), status)),
    entry("life lost", (context) => paint(context, "new", true, 8, 8, 4, colour)),
    entry("principal branch", line("--branch", 3, [])),
    entry("way to the target of Explore", line("--goal", ...GOAL_LINE), "goal"),
  );
}

export class TreeView {
  constructor(canvas, onPoint) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.onPoint = onPoint;
    this.statuses = [];
    this.names = []; // of the actions
    this.clear();
    this.view = null; // null: the whole tree is fitted
    this.pointers = new Map();
    this.colour = readColours();
    new ResizeObserver(() => this.redraw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.colour = readColours(); this.redraw(); });
    this.listen();
  }

  clear() {
    this.nodes = []; // by number: {id, parent, action, depth, reward, lost, mark, children, y}
    this.branch = new Set();
    this.goal = [];
    this.decision = -1;
    this.pointed = null;
    this.laidOut = false;
  }

  update(change) {
    if (change.reset) {
      const pointedBefore = this.pointed;
      this.clear();
      if (pointedBefore !== null) this.onPoint(null);
    }
    this.decision = change.decision;
    for (const [id, parent, action, depth, reward, lost] of change.nodes) {
      this.nodes[id] = { id, parent, action, depth, reward, lost: lost > 0, mark: 0, children: [], y: 0 };
      if (parent >= 0) this.nodes[parent].children.push(id);
    }
    for (const [id, mark] of change.marks) this.nodes[id].mark = mark;
    this.branch = new Set(change.branch);
    this.laidOut = false;
    this.redraw();
  }

  // Leaves take one row each, in the order of actions; a parent stands in the middle of its children.
  layout() {
    let row = 0, deepest = 1;
    const stack = this.nodes.length ? [[0, false]] : [];
    while (stack.length) {
      const [id, done] = stack.pop();
      const node = this.nodes[id];
      deepest = Math.max(deepest, node.depth);
      if (!node.children.length) node.y = row++;
      else if (done) node.y = (this.nodes[node.children[0]].y + this.nodes[node.children.at(-1)].y) / 2;
      else {
        node.children.sort((a, b) => this.nodes[a].action - this.nodes[b].action);
        stack.push([id, true]);
        for (let i = node.children.length - 1; i >= 0; i--) stack.push([node.children[i], false]);
      }
    }
    this.rows = Math.max(1, row - 1);
    this.deepest = deepest;
    this.context.font = FONT;
    const widths = this.rootChildren().map((child) => this.context.measureText(this.names[child.action]).width);
    this.room = LEAD + Math.max(0, ...widths) + 16; // from the root to its children, whatever the zoom
    this.laidOut = true;
  }

  rootChildren() { return this.nodes.length ? this.nodes[0].children.map((id) => this.nodes[id]) : []; }

  fitted() {
    const { width, height } = this.size;
    const sx = Math.min(150, (width - 2 * MARGIN - 20 - this.room) / Math.max(1, this.deepest - 1)), sy = Math.min(34, (height - 2 * MARGIN) / this.rows);
    return { sx, sy, x: MARGIN, y: (height - sy * this.rows) / 2 };
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  place(node) { const v = this.current; return [node.depth ? v.x + this.room + (node.depth - 1) * v.sx : v.x, v.y + node.y * v.sy]; }

  // Where the names of the root's actions stand: beside their nodes, but never one upon another.
  placeNames() {
    this.named = new Map();
    const children = this.rootChildren(), wanted = children.map((child) => this.place(child)[1]), ys = [];
    for (const y of wanted) ys.push(Math.max(y, (ys.at(-1) ?? -Infinity) + LINE));
    let shift = wanted.reduce((sum, y, i) => sum + y - ys[i], 0) / Math.max(1, ys.length);
    if (!this.view) shift = Math.max(LINE / 2 - ys[0], Math.min(this.size.height - LINE / 2 - ys.at(-1), shift));
    children.forEach((child, i) => this.named.set(child.id, ys[i] + shift));
  }

  draw() {
    const box = this.canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
    this.size = { width: box.width, height: box.height };
    const [w, h] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) { this.canvas.width = w; this.canvas.height = h; }
    const context = this.context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, box.width, box.height);
    if (!this.nodes.length) return;
    if (!this.laidOut) this.layout();
    this.current = this.view || this.fitted();
    this.placeNames();
    this.drawOn(context);
    this.canvas.dataset.drawn = `${this.decision}:${this.nodes.length}`;
  }

  drawOn(context) {
    context.font = FONT;
    for (const child of this.rootChildren()) {
      context.fillStyle = this.colour[this.branch.has(child.id) ? "--ink" : "--dim"];
      context.fillText(this.names[child.action], this.current.x + LEAD, this.named.get(child.id) + 4);
    }
    const isBest = (node) => this.branch.has(node.id) && this.branch.has(node.parent);
    const edges = this.nodes.filter((node) => node.parent >= 0), goal = this.goal.slice(1).map((id) => this.nodes[id]).filter(Boolean);
    this.drawEdges(context, edges.filter((node) => !isBest(node) && !node.lost), "--edge", 1);
    this.drawEdges(context, edges.filter((node) => !isBest(node) && node.lost), "--lost", 1.2);
    this.drawEdges(context, edges.filter(isBest), "--branch", 3);
    this.drawEdges(context, goal, "--goal", ...GOAL_LINE);
    const radius = Math.max(3, Math.min(6, this.current.sy * 0.38, this.current.sx * 0.38));
    this.drawNodes(context, radius);
    if (goal.length) this.ring(context, goal.at(-1), radius + 5, "--goal");
    if (this.nodes[this.pointed]) this.ring(context, this.nodes[this.pointed], radius + 5, "--link");
  }

  drawEdges(context, nodes, colour, width, dash = []) {
    context.strokeStyle = this.colour[colour];
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    for (const node of nodes) for (const [[ax, ay], [bx, by]] of this.edge(node)) {
      context.moveTo(ax, ay);
      context.bezierCurveTo((ax + bx) / 2, ay, (ax + bx) / 2, by, bx, by);
    }
    context.stroke();
    context.setLineDash([]);
  }

  // Ends of the curves that lead to a node. To a child of the root there are two: its name is between them.
  edge(node) {
    const from = this.place(this.nodes[node.parent]), to = this.place(node);
    if (node.parent) return [[from, to]];
    const start = from[0] + LEAD, y = this.named.get(node.id), { width } = this.context.measureText(this.names[node.action]);
    return [[from, [start - 3, y]], [[start + width + 3, y], to]];
  }

  ring(context, node, radius, colour) {
    context.beginPath();
    context.arc(...this.place(node), radius, 0, 7);
    context.strokeStyle = this.colour[colour];
    context.lineWidth = 2;
    context.stroke();
  }

  // Points along the branch to a node, and to its children.
  branchPoints(id) {
    const chain = [...this.nodes[id].children];
    for (let node = id; node > 0; node = this.nodes[node].parent) chain.push(node);
    const halfway = ([ax, ay], [bx, by]) => [(ax + bx) / 2, (ay + by) / 2];
    return [this.place(this.nodes[0]), ...chain.flatMap((node) => this.edge(this.nodes[node]).flatMap(([from, to]) => [from, halfway(from, to), to]))];
  }

  svg() {
    const { width, height } = this.size, context = new SvgContext(width, height);
    context.fillStyle = this.colour["--card"];
    context.rect(0, 0, width, height);
    context.fill();
    this.drawOn(context);
    return new Blob([new XMLSerializer().serializeToString(context.svg)], { type: "image/svg+xml" });
  }

  png() {
    const canvas = document.createElement("canvas"), context = canvas.getContext("2d"), { width, height } = this.size;
    canvas.width = width * SHARPER;
    canvas.height = height * SHARPER;
    context.scale(SHARPER, SHARPER);
    context.fillStyle = this.colour["--card"];
    context.fillRect(0, 0, width, height);
    this.drawOn(context);
    return new Promise((done) => canvas.toBlob(done));
  }

  drawNodes(context, radius) {
    const { width, height } = this.size, labels = this.current.sy >= 9;
    context.font = FONT;
    for (const node of this.nodes) {
      const [x, y] = this.place(node);
      if (x < -20 || y < -20 || x > width + 20 || y > height + 20) continue;
      paint(context, this.statuses[node.mark] || "new", node.lost, x, y, node.id === 0 ? radius * 1.5 : radius, this.colour);
      if (node.reward && node.id && (labels || this.branch.has(node.id))) {
        context.fillStyle = this.colour["--ink"];
        context.fillText((node.reward > 0 ? "+" : "") + number(node.reward), node.children.length ? x - 6 : x + radius + 3, node.children.length ? y - radius - 4 : y + 4);
      }
    }
  }

  nearest(x, y) {
    let best = null, least = FAR * FAR;
    for (const node of this.nodes) {
      const [nx, ny] = this.place(node), far = (nx - x) ** 2 + (ny - y) ** 2;
      if (far < least) { least = far; best = node.id; }
    }
    return best;
  }

  point(id) {
    if (id === this.pointed) return;
    this.pointed = id;
    this.canvas.dataset.pointed = id ?? "";
    this.onPoint(id === null ? null : this.nodes[id]);
    this.redraw();
  }

  zoom(factor, x = this.size.width / 2, y = this.size.height / 2) {
    if (!this.current) return;
    const v = this.current;
    const limit = (value) => Math.max(0.05, Math.min(400, value));
    const sx = limit(v.sx * factor), sy = limit(v.sy * factor);
    this.view = { sx, sy, x: x - this.room - ((x - this.room - v.x) * sx) / v.sx, y: y - ((y - v.y) * sy) / v.sy };
    this.redraw();
  }

  fit() { this.view = null; this.redraw(); }

  listen() {
    const canvas = this.canvas;
    const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(Math.exp(-event.deltaY / 400), ...at(event)); }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); this.pointers.set(event.pointerId, at(event)); this.moved = false; });
    canvas.addEventListener("pointermove", (event) => this.move(event, at(event)));
    const up = (event) => {
      if (this.pointers.delete(event.pointerId) && !this.moved && this.current) this.point(this.nearest(...at(event)));
      canvas.classList.remove("dragging");
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && !this.pointers.size) this.point(null); });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => this.point(null));
  }

  move(event, [x, y]) {
    if (!this.current) return;
    const before = this.pointers.get(event.pointerId);
    if (!before) { this.point(this.nearest(x, y)); return; }
    if (!this.moved && Math.hypot(x - before[0], y - before[1]) < 4) return;
    this.moved = true;
    this.canvas.classList.add("dragging");
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    if (others.length === 1) {
      const [ox, oy] = others[0], was = Math.hypot(before[0] - ox, before[1] - oy), is = Math.hypot(x - ox, y - oy);
      if (was > 0) this.zoom(is / was, (x + ox) / 2, (y + oy) / 2);
    } else this.view = { ...this.current, x: this.current.x + x - before[0], y: this.current.y + y - before[1] };
    this.pointers.set(event.pointerId, [x, y]);
    this.redraw();
  }

  key(event) {
    if (!event.key.startsWith("Arrow") || !this.nodes.length) return;
    event.preventDefault();
    event.stopPropagation();
    const node = this.nodes[this.pointed ?? 0], siblings = node.parent >= 0 ? this.nodes[node.parent].children : [node.id];
    const place = siblings.indexOf(node.id);
    const next = { ArrowLeft: node.parent, ArrowRight: node.children[0], ArrowUp: siblings[place - 1], ArrowDown: siblings[place + 1] }[event.key];
    this.point(this.pointed === null ? 0 : next === undefined || next < 0 ? node.id : next);
  }
}

// So much of a canvas's context as the tree needs, drawing an SVG.
class SvgContext {
  constructor(width, height) { this.svg = svgElement("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "font-size": 11, "font-family": "system-ui, sans-serif" }); this.dash = []; }
  beginPath() { this.path = ""; }
  add(letter, ...numbers) { this.path = `${this.path ?? ""}${letter}${numbers.map((value) => Number(value.toFixed(1))).join(" ")}`; }
  moveTo(x, y) { this.add("M", x, y); }
  lineTo(x, y) { this.add("L", x, y); }
  closePath() { this.add("Z"); }
  bezierCurveTo(...numbers) { this.add("C", ...numbers); }
  rect(x, y, wide, tall) { this.add("M", x, y); this.add("h", wide); this.add("v", tall); this.add("h", -wide); this.add("Z"); }
  arc(x, y, r) { this.add("M", x - r, y); this.add("a", r, r, 0, 1, 0, 2 * r, 0); this.add("a", r, r, 0, 1, 0, -2 * r, 0); this.add("Z"); }
  setLineDash(dash) { this.dash = dash; }
  put(...parts) { this.svg.append(svgElement(...parts)); }
  fill() { this.put("path", { d: this.path, fill: this.fillStyle }); }
  stroke() { if (this.path) this.put("path", { d: this.path, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-dasharray": this.dash.join(" ") || "none" }); }
  fillText(text, x, y) { this.put("text", { x, y, fill: this.fillStyle }, text); }
}
