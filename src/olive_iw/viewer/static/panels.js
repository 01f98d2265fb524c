// The panels beside the tree: root actions, what the network sees, the training.

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

export function svgElement(tag, attributes, text = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}

export function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

export function number(value, digits = 2) {
  if (value === null || value === undefined) return "–";
  const rounded = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toFixed(digits));
  return rounded.toLocaleString("en").replace("-", "−");
}

export function prepareActions(names) {
  $("actions").replaceChildren(...names.map((name) => {
    const row = document.createElement("tr"), visits = element("td", "", "number visits");
    visits.append(document.createElement("i"), document.createElement("span"));
    row.append(element("th", name), element("td", "–", "number"), visits, element("td", "–", "number"));
    row.dataset.name = name;
    return row;
  }));
}

export function showActions(message) {
  const most = Math.max(1, ...message.visits);
  [...$("actions").rows].forEach((row, action) => {
    if (action >= message.visits.length) return;
    const chosen = message.chosen === action, recorded = message.recorded === action;
    row.className = chosen ? "chosen" : "";
    row.cells[0].textContent = row.dataset.name + (chosen ? " ●" : "") + (recorded ? " ○" : "");
    const [, value, visits, mean] = row.cells;
    value.textContent = number(message.values[action]);
    value.classList.toggle("lost", message.values[action] < 0);
    visits.firstChild.style.width = `${(100 * message.visits[action]) / most}%`;
    visits.lastChild.textContent = message.visits[action] || "–";
    mean.textContent = message.means[action] === null ? "–" : `${number(message.means[action])} ± ${number(message.deviations[action])}`;
  });
}

const heat = (level) => [40 + 200 * level, 30 + 190 * level * level, 90 + 60 * level - 90 * level * level];

// Observed numbers: [name, value, interval, whether that is new].
export function numbersTable(rows) {
  const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  const intervals = rows.some((row) => row[2]), titles = intervals ? ["", "value", "interval"] : ["", "value"];
  head.append(...titles.map((title) => element("th", title, title && "number")));
  for (const [name, value, interval, fresh] of rows) {
    const row = body.insertRow();
    row.className = fresh ? "fresh" : "";
    row.append(element("th", name), ...[value, interval].slice(0, titles.length - 1).map((text) => element("td", text, "number")));
  }
  return table;
}

// The screen in tiles: those that are seldom seen are lit; or, without a screen, a heat map.
function drawTiles(canvas, address, aspect, { rows, columns }, levels) {
  const context = canvas.getContext("2d"), image = canvas.drawing = new Image();
  canvas.width = 320;
  canvas.height = Math.round(320 / aspect);
  const [wide, tall] = [canvas.width / columns, canvas.height / rows];
  const draw = () => {
    if (canvas.drawing !== image) return;
    if (address) context.drawImage(image, 0, 0, canvas.width, canvas.height);
    levels.forEach((level, tile) => {
      context.fillStyle = address ? `rgb(0 0 0 / ${0.8 * (1 - level)})` : `rgb(${heat(level).join(" ")})`;
      context.fillRect((tile % columns) * wide, Math.floor(tile / columns) * tall, wide + 0.5, tall + 0.5);
    });
  };
  if (address) { image.onload = draw; image.src = address; } else draw();
}

export function showExplored(message, screen, aspect) {
  const { colours, path, target } = message, most = Math.log(Math.max(2, ...colours));
  $("explored").hidden = false;
  $("explored-figures").textContent = `${number(message.steps)} screens, of ${number(message.cells)} kinds`;
  drawTiles($("explored-now"), screen, aspect, message, message.rare);
  drawTiles($("explored-colours"), null, aspect, message, colours.map((count) => Math.log(Math.max(1, count)) / most));
  $("explored-target").hidden = !target;
  if (target) drawTiles($("explored-target"), target, aspect, message, message.target_rare);
  $("target-caption").textContent = target ? `target, ${path.length - 1} action${path.length === 2 ? "" : "s"} ahead` : "no target: values decide, or nothing seldom seen is known";
}

export function showNetwork(message) {
  $("network").hidden = false;
  $("network-input").src = message.input;
  $("network-reconstruction").src = message.reconstruction;
  $("network-error").src = message.error_map;
  $("network-figures").textContent = `error ${number(message.error, 1)} nats · ELBO ${number(message.elbo, 1)} nats`;
  const { side, bits, active } = message, canvas = $("network-bits"), context = canvas.getContext("2d");
  canvas.width = canvas.height = side;
  const image = context.createImageData(side, side), most = Math.max(1, ...active);
  active.forEach((count, place) => image.data.set([...heat(count / most), 255], 4 * place));
  context.putImageData(image, 0, 0);
  const total = active.reduce((sum, count) => sum + count, 0);
  $("bits-caption").textContent = `active bits: ${number(total)} of ${number(side * side * bits)}`;
}

export function showTraining(message) {
  $("training").hidden = !message.learns;
  if (!message.learns) return;
  const last = message.episodes.at(-1);
  $("training-figures").textContent = `${message.state} · ` + (last
    ? `${message.episodes.length} training episodes · ${number(last.calls_spent)} calls · ${message.evaluations.length} evaluation episodes`
    : "no training episode is finished yet");
  const trained = message.episodes.filter((event) => event.loss !== null);
  $("charts").replaceChildren(
    chart("loss per image", [["training", trained.map((event) => [event.number, event.loss]), "--new"], ["held out", trained.filter((event) => event.held_out_loss !== null).map((event) => [event.number, event.held_out_loss]), "--pruned"]]),
    chart("screens in the training set", [["screens", message.episodes.map((event) => [event.number, event.screens]), "--solved"]]),
    chart("score of the training episodes", [["score", message.episodes.map((event) => [event.number, event.score]), "--limit"]]),
  );
}

function chart(title, lines) {
  const svg = svgElement("svg", { viewBox: "0 0 300 130", role: "img", "aria-label": title });
  const put = (...parts) => svg.append(svgElement(...parts));
  const points = lines.flatMap(([, values]) => values);
  put("text", { x: 0, y: 11, "font-size": 11, fill: "currentColor" }, title);
  if (!points.length) { put("text", { x: 0, y: 70, "font-size": 11, fill: "var(--dim)" }, "nothing yet"); return svg; }
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(0, ...ys), Math.max(...ys)];
  const x = (value) => 44 + (right > left ? (240 * (value - left)) / (right - left) : 120);
  const y = (value) => 112 - (high > low ? (84 * (value - low)) / (high - low) : 42);
  for (const value of new Set([low, high])) {
    put("line", { x1: 44, x2: 292, y1: y(value), y2: y(value), stroke: "var(--line)" });
    put("text", { x: 38, y: y(value) + 4, "font-size": 10, "text-anchor": "end", fill: "var(--dim)" }, number(value, 1));
  }
  put("text", { x: 44, y: 127, "font-size": 10, fill: "var(--dim)" }, `episode ${left}`);
  if (right > left) put("text", { x: 292, y: 127, "font-size": 10, "text-anchor": "end", fill: "var(--dim)" }, String(right));
  lines.forEach(([name, values, colour], place) => {
    put("polyline", { points: values.map(([a, b]) => `${x(a)},${y(b)}`).join(" "), fill: "none", stroke: `var(${colour})`, "stroke-width": 2 });
    for (const [a, b] of values) put("circle", { cx: x(a), cy: y(b), r: 2.4, fill: `var(${colour})` });
    if (lines.length > 1) put("text", { x: 292, y: 11 + 12 * place, "font-size": 10, "text-anchor": "end", fill: `var(${colour})` }, name);
  });
  return svg;
}

export function showScreens(message) {
  $("newest-title").textContent = message.count
    ? `${number(message.count)} screens in the training set; ${message.ordered ? "the newest" : "some of them"}, with their ELBO in nats`
    : "";
  $("newest").replaceChildren(...message.images.map((address, place) => {
    const figure = document.createElement("figure"), image = document.createElement("img");
    image.src = address;
    image.alt = "A screen of the training set";
    figure.append(image, element("figcaption", message.elbos.length ? number(message.elbos[place], 0) : ""));
    return figure;
  }));
}

const MOST_NUMBERS = 6; // of a node pointed at

// Details of a node, with the places of its new atoms marked on its screen.
export function fillTip(box, details, aspect) {
  const canvas = document.createElement("canvas"), image = new Image();
  canvas.style.aspectRatio = aspect;
  image.onload = () => {
    canvas.width = 480;
    canvas.height = Math.round(480 / aspect);
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    context.strokeStyle = "#ffd23f";
    context.lineWidth = 3;
    if (details.new_cells.length < 200) for (const [left, top, wide, tall] of details.new_cells) context.strokeRect(left * canvas.width + 1, top * canvas.height + 1, wide * canvas.width - 2, tall * canvas.height - 2);
  };
  if (details.screen) image.src = details.screen;
  const line = (text) => element("p", text);
  const facts = [`depth ${details.depth}`, details.action, `reward ${number(details.reward)}`];
  if (details.lives || details.life_lost) facts.push(details.life_lost ? `life lost, ${details.lives} left` : `${details.lives} lives`);
  const words = document.createElement("ul");
  words.append(...details.new_words.map((text) => element("li", text)));
  if (details.new_words.length && details.new > details.new_words.length) words.append(element("li", `… and ${number(details.new - details.new_words.length)} more`));
  const why = line(details.why);
  why.className = "why";
  const many = details.numbers.length > MOST_NUMBERS, numbers = many ? details.numbers.toSorted((a, b) => b[3] - a[3]) : details.numbers;
  const parts = [line(facts.filter(Boolean).join(" · ")), why, line(details.news), words];
  if (details.screen) parts.unshift(canvas);
  if (numbers.length) parts.push(numbersTable(numbers.slice(0, MOST_NUMBERS)));
  if (many) parts.push(line("… and more"));
  box.replaceChildren(...parts);
}
