// The page: takes frames from the server, shows them, and sends commands.

import { TreeView, drawLegend } from "./tree.js";
import { element, fillTip, number, numbersTable, prepareActions, showActions, showExplored, showNetwork, showScreens, showTraining } from "./panels.js";

const $ = (id) => document.getElementById(id);
const state = { setup: null, control: { playing: false, speed: 2 }, moment: null, furthest: 0, scrubbing: false, linked: false, library: null, chosen: null, announced: "", saidAt: -Infinity };
const SAY_EVERY = 4000; // ms
export const tree = new TreeView($("tree"), pointAt);

async function send(command) {
  const answer = await fetch("api/command", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(command) });
  if (!answer.ok) note(await answer.text(), true);
}

function note(text, error = false) {
  $("note").hidden = !text;
  $("note").textContent = text;
  $("note").classList.toggle("error", error);
}

const show = {
  Setup(message) {
    state.setup = message;
    state.moment = null;
    state.furthest = 0;
    const { game, label, seed, calls_per_action: calls } = message, [phase, ...numbers] = message.episode.split("-");
    $("title").textContent = `${game} · ${label} · seed ${seed} · ${calls} calls a decision`;
    document.title = `${game} · ${label} · olive-iw`;
    $("mode").textContent = message.total === null ? "live" : `replay of ${phase} ${numbers.map(Number).join(", game ")}`;
    $("match").hidden = true;
    $("network").hidden = true;
    $("no-tree").hidden = message.trees;
    $("no-tree").textContent = message.why_no_trees;
    $("step-rollout").disabled = !message.trees;
    $("step-rollout").textContent = `One ${message.step}`;
    $("step-rollout").title = `Do one ${message.step} (r)`;
    $("steps-name").textContent = `${message.step}s`;
    $("explored").hidden = true;
    $("screen").style.aspectRatio = message.aspect;
    $("speed").max = message.speeds.length - 1;
    show.Control(state.control);
    tree.statuses = message.statuses;
    tree.names = message.actions;
    tree.clear();
    tree.fit();
    tree.point(null);
    drawLegend($("legend"), message.statuses, message.prunes);
    delete $("legend").dataset.goal;
    prepareActions(message.actions);
    chooseEpisode();
    note("");
    followLink();
  },
  Control(message) {
    state.control = message;
    $("play").textContent = message.playing ? "Pause" : "Play";
    if (!message.playing && state.moment) say(`Paused at decision ${state.moment.decision}.`);
    $("speed").value = message.speed;
    $("speed-title").textContent = state.setup ? state.setup.speeds[message.speed] : "";
  },
  Moment(message) {
    state.moment = message;
    state.furthest = Math.max(state.furthest, message.decision);
    const last = state.setup.total === null ? state.furthest : Math.max(0, state.setup.total - 1);
    $("decision").textContent = state.setup.total === null ? message.decision : `${Math.min(message.decision, last)} / ${last}`;
    $("score").textContent = number(message.score);
    $("lives").textContent = number(message.lives);
    const recomputing = message.stage === "recomputing";
    if (state.setup.trees && !recomputing) {
      figure("calls", number(message.calls), `+${message.calls_of_decision}`);
      figure("seconds", message.seconds.toFixed(1), `+${message.seconds_of_decision.toFixed(2)}`);
      $("rollouts").textContent = number(message.rollouts);
    } else for (const id of ["calls", "seconds", "rollouts"]) $(id).textContent = "–";
    $("nodes").textContent = state.setup.trees && !recomputing ? `${number(message.nodes)} nodes` : "";
    if (recomputing) tree.point(null);
    for (const id of ["screen", "numbers"]) $(id).classList.toggle("stale", recomputing && message.score === null);
    $("tally").textContent = tally(message);
    $("scrub").max = last;
    if (!state.scrubbing) $("scrub").value = message.decision;
    const words = { searching: "searching", decided: "decided", recomputing: "being recomputed: what is grey is of an earlier decision", over: state.setup.total === null ? "the game is over" : "end of the episode", shown: "from the recorded actions" };
    $("stage").textContent = words[message.stage];
    document.body.dataset.decision = message.decision;
    document.body.dataset.stage = message.stage;
  },
  RootScreen({ image, numbers }) {
    $("screen").hidden = !image;
    if (image) $("screen").src = image;
    $("numbers").hidden = !numbers.length;
    $("numbers").replaceChildren(...(numbers.length ? [numbersTable(numbers)] : []));
  },
  Explored(message) {
    showExplored(message, $("screen").src, state.setup.aspect);
    tree.goal = message.path;
    tree.redraw();
    $("legend").dataset.goal = "yes";
  },
  TreeChange(message) {
    tree.update(message);
    $("tree").setAttribute("aria-label", `Search tree of decision ${message.decision}: ${tree.nodes.length} nodes`);
  },
  RootActions(message) {
    showActions(message);
    state.chosen = message.chosen;
  },
  NetworkView: showNetwork,
  Match(message) {
    const chip = $("match");
    chip.hidden = message.state === "none";
    chip.textContent = message.text;
    chip.className = `chip ${message.state === "differs" ? "bad" : "good"}`;
  },
  Note(message) { note(message.text, message.error); },
  Library(message) {
    state.library = message;
    $("library").hidden = false;
    $("run-label").hidden = message.runs.length < 2;
    $("left-out").hidden = !message.left_out.length;
    $("left-out").textContent = `Left out: ${message.left_out.join("; ")}`;
    fillSelect($("run"), message.runs);
    fillSelect($("episode"), message.episodes);
    chooseEpisode();
    if (!state.setup) {
      $("title").textContent = $("run").value = message.run;
      if (message.episodes.length) send({ type: "open", run: message.run, episode: message.episodes[0].id });
      else note("no episode is finished yet; the training is shown below");
    }
  },
  Training: showTraining,
  NewestScreens: showScreens,
  Dropped(message) {
    $("dropped").hidden = !message.frames;
    $("dropped").textContent = `${number(message.frames)} frames skipped: this page is slower than the planner`;
  },
};

// What is said to those who do not see the page: each decision, but seldom while they come quickly.
function announce() {
  const { moment, setup, chosen, control } = state;
  if (!moment || !["decided", "over", "shown"].includes(moment.stage)) return;
  const made = `${setup.run}/${setup.episode}/${moment.decision}/${moment.stage}`;
  if (made === state.announced || (control.playing && moment.stage !== "over" && performance.now() - state.saidAt < SAY_EVERY)) return;
  state.announced = made;
  const what = moment.stage === "over" ? "The game is over" : `Decision ${moment.decision}${chosen === null ? "" : `: ${setup.actions[chosen]}`}`;
  say(`${what}. Score ${number(moment.score)}.`);
}

function say(text) {
  state.saidAt = performance.now();
  $("said").textContent = text;
}

// What a decision's calls came to, once it is made.
function tally({ stage, ties, calls_of_decision: calls, twins, skipped, pruned_new: pruned, unused_calls: unused }) {
  if (stage !== "decided") return "";
  const parts = [ties > 1 ? `${ties} actions tie for the greatest value` : "no tie", `${plural(twins, "call")} of ${number(calls)} led to a sibling's state, ${number(pruned)} to nothing new`];
  if (skipped) parts.push(`${plural(skipped, "likely twin")} skipped`);
  if (unused) parts.push(`${plural(unused, "call")} unused`);
  return `${parts.join("; ")}.`;
}

const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

function figure(id, value, extra) {
  $(id).replaceChildren(`${value} `, element("small", extra));
}

function fillSelect(select, choices) {
  const chosen = select.value;
  select.replaceChildren(...choices.map(({ id, title }) => Object.assign(element("option", title), { value: id })));
  select.value = chosen || (choices[0] && choices[0].id) || "";
}

function chooseEpisode() {
  if (!state.setup || !state.setup.run) return;
  $("run").value = state.setup.run;
  $("episode").value = state.setup.episode;
}

function listen() {
  const stream = new EventSource("api/stream");
  stream.onmessage = (event) => {
    if (document.body.dataset.connected !== "yes") { document.body.dataset.connected = "yes"; note(""); }
    for (const message of JSON.parse(event.data)) show[message.type](message);
    announce();
  };
  stream.onerror = () => { document.body.dataset.connected = "no"; note("The connection is lost; trying again …", true); };
}

// Links: what is shown is in the address after #.

function link() {
  const { setup, moment } = state, parts = new URLSearchParams();
  if (setup.total === null) { parts.set("game", setup.game); parts.set("label", setup.label); parts.set("seed", setup.seed); }
  else { parts.set("run", setup.run); parts.set("episode", setup.episode); }
  parts.set("decision", moment ? moment.decision : 0);
  history.replaceState(null, "", `#${parts}`);
  return location.href;
}

async function copyLink() {
  const address = link();
  try { await navigator.clipboard.writeText(address); note("The link is copied, and in the address bar."); }
  catch { note("The link is in the address bar."); }
}

// The help is shown at the first visit, until it is closed.

const HELPED = "olive-iw-viewer-helped";

function help(open) {
  $("help").hidden = !open;
  $("help-open").setAttribute("aria-expanded", String(open));
  if (!open) try { localStorage.setItem(HELPED, "yes"); } catch { /* a browser that keeps nothing */ }
}

function isFirstVisit() {
  try { return localStorage.getItem(HELPED) === null; } catch { return false; }
}

// The tree as a file.

function save(blob, kind) {
  const anchor = document.createElement("a"), { game, label } = state.setup;
  anchor.download = `${game} ${label} decision ${tree.decision}`.replace(/[^\w.]+/g, "-") + `.${kind}`;
  anchor.href = URL.createObjectURL(blob);
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
}

function followLink() {
  if (state.linked) return;
  state.linked = true;
  if (!location.hash) return;
  const parts = new URLSearchParams(location.hash.slice(1)), decision = Number.parseInt(parts.get("decision") ?? "0", 10) || 0;
  const { setup } = state;
  if (parts.has("run")) send({ type: "open", run: parts.get("run"), episode: parts.get("episode") ?? "", decision });
  else if (!parts.has("game") || (parts.get("game") === setup.game && parts.get("label") === setup.label && parts.get("seed") === String(setup.seed))) send({ type: "goto", decision });
  else note(`The link is to ${parts.get("game")}, ${parts.get("label")}, seed ${parts.get("seed")}; this viewer shows something else.`, true);
}

// Controls

function goTo(decision) {
  const last = Number($("scrub").max);
  if (state.setup && decision >= 0 && (state.setup.total === null || decision <= last)) send({ type: "goto", decision });
}
const step = (by) => state.moment && goTo(state.moment.decision + by);
const setSpeed = (level) => { if (level >= 0 && level <= Number($("speed").max)) send({ type: "speed", level }); };

$("play").onclick = () => send({ type: state.control.playing ? "pause" : "play" });
$("step-rollout").onclick = () => send({ type: "rollout" });
$("step-decision").onclick = () => send({ type: "decision" });
$("link").onclick = copyLink;
$("back").onclick = () => step(-1);
$("forth").onclick = () => step(1);
$("speed").oninput = () => setSpeed(Number($("speed").value));
$("fit").onclick = () => tree.fit();
$("zoom-in").onclick = () => tree.zoom(1.5);
$("zoom-out").onclick = () => tree.zoom(1 / 1.5);
$("save-svg").onclick = () => tree.nodes.length && save(tree.svg(), "svg");
$("save-png").onclick = () => tree.nodes.length && tree.png().then((blob) => save(blob, "png"));
$("help-open").onclick = () => help($("help").hidden);
$("help-close").onclick = () => { help(false); $("help-open").focus(); };
$("run").onchange = () => send({ type: "open", run: $("run").value, episode: "" });
$("episode").onchange = () => send({ type: "open", run: state.library.run, episode: $("episode").value });
let scrubTimer = 0;
$("scrub").oninput = () => {
  state.scrubbing = true;
  clearTimeout(scrubTimer);
  scrubTimer = setTimeout(() => { state.scrubbing = false; goTo(Number($("scrub").value)); }, 120);
};

const KEYS = {
  " ": () => $("play").click(), r: () => $("step-rollout").click(), d: () => $("step-decision").click(),
  ArrowLeft: () => step(-1), ArrowRight: () => step(1),
  "+": () => setSpeed(state.control.speed + 1), "-": () => setSpeed(state.control.speed - 1), f: () => tree.fit(), l: copyLink, h: () => $("help-open").click(),
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select")) return;
  if (event.key === " " && event.target.closest("button, summary")) return; // what has the focus takes it
  if (event.key.startsWith("Arrow") && event.target.closest("input")) return;
  const act = KEYS[event.key];
  if (act) { event.preventDefault(); act(); }
});

// The node pointed at

let asked = 0;
async function pointAt(node) {
  const ticket = ++asked, tip = $("tip");
  if (!node) { tip.hidden = true; return; }
  const answer = await fetch(`api/node?decision=${tree.decision}&node=${node.id}`);
  const details = answer.ok ? await answer.json() : null;
  if (ticket !== asked) return;
  tip.hidden = !details;
  if (!details) return;
  fillTip(tip, details, state.setup.aspect);
  if (tree.nodes[node.id]) placeTip(tip, node.id);
  else tip.hidden = true;
}

// Where the tip hides least: nothing of the branch if that is possible, in the tree's box, below it or above the node.
function placeTip(tip, id) {
  const box = $("tree-box"), [x, y] = tree.place(tree.nodes[id]), branch = tree.branchPoints(id), placed = (nodes) => nodes.map((node) => tree.place(node));
  const nodes = placed(tree.nodes), principal = placed([...tree.branch].map((each) => tree.nodes[each]).filter(Boolean));
  const { offsetWidth: wide, offsetHeight: tall } = tip, [right, bottom] = [box.clientWidth - wide - 4, box.clientHeight - tall - 4];
  const within = (value, most) => Math.max(4, Math.min(value, most));
  const lefts = [x + 18, x - 18 - wide, x - wide / 2, 4, right].map((left) => within(left, right));
  const tops = [y - 40, y + 18, y - 18 - tall, 4, bottom].map((top) => within(top, bottom));
  const below = box.clientHeight + 4, above = y - 18 - tall, { top: start } = box.getBoundingClientRect();
  const cost = ([left, top]) => {
    const hidden = (points) => points.filter(([px, py]) => px > left - 8 && px < left + wide + 8 && py > top - 8 && py < top + tall + 8).length;
    return hidden(branch) + hidden(principal) / 10 + hidden(nodes) / 100 + (top < 0 || top === below ? 0.5 : 0) + Math.max(0, start + top + tall - innerHeight, -start - top) / tall + Math.hypot(left + wide / 2 - x, top + tall / 2 - y) / 4000;
  };
  const places = lefts.flatMap((left) => [...tops, below, above].map((top) => [left, top]));
  const costs = places.map(cost), [left, top] = places[costs.indexOf(Math.min(...costs))];
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
  if (matchMedia("(pointer: coarse)").matches) tip.scrollIntoView({ block: "nearest" });
}

help(isFirstVisit());
listen();
