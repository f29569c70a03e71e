/* SPDX-License-Identifier: BSD-2-Clause */
/* The playground: a page around the library. The engine runs in workers, so that the page never waits for it;
 * all numbers come from it. This file knows how things look, and the stories; it knows no policy, no law, no
 * default. */
"use strict";

/* ---- in a worker: the library ---- */

/* The text of this function is the worker, so that the page works from file:// too. */
function engineWorker() {
    const decoder = new TextDecoder(), encoder = new TextEncoder();
    let module, instance, out = "", told = [], route = null, dead = true;
    let servers = [], classes = false;

    const bytes = () => new Uint8Array(instance.exports.memory.buffer);
    const view = () => new DataView(instance.exports.memory.buffer);
    const text = (at, size) => decoder.decode(bytes().subarray(at, at + size));

    /* A server as the policy of the page sees it. */
    class Server {
        constructor(index) { this.index = index; }
        get queue() { return instance.exports.yours_queue(this.index); }
        get own() { return instance.exports.yours_own(this.index); }
        get speed() { return instance.exports.yours_weight(this.index); }
    }
    const rng = () => instance.exports.yours_random();
    rng.below = n => Math.floor(instance.exports.yours_random() * n);

    function askRoute(count, rank) {
        if (servers.length !== count)
            servers = Array.from({length: count}, (_, i) => new Server(i));
        const server = route(servers, {urgent: classes && rank === 0}, rng);
        if (!Number.isInteger(server) || server < 0 || server >= count)
            throw new RangeError(
                `route returned ${String(server)}; it must return a whole number from 0 to ${count - 1}`);
        return server;
    }

    const page = {
        print: (at, size) => { out += text(at, size); },
        tell: (at, size) => { told.push(text(at, size)); },
        progress: part => self.postMessage({progress: part}),
        route: askRoute,
    };
    const BAD_FILE = 8;
    const system = {
        clock_time_get(id, precision, at) {
            view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
            return 0;
        },
        fd_write(file, list, count, written) { /* the last words of an abort */
                                               let words = "", size = 0;
                                               for (let i = 0; i < count; i++) {
                                                   const length = view().getUint32(list + 8 * i + 4, true);
                                                   words +=
                                                       text(view().getUint32(list + 8 * i, true), length);
                                                   size += length;
                                               }
                                               view().setUint32(written, size, true);
                                               told.push(words.trim());
                                               return 0;
        },
        environ_sizes_get(count, size) {
            view().setUint32(count, 0, true);
            view().setUint32(size, 0, true);
            return 0;
        },
        environ_get: () => 0,
        proc_exit: status => { throw new Error(`the engine has ended with ${status}`); },
    };

    function instantiate() {
        const wasi = new Proxy(system, {get: (target, name) => target[name] || (() => BAD_FILE)});
        const imports = {page, wasi_snapshot_preview1: {}};
        for (const wanted of WebAssembly.Module.imports(module))
            if (wanted.module === "wasi_snapshot_preview1")
                imports.wasi_snapshot_preview1[wanted.name] = wasi[wanted.name];
        instance = new WebAssembly.Instance(module, imports);
        instance.exports._initialize();
        dead = false;
    }

    function words(list) {
        const data = encoder.encode(list.join("\0") + "\0");
        bytes().set(data, instance.exports.words(data.length) >>> 0);
        return list.length;
    }

    function takeRoute(source) {
        route = source ? new Function(`"use strict";\n${source}\n;return route;`)() : null;
        if (source && typeof route !== "function")
            throw new TypeError("there is no function route(servers, job, rng)");
    }

    const answer = () => {
        const result = {text: out, told};
        out = "";
        told = [];
        return result;
    };

    function open({args, keep, source}) {
        takeRoute(source);
        const goesOn = keep && !dead;
        if (dead)
            instantiate();
        const status = instance.exports.open(words(args), goesOn ? 1 : 0);
        const result = answer();
        if (status === 0)
            classes = JSON.parse(result.text).classes;
        return {status, ...result, count: status === 0 ? JSON.parse(result.text).servers : 0};
    }

    function takeEvents(into) {
        const count = instance.exports.event_count(), at = instance.exports.events() >>> 0, data = view();
        for (let i = 0; i < count; i++) {
            const e = at + 32 * i;
            into.push({
                time: data.getFloat64(e, true),
                view: data.getUint32(e + 8, true),
                kind: data.getUint32(e + 12, true),
                from: data.getUint32(e + 16, true),
                to: data.getUint32(e + 20, true),
                rank: data.getUint32(e + 24, true),
                lasts: data.getUint32(e + 28, true)
            });
        }
    }

    function picture(views, count) {
        const size = 8 * count, all = new Uint8Array(size * views);
        for (let v = 0; v < views; v++) {
            const at = instance.exports.servers(v) >>> 0;
            all.set(bytes().subarray(at, at + size), size * v);
        }
        return all;
    }

    /* So many moments, at each of which one or more events take place; or as many as the time allows. */
    function advance({moments, milliseconds, noted, measure, views, count, until}) {
        const exports = instance.exports, begin = performance.now(), events = [];
        let done = 0;
        for (let m = 0; m < moments && performance.now() - begin < milliseconds; m++) {
            if (until !== undefined) {
                done += exports.advance(1e9, until, 0);
                break;
            } else if (moments < 1e6)
                done += exports.advance(1e6, exports.next(), noted ? 1 : 0);
            else
                done += exports.advance(2000, Infinity, 0);
            if (noted)
                takeEvents(events);
        }
        let measured = null;
        if (measure) {
            exports.measure();
            measured = JSON.parse(answer().text);
        }
        return {done, events, now: exports.now(), picture: picture(views, count), measured};
    }

    function compare({args, source}) {
        takeRoute(source);
        if (dead)
            instantiate();
        const begin = performance.now(), status = instance.exports.compare(words(args));
        return {status, ...answer(), seconds: (performance.now() - begin) / 1000};
    }

    function tables() {
        if (dead)
            instantiate();
        instance.exports.tables();
        return {tables: JSON.parse(answer().text)};
    }

    const calls = {
        open,
        advance,
        compare,
        tables,
        init: ({compiled}) => {
            module = compiled;
            return {};
        }
    };
    self.onmessage = ({data}) => {
        try {
            self.postMessage({id: data.id, ...calls[data.call](data)});
        } catch (error) { /* of the page's policy, or of our own: what the engine was doing is lost */
            dead = true;
            out = "";
            const words = told.splice(0).join(" ");
            self.postMessage({id: data.id, error: words || (error && error.message) || String(error)});
        }
    };
}

/* ---- on the page ---- */

(function() {
const $ = id => document.getElementById(id);
const make = (tag, properties = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(properties))
        if (key.startsWith("aria-") || key === "scope" || key === "role" || key === "for")
            element.setAttribute(key, value);
        else
            element[key] = value;
    element.append(...children);
    return element;
};
const reduced = matchMedia("(prefers-reduced-motion: reduce)");

/* -- talking to workers -- */

class Engine {
    constructor(compiled, onProgress) {
        this.compiled = compiled;
        this.onProgress = onProgress;
        this.number = 0;
        this.start();
    }
    start() {
        const source = `(${engineWorker.toString()})();`;
        this.address = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
        this.worker = new Worker(this.address);
        this.waiting = new Map();
        this.worker.onmessage = ({data}) => {
            if (data.id === undefined)
                return this.onProgress && this.onProgress(data.progress);
            const {resolve, timer} = this.waiting.get(data.id);
            clearTimeout(timer);
            this.waiting.delete(data.id);
            resolve(data);
        };
        this.worker.onerror = event => this.end(event.message || "the worker has failed");
        this.call("init", {compiled: this.compiled});
    }
    /* Ends what it is doing; callers that wait get the reason. */
    end(why) {
        this.worker.terminate();
        URL.revokeObjectURL(this.address);
        for (const {resolve, timer} of this.waiting.values()) {
            clearTimeout(timer);
            resolve({error: why});
        }
        this.waiting = new Map();
    }
    /* limit: milliseconds after which an answer is not waited for any longer, and the worker is ended. */
    call(call, rest = {}, limit = 0) {
        const id = ++this.number;
        return new Promise(resolve => {
            const timer = limit ? setTimeout(() => {
                this.end(`route has not answered for ${
                    limit / 1000} seconds, and was stopped: is there an endless loop?`);
                this.start();
            }, limit) : 0;
            this.waiting.set(id, {resolve, timer});
            this.worker.postMessage({id, call, ...rest});
        });
    }
}

async function loadModule() {
    if (location.protocol !== "file:") {
        const answer = await fetch("ballast.wasm");
        if (!answer.ok)
            throw new Error(`ballast.wasm: ${answer.status} ${answer.statusText}`);
        return WebAssembly.compile(await answer.arrayBuffer());
    }
    await new Promise((resolve, reject) => {
        document.head.append(make("script", {
            src: "ballast.wasm.js",
            onload: resolve,
            onerror: () => reject(new Error("ballast.wasm.js cannot be read"))
        }));
    });
    return WebAssembly.compile(Uint8Array.from(atob(self.ballastBytes), c => c.charCodeAt(0)));
}

/* -- the stories -- */

const PRESETS = [
    {
        id: "random",
        title: "Why random is bad",
        paper: "classic",
        story:
            "Random needs no knowledge, and that is its price: some servers have five jobs while others " +
                "stand idle. " +
                "The shortest queue never does that, and its jobs take a seventh of the time at the same " +
                "load. " +
                "But it asks all 20 servers for every single job: 40 messages.",
        settings: {servers: "20", load: "0.9"},
        policies: ["random", "jsq"]
    },
    {
        id: "two-choices",
        title: "Two choices",
        paper: "power of d choices (Mitzenmacher; Vvedenskaya et al. 1996)",
        story: "Ask two random servers and take the shorter queue: a thin line shows each question. " +
                   "With two instead of one, long queues all but vanish: the curve below falls doubly " +
                   "exponentially. " +
                   "A third choice helps far less than the second one did.",
        settings: {servers: "50", load: "0.9"},
        policies: ["random", "pod:d=2", "pod:d=3"]
    },
    {
        id: "jiq",
        title: "Why jiq does not wait",
        paper: "pull: bounded memory",
        story: "With jiq servers speak first: one that runs out of work sends a token, the green dot, and " +
                   "the next job goes there. " +
                   "While there is a token no job waits, for one message a job instead of four. " +
                   "rcpb remembers a single token of 50: see how much a little memory is worth.",
        settings: {servers: "50", load: "0.8"},
        policies: ["pod:d=2", "jiq", "rcpb"]
    },
    {
        id: "dispatchers",
        title: "Several dispatchers",
        paper: "idle tokens between load balancers",
        story:
            "Ten load balancers stand in front of 20 servers, and each counts only the jobs that it has " +
                "sent itself. " +
                "So least-conn piles jobs where others have sent theirs; alone it would " +
                "be nearly the best. " +
                "jiq:else=hold waits for a token, which is true whichever dispatcher sends it: a third of the response " +
                "time, for 24 messages a job.",
        settings: {servers: "20", load: "0.9", dispatchers: "10"},
        policies: ["least-conn", "jiq:else=hold"]
    },
    {
        id: "fail-fast",
        title: "The fail-fast server",
        paper: "fail-fast servers",
        story: "The last server, with the red foot, answers every job at once, and wrongly. " +
                   "It always looks idle, so policies that look for idle servers send it a fifth of all " +
                   "jobs; random loses only one in 20. " +
                   "Switch ejection on below: a server that fails three times in a row is left alone for a while.",
        settings: {servers: "20", load: "0.9", "fail-fast": "0.05,0.01"},
        policies: ["least-conn", "jiq", "random"]
    },
    {
        id: "holding",
        title: "Holding jobs",
        paper: "pull",
        story:
            "When no server is idle jiq must guess, and a job that guessed wrong waits behind others while a " +
                "server elsewhere runs dry. " +
                "jiq:else=hold keeps such jobs at the dispatcher, the stack at the top, until a token " +
                "comes. " +
                "That is one common queue, which nothing can beat that does not know sizes.",
        settings: {servers: "10", load: "0.9"},
        policies: ["jiq", "jiq:else=hold", "jsq"]
    },
    {
        id: "tabs",
        title: "TABS at night",
        paper: "tabs: token-based autoscaling",
        story: "The load goes up and down like day and night, between 0.08 and 0.72. " +
                   "Under tabs idle servers switch themselves off after a while, and a job that finds no " +
                   "idle server starts one: " +
                   "grey is off, violet is starting. Look at the watts: a fifth less, for a tenth more " +
                   "response time.",
        settings: {servers: "40", load: "0.4", curve: "sine(0.8,400)"},
        policies: ["tabs:mu=0.1,nu=0.1", "jiq"],
        speed: 72
    },
    {
        id: "stealing",
        title: "Stealing",
        paper: "stealing: work stealing",
        story:
            "A server that runs out of work asks a random other one, and takes half of what waits there. " +
                "Even random becomes good: three times as fast as without, for half a message a job. " +
                "Set steal to none below and watch the queues come back.",
        settings: {servers: "20", load: "0.9", steal: "half"},
        policies: ["random", "pod:d=2"]
    },
    {
        id: "pi",
        title: "Slow and fast servers",
        paper: "pi: Persistent-Idle",
        story:
            "Four of these 20 servers are ten times as fast, and the policies do not know which ones. " +
                "Two choices drown the slow ones, and jiq guesses when no server is idle. Persistent-Idle " +
                "keeps sending to the last server " +
                "that was idle, which is mostly a fast one: it is stable wherever any policy is, and " +
                "sends fewer messages.",
        settings: {servers: "16x1,4x10", load: "0.8", weights: "none"},
        policies: ["pi", "jiq", "pod:d=2"]
    },
    {
        id: "urgent",
        title: "Urgent jobs first",
        paper: "priority: power of d choices with priorities",
        story:
            "Three jobs in ten are urgent, the red ones. Under pod-sep servers let them interrupt others; " +
                "pod-ssp sends them to the server with the fewest urgent jobs, and moves a job that is in " +
                "their way. " +
                "Urgent jobs hardly wait then; the others pay for it, and the mean over all stays as it was.",
        settings: {servers: "20", load: "0.9", high: "0.3"},
        policies: ["pod:d=2", "pod-sep:d=2", "pod-ssp"]
    },
];

const EXAMPLE = `// The shorter of two random servers: pod:d=2 in JavaScript.
function route(servers, job, rng) {
    const a = rng.below(servers.length);
    const b = rng.below(servers.length);
    return servers[a].queue <= servers[b].queue ? a : b;
}
`;

/* Settings that have a place of their own; their help comes from the tables. */
const FRONT = [
    {name: "servers", label: "Servers"},
    {
        name: "service",
        label: "Sizes of jobs",
        choices: ["exp", "det", "erlang(4)", "hyper(4)", "lognormal(4)", "pareto(2.5)"]
    },
    {name: "dispatchers", label: "Dispatchers"},
    {name: "delay", label: "Delay of messages", choices: ["none", "0.05", "exp(0.1)", "0.5"]},
    {name: "fail-fast", label: "Failing servers", choices: ["none", "0.05,0.01", "0.1,0.05"]},
    {name: "ejection", label: "Ejection"},
    {name: "churn", label: "Servers come and go", choices: ["none", "100,10", "30,10"]},
    {name: "high", label: "Urgent jobs", choices: ["none", "0.1", "0.3", "0.5"]},
    {name: "steal", label: "Stealing", choices: ["none", "one", "half"]},
    {name: "standby", label: "Standby", choices: ["", "2", "10", "det(10)"]},
    {name: "setup", label: "Set-up", choices: ["", "2", "10", "det(10)"]},
    {name: "slots", label: "Slots of a server"},
];
/* What belongs to runs and to slotted time is not for the picture. */
const NOT_SHOWN = new Set(["slotted", "batch", "split", "placement", "tasks", "patience", "failures"]);

const KIND = {
    ARRIVAL: 0,
    PROBE: 1,
    SEND: 2,
    HOLD: 3,
    COMPLETE: 4,
    TOKEN: 5,
    REPORT: 6,
    WAKE: 7,
    MOVE: 8,
    FAILURE: 9,
    POWER: 10
};
const POWER = ["on", "off", "in set-up", "down"];
const MAP_FROM = 150; /* servers: from here on a map of colours */
const VIEWS = 3;

/* -- the state of the page -- */

const state = {
    tables: null,
    settings: {},
    policies: [],
    preset: "random",
    speed: 45,
    playing: false,
    source: EXAMPLE,
    opened: null,
    now: 0,
    picture: null,
    measured: null,
    flights: [],
    air: [],
    log: [],
    busy: 0,
    due: 0,
    frames: [],
    seed: "1",
};
let engine, meter = null, compiled;
const canvases = [];

const usesYours = () => state.policies.includes("./yours");
const defaults = () => Object.fromEntries(state.tables.settings.map(s => [s.name, s.default]));
const setting = name => state.tables.settings.find(s => s.name === name);

function args(extra = []) {
    const words = ["compare"];
    for (const s of state.tables.settings) {
        const value = state.settings[s.name];
        if (value === undefined || value === "" || value === s.default)
            continue;
        if (s.flag) {
            if (value === "yes")
                words.push("--" + s.name);
        } else
            words.push("--" + s.name, value);
    }
    for (const policy of state.policies)
        words.push("--policy", policy);
    if (state.seed !== "1")
        words.push("--seed", state.seed);
    return words.concat(extra);
}
const quoted = word => /^[\w.,:=%+\-/]+$/.test(word) ? word : `'${word}'`;
const PRECISE = ["--precision", "0.01"];
const commandText = () => ["ballast", ...args(PRECISE)].map(quoted).join(" ");

/* Speed: moments in a second, from 1 at 0 to 10000 at 99; 100: as fast as it goes. */
const perSecond = () => state.speed >= 100 ? Infinity : Math.pow(10, state.speed / 99 * 4);
const isAnimated = () =>
    perSecond() <= 300 && state.opened && state.opened.servers < MAP_FROM && !reduced.matches;

/* -- settings in the address -- */

function writeAddress() {
    const query = new URLSearchParams();
    if (state.preset)
        query.set("story", state.preset);
    for (const [name, value] of Object.entries(state.settings))
        if (value !== setting(name).default)
            query.append(name, value);
    for (const policy of state.policies)
        query.append("policy", policy);
    query.set("speed", state.speed);
    if (state.seed !== "1")
        query.set("seed", state.seed);
    if (usesYours())
        query.set("route", state.source);
    history.replaceState(null, "", "#" + query);
    $("command").textContent = usesYours() ? "your own policy runs on this page alone" : commandText();
    $("copy").disabled = usesYours();
}

function readAddress() {
    const query = new URLSearchParams(location.hash.slice(1));
    if (!query.size && !location.hash)
        return false;
    const preset = PRESETS.find(p => p.id === query.get("story"));
    state.preset = "";
    if (preset)
        takePreset(preset);
    const given = state.tables.settings.filter(s => query.has(s.name));
    if (given.length || query.has("policy")) {
        state.settings = defaults();
        for (const s of given)
            state.settings[s.name] = query.get(s.name);
    }
    if (query.has("policy"))
        state.policies = query.getAll("policy").slice(0, VIEWS);
    if (query.has("speed"))
        state.speed = Math.min(100, Math.max(0, Number(query.get("speed")) || 0));
    if (/^\d{1,15}$/.test(query.get("seed") || ""))
        state.seed = query.get("seed");
    if (query.has("route"))
        state.source = query.get("route");
    return state.policies.length > 0;
}

function takePreset(preset) {
    state.preset = preset.id;
    state.settings = {...defaults(), ...preset.settings};
    state.policies = preset.policies.slice();
    state.speed = preset.speed || 45;
}

/* -- opening -- */

function showError(text) {
    $("error").hidden = !text;
    $("error").textContent = text || "";
}

/* The engine is asked one thing after the other; `busy` tells how many. */
let last = Promise.resolve();
function inTurn(task) {
    state.busy++;
    last = last.then(task).finally(() => { state.busy--; });
    return last;
}

/* keep: the queues that are there stay. */
const open = keep => inTurn(() => openNow(keep));
const advance = (moments, measure, until) => inTurn(() => advanceNow(moments, measure, until));

async function openNow(keep) {
    const answer = await engine.call("open", {args: args(), keep, source: usesYours() ? state.source : null},
                                     usesYours() ? 3000 : 0);
    if (answer.error || answer.status !== 0) {
        const text = answer.error || answer.told.join(" ") || "this cannot be shown";
        if (answer.error && usesYours())
            codeFailed(text);
        showError(text);
        return false;
    }
    showError("");
    $("code-error").textContent = "";
    state.opened = JSON.parse(answer.text);
    state.flights = [];
    state.air = state.opened.views.map(() => new Map());
    state.log = [];
    state.measured = null;
    buildViews();
    writeAddress();
    await advanceNow(0, true);
    $("legend").replaceChildren(...legend());
    return true;
}

function codeFailed(text) {
    pause();
    $("code-error").textContent = text;
    state.opened = null;
}

/* So many moments, or up to a time. */
async function advanceNow(moments, measure, until) {
    if (!state.opened)
        return;
    const noted = moments < BEFORE && perSecond() <= 300;
    const answer = await engine.call("advance", {
        moments,
        milliseconds: moments >= 1e6       ? 11
                      : moments === BEFORE ? 1000
                                           : 40,
        noted,
        measure,
        until,
        views: state.opened.views.length,
        count: state.opened.servers
    },
                                     usesYours() ? 3000 : 0);
    if (answer.error) {
        if (usesYours())
            codeFailed(answer.error);
        pause();
        showError(answer.error);
        return;
    }
    state.now = answer.now;
    state.picture = answer.picture;
    state.done = (state.done || 0) + answer.done;
    takeEvents(answer.events);
    if (answer.measured) {
        state.measured = answer.measured;
        showMeasured();
    }
}

/* -- what is seen -- */

const serverAt = (v, i) => {
    const at = (v * state.opened.servers + i) * 8, p = state.picture;
    return {
        length: p[at] | p[at + 1] << 8,
        urgent: p[at + 2] | p[at + 3] << 8,
        running: p[at + 4] | p[at + 5] << 8,
        power: p[at + 6],
        marks: p[at + 7]
    };
};

function takeEvents(events) {
    const now = performance.now(), span = Math.max(140, Math.min(850, 1000 / perSecond()));
    for (const e of events) {
        state.log.push(e);
        if (!isAnimated())
            continue;
        const flight = {...e, begin: now, span: e.kind === KIND.PROBE ? span * 0.7 : span};
        if (e.kind === KIND.ARRIVAL) {
            flight.span = span * 0.35;
        } else if (e.kind === KIND.SEND) {
            flight.begin += span * 0.35;
            const air = state.air[e.view];
            air.set(e.to, (air.get(e.to) || 0) + 1);
            flight.lands = true;
        }
        if (state.flights.length < 600)
            state.flights.push(flight);
        else if (flight.lands)
            land(flight);
    }
    if (state.log.length > 200)
        state.log.splice(0, state.log.length - 200);
}

function land(flight) {
    const air = state.air[flight.view];
    if (!flight.lands || !air)
        return;
    flight.lands = false;
    const left = (air.get(flight.to) || 1) - 1;
    if (left > 0)
        air.set(flight.to, left);
    else
        air.delete(flight.to);
}

let colour = {};
function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "soft", "line", "card", "service", "waiting", "urgent", "token", "probe",
                        "setup", "off", "bad", "view0", "view1", "view2", "view3"])
        colour[name] = style.getPropertyValue("--" + name).trim();
}

function sized(canvas) {
    const ratio = devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    const width = Math.round(box.width * ratio), height = Math.round(box.height * ratio);
    if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, box.width, box.height);
    return {pen, width: box.width, height: box.height};
}

/* Where things are in a picture of columns. */
function layoutOf(width, height) {
    const n = state.opened.servers, m = state.opened.dispatchers, side = 8;
    const step = (width - 2 * side) / n, top = 34, floor = height - 16;
    return {
        n,
        step,
        top,
        floor,
        box: Math.max(1, Math.min(step * 0.8, 26)),
        job: Math.max(3, Math.min(15, step * 0.62)),
        x: i => side + step * (i + 0.5),
        dispatcher: d => width * (d + 1) / (m + 1),
        m,
        width,
        height
    };
}

function drawColumns(pen, v, at) {
    const air = state.air[v], job = at.job, gap = at.job > 5 ? 1.5 : 0.5,
          most = Math.floor((at.floor - at.top - 18) / (job + gap));
    for (let i = 0; i < at.n; i++) {
        const s = serverAt(v, i), x = at.x(i) - at.box / 2;
        drawFoot(pen, s, x, at);
        const there = Math.max(0, s.length - (air.get(i) || 0)), shown = Math.min(there, most);
        for (let k = 0; k < shown; k++) {
            const serves = k < s.running,
                  urgent = serves ? s.marks & 4 : k - s.running < s.urgent - (s.marks & 4 ? 1 : 0);
            pen.fillStyle = urgent ? colour.urgent : serves ? colour.service : colour.waiting;
            pen.fillRect(x, at.floor - (k + 1) * (job + gap), at.box, job);
            if (urgent && serves && job > 7) {
                pen.fillStyle = colour.card;
                pen.fillRect(x + at.box / 2 - 1.5, at.floor - (k + 1) * (job + gap) + job / 2 - 1.5, 3, 3);
            }
        }
        if (there > shown) {
            pen.fillStyle = colour.ink;
            pen.font = "11px system-ui";
            pen.textAlign = "center";
            pen.fillText("+" + (there - shown), at.x(i), at.top + 24);
        }
    }
}

function drawFoot(pen, s, x, at) {
    const y = at.floor + 3, height = 7;
    pen.lineWidth = 1;
    if (s.power === 0) {
        pen.fillStyle = s.marks & 2 ? colour.bad : s.length ? colour.soft : colour.token;
        pen.fillRect(x, y, at.box, height);
    } else if (s.power === 2) {
        pen.strokeStyle = colour.setup;
        pen.setLineDash([3, 2]);
        pen.strokeRect(x + 0.5, y - 14.5, at.box - 1, 13);
        pen.setLineDash([]);
        pen.fillStyle = colour.setup;
        pen.fillRect(x, y, at.box, height);
    } else {
        pen.fillStyle = s.power === 3 ? colour.bad : colour.off;
        pen.fillRect(x, y + 3, at.box, height - 3);
    }
}

function drawDispatchers(pen, v, at) {
    const held = state.measured && state.measured.views[v] ? state.measured.views[v].held : 0;
    for (let d = 0; d < at.m; d++) {
        pen.fillStyle = colour.ink;
        pen.beginPath();
        pen.arc(at.dispatcher(d), 16, at.m > 30 ? 3 : 7, 0, 7);
        pen.fill();
    }
    if (held > 0) { /* jobs that are held by dispatchers */
        const shown = Math.min(held, 30), left = at.m > 1 ? 8 : at.dispatcher(0) + 14;
        pen.fillStyle = colour.waiting;
        for (let k = 0; k < shown; k++)
            pen.fillRect(left + k * 7, at.m > 1 ? 2 : 11, 5, 10);
        pen.fillStyle = colour.soft;
        pen.font = "12px system-ui";
        pen.textAlign = "left";
        pen.fillText(held + " held", left + shown * 7 + 4, at.m > 1 ? 11 : 20);
    }
}

const ease = t => t < 0.5 ? 2 * t * t : 1 - 2 * (1 - t) * (1 - t);

function heightOf(v, i, at) {
    const s = serverAt(v, i), gap = at.job > 5 ? 1.5 : 0.5;
    return at.floor - Math.min(Math.max(0, s.length - 1), 40) * (at.job + gap) - at.job / 2;
}

function drawFlight(pen, flight, at, t) {
    const dot = (x, y, radius, fill) => {
        pen.fillStyle = fill;
        pen.beginPath();
        pen.arc(x, y, radius, 0, 7);
        pen.fill();
    };
    const between = (a, b) => a + (b - a) * ease(t);
    const urgent = flight.rank === 0 && state.opened.classes;
    const job = urgent ? colour.urgent : colour.waiting;
    if (flight.kind === KIND.ARRIVAL) {
        dot(at.dispatcher(flight.from), -4 + 20 * t, Math.max(3.5, at.job / 2.6), job);
    } else if (flight.kind === KIND.SEND) {
        dot(between(at.dispatcher(flight.from), at.x(flight.to)),
            between(16, Math.max(at.top, heightOf(flight.view, flight.to, at))), Math.max(3.5, at.job / 2.4),
            job);
    } else if (flight.kind === KIND.PROBE) {
        pen.globalAlpha = 1 - t;
        pen.strokeStyle = colour.probe;
        pen.lineWidth = 1.5;
        pen.beginPath();
        pen.moveTo(at.dispatcher(flight.from), 16);
        pen.lineTo(at.x(flight.to), Math.max(at.top, heightOf(flight.view, flight.to, at)));
        pen.stroke();
        pen.globalAlpha = 1;
    } else if (flight.kind === KIND.TOKEN || flight.kind === KIND.REPORT) {
        dot(between(at.x(flight.from), at.dispatcher(flight.to)), between(at.floor, 16),
            flight.kind === KIND.TOKEN ? 4 : 2.5, flight.kind === KIND.TOKEN ? colour.token : colour.off);
    } else if (flight.kind === KIND.WAKE) {
        dot(between(at.dispatcher(flight.from), at.x(flight.to)), between(16, at.floor), 4, colour.setup);
    } else if (flight.kind === KIND.MOVE) {
        const x = between(at.x(flight.from), at.x(flight.to));
        dot(x, at.floor - 30 - 60 * Math.sin(Math.PI * t), Math.max(3.5, at.job / 2.4), colour.waiting);
    } else if (flight.kind === KIND.COMPLETE) {
        pen.globalAlpha = 1 - t;
        pen.fillStyle = urgent ? colour.urgent : colour.service;
        pen.fillRect(at.x(flight.from) - at.box / 2, at.floor + 3 + 9 * t, at.box, at.job * (1 - 0.5 * t));
        pen.globalAlpha = 1;
    } else if (flight.kind === KIND.FAILURE) {
        pen.globalAlpha = 1 - t;
        pen.strokeStyle = colour.bad;
        pen.lineWidth = 2.5;
        const x = at.x(flight.from), y = at.floor - 12 - 30 * t;
        pen.beginPath();
        pen.moveTo(x - 5, y - 5);
        pen.lineTo(x + 5, y + 5);
        pen.moveTo(x + 5, y - 5);
        pen.lineTo(x - 5, y + 5);
        pen.stroke();
        pen.globalAlpha = 1;
    }
}

/* Many servers: a cell each, in the order of the fleet. */
const heat = length =>
    length === 0   ? colour.line
    : length === 1 ? colour.service
                   : `hsl(${Math.max(0, 42 - 6 * (length - 2))} 90% ${Math.max(30, 58 - 3 * (length - 2))}%)`;
function drawMap(pen, v, width, height) {
    const n = state.opened.servers;
    const columns = Math.ceil(Math.sqrt(n * width / height)), rows = Math.ceil(n / columns);
    const w = width / columns, h = height / rows, gap = Math.min(w, h) > 5 ? 1 : 0.3;
    for (let i = 0; i < n; i++) {
        const s = serverAt(v, i);
        pen.fillStyle = s.power === 1   ? colour.off
                        : s.power === 2 ? colour.setup
                        : s.power === 3 ? colour.bad
                                        : heat(s.length);
        pen.fillRect(i % columns * w, Math.floor(i / columns) * h, w - gap, h - gap);
    }
}

function draw() {
    if (!state.opened || !state.picture)
        return;
    const now = performance.now(), map = state.opened.servers >= MAP_FROM;
    state.flights = state.flights.filter(flight => {
        if (now < flight.begin + flight.span)
            return true;
        land(flight);
        return false;
    });
    for (let v = 0; v < state.opened.views.length && v < canvases.length; v++) {
        const {pen, width, height} = sized(canvases[v]);
        if (width === 0)
            continue;
        if (map) {
            drawMap(pen, v, width, height);
            continue;
        }
        const at = layoutOf(width, height);
        drawColumns(pen, v, at);
        for (const flight of state.flights)
            if (flight.view === v && now >= flight.begin)
                drawFlight(pen, flight, at, Math.max(0, Math.min(1, (now - flight.begin) / flight.span)));
        drawDispatchers(pen, v, at);
    }
}

/* -- numbers -- */

const short = x => x === null || x === undefined || !isFinite(x) ? "–"
                   : x >= 100                                    ? x.toFixed(0)
                   : x >= 10                                     ? x.toFixed(1)
                                                                 : x.toFixed(2);
const estimate = e => {
    const half = e.half === null || e.value === null ? "" : ` ±${short(e.half)}`;
    return [short(e.value), make("small", {textContent: half})];
};
const percent = x => x === null ? "–" : (100 * x).toFixed(x < 0.1 ? 1 : 0) + " %";
const policyName = v => state.opened.views[v].policy;

function showMeasured() {
    const {views} = state.measured, classes = state.opened.classes;
    const fails = views.some(v => v.failed > 0), refuses = views.some(v => v.refused > 0);
    views.forEach((m, v) => {
        const card = $("views").children[v];
        if (!card || !card.numbers)
            return;
        const put = (name, ...content) => card.numbers[name].replaceChildren(...content);
        put("mean", ...estimate(m.mean));
        put("p99", ...estimate(m.p99));
        put("messages", short(m.messages));
        put("watts", short(m.watts), make("small", {textContent: " W"}));
        card.failedCell.hidden = !fails;
        put("failed", percent(m.failed));
    });
    const head = [
        "policy", "mean", "p50", "p99", ...(classes ? ["mean, urgent", "mean, others"] : []),
        "messages per job", "watts per server", ...(fails ? ["failed"] : []), ...(refuses ? ["lost"] : []),
        "jobs", "theory"
    ];
    const rows = views.map((m, v) => {
        const theory = state.opened.views[v].theory;
        return [
            policyName(v), estimate(m.mean), estimate(m.p50), estimate(m.p99),
            ...(classes ? [short(m.high), short(m.low)] : []), short(m.messages), short(m.watts),
            ...(fails ? [percent(m.failed)] : []), ...(refuses ? [percent(m.refused)] : []),
            m.jobs.toLocaleString("en"),
            theory && theory.mean !== null ? `${short(theory.mean)} (${theory.kind})` : "–"
        ];
    });
    fillTable($("measured"), head, rows, true);
    drawTail();
    canvases.forEach((canvas, v) => {
        if (views[v])
            canvas.setAttribute("aria-label",
                                `${policyName(v)}: ${state.opened.servers} servers, mean response time ` +
                                    `${short(views[v].mean.value)}, 99 % below ${
                                        short(views[v].p99.value)}. The table below has each server.`);
    });
}

function fillTable(table, head, rows, hues) {
    table.tHead.replaceChildren(
        make("tr", {}, ...head.map(text => make("th", {scope: "col", textContent: text}))));
    table.tBodies[0].replaceChildren(...rows.map((row, v) => make("tr", {}, ...row.map((cell, i) => {
                                                     const element =
                                                         make(i === 0 ? "th" : "td", {},
                                                              ...(Array.isArray(cell) ? cell : [cell]));
                                                     if (i === 0) {
                                                         element.scope = "row";
                                                         if (hues)
                                                             element.style.color = `var(--view${v})`;
                                                     }
                                                     return element;
                                                 }))));
}

function drawTail() {
    const {pen, width, height} = sized($("tail")), left = 46, bottom = height - 24, decades = 4;
    const levels = Math.max(6, ...state.measured.views.map(m => m.tail.length)), most = Math.min(20, levels);
    const x = k => left + (width - left - 10) * k / most,
          y = f => 8 + (bottom - 8) * Math.min(1, -Math.log10(Math.max(f, 1e-9)) / decades);
    pen.font = "11px system-ui";
    pen.fillStyle = pen.strokeStyle = colour.soft;
    pen.lineWidth = 1;
    pen.textAlign = "right";
    for (let d = 0; d <= decades; d++) {
        pen.fillText(["100 %", "10 %", "1 %", "0.1 %", "0.01 %"][d], left - 6, y(Math.pow(10, -d)) + 4);
        pen.globalAlpha = 0.25;
        pen.beginPath();
        pen.moveTo(left, y(Math.pow(10, -d)));
        pen.lineTo(width - 10, y(Math.pow(10, -d)));
        pen.stroke();
        pen.globalAlpha = 1;
    }
    pen.textAlign = "center";
    for (let k = 0; k <= most; k += most > 12 ? 2 : 1)
        pen.fillText(k === most ? "jobs" : "≥ " + k, x(k), height - 6);
    const words = [];
    state.measured.views.forEach((m, v) => {
        const theory = state.opened.views[v].theory, hue = colour["view" + v];
        pen.strokeStyle = pen.fillStyle = hue;
        pen.save();
        pen.beginPath();
        pen.rect(left - 6, 0, width, bottom + 2);
        pen.clip();
        if (theory && theory.tail.length) {
            pen.lineWidth = 2;
            pen.globalAlpha = 0.75;
            pen.beginPath();
            theory.tail.slice(0, most).forEach((f, k) => pen.lineTo(x(k), y(f)));
            if (theory.tail.length < most)
                pen.lineTo(x(theory.tail.length), bottom + 40);
            pen.stroke();
            pen.globalAlpha = 1;
        }
        m.tail.slice(0, most).forEach((f, k) => {
            pen.beginPath();
            pen.arc(x(k), y(f), 4, 0, 7);
            pen.fill();
        });
        pen.restore();
        words.push(`${policyName(v)}: ${
            m.tail.slice(1, 6).map((f, k) => `at least ${k + 1}: ${percent(f)}`).join(", ")}`);
    });
    $("tail").setAttribute("aria-label", "Part of time with so many jobs at a server. " + words.join(". "));
}

/* -- the picture as a table -- */

const WORDS = [
    "a job arrives at dispatcher", "dispatcher asks server", "a job goes to server",
    "the job is held at dispatcher", "a job leaves server", "token from server", "report from server",
    "dispatcher starts server", "a job moves to server", "a job fails at server", "a timer ends at server"
];
function eventText(e) {
    const toServer = [KIND.PROBE, KIND.SEND, KIND.WAKE, KIND.MOVE].includes(e.kind);
    return `${e.time.toFixed(3)}  ${policyName(e.view)}: ${WORDS[e.kind]} ${toServer ? e.to : e.from}`;
}
function showTable() {
    if (!$("as-table").open || !state.opened || !state.picture)
        return;
    const n = Math.min(state.opened.servers, 200), names = state.opened.views.map(v => v.policy);
    const rows = Array.from({length: n}, (_, i) => ["server " + i, ...names.map((_, v) => {
                                             const s = serverAt(v, i);
                                             const urgent = s.urgent ? ` (${s.urgent} urgent)` : "",
                                                   there = s.length ? `, ${s.length}` : "";
                                             return s.power ? POWER[s.power] + there : s.length + urgent;
                                         })]);
    fillTable($("servers"), ["", ...names.map(name => "jobs under " + name)], rows, false);
    $("events").replaceChildren(
        ...state.log.slice(-30).reverse().map(e => make("li", {textContent: eventText(e)})));
}

/* -- controls -- */

function buildViews() {
    canvases.length = 0;
    const cards = state.opened.views.map((view, v) => {
        const info = state.tables.policies.find(p => p.name === view.policy.split(":")[0]);
        const card = make("section", {className: "view", "aria-label": "Policy " + view.policy});
        card.style.setProperty("--hue", `var(--view${v})`);
        const select =
            make("select", {"aria-label": "Policy of panel " + (v + 1)},
                 ...[...state.tables.policies.map(p => p.name), "./yours"].map(
                     name => make("option",
                                  {value: name, textContent: name === "./yours" ? "yours (below)" : name})));
        select.value = info ? info.name : "./yours";
        select.onchange = () => changePolicy(v, select.value);
        const head = make("div", {className: "head"}, select, ...parameters(v, info));
        if (state.opened.views.length > 1)
            head.append(make("button", {
                className: "remove",
                textContent: "×",
                title: "Remove this panel",
                "aria-label": "Remove " + view.policy,
                onclick: () => {
                    state.policies.splice(v, 1);
                    open(true);
                }
            }));
        const canvas = make("canvas", {role: "img"});
        canvases.push(canvas);
        card.numbers = {};
        const number = (name, title) => {
            card.numbers[name] = make("dd", {textContent: "–"});
            return make("div", {}, make("dt", {textContent: title}), card.numbers[name]);
        };
        card.failedCell = number("failed", "failed");
        card.failedCell.hidden = true;
        card.append(head, make("p", {
                        className: "says",
                        textContent: info ? `${info.summary} · costs ${info.cost}` : "your function route"
                    }),
                    canvas,
                    make("dl", {className: "numbers"}, number("mean", "mean response"),
                         number("p99", "99 % are below"), number("messages", "messages per job"),
                         number("watts", "per server"), card.failedCell));
        return card;
    });
    if (cards.length < VIEWS)
        $("add").hidden = false;
    else
        $("add").hidden = true;
    $("views").replaceChildren(...cards);
}

/* Those that are of use on this page: numbers and words, as the tables have them. */
function parameters(v, info) {
    if (!info)
        return [];
    const given = valuesOf(state.policies[v]);
    return info.parameters
        .filter(p => p.shown || given[p.name] !== undefined || (p.words && p.default !== null))
        .slice(0, 3)
        .map(p => {
            const input =
                p.words ? make("select", {}, ...p.words.map(w => make("option", {value: w, textContent: w})))
                        : make("input", {type: "number", min: p.low, max: p.high, step: p.whole ? 1 : "any"});
            const usual = p.words ? p.words[p.default] : p.default === null ? "" : p.default;
            input.value = given[p.name] !== undefined ? given[p.name] : usual;
            input.title = p.help;
            input.onchange = () => {
                const values = valuesOf(state.policies[v]);
                if (input.value === "" || input.value === String(usual))
                    delete values[p.name];
                else
                    values[p.name] = input.value;
                const list = Object.entries(values).map(([key, value]) => `${key}=${value}`);
                state.policies[v] = info.name + (list.length ? ":" + list.join(",") : "");
                state.preset = "";
                open(true);
            };
            return make("label", {}, p.name, input);
        });
}
const valuesOf = policy =>
    Object.fromEntries((policy.split(":")[1] || "").split(",").filter(Boolean).map(pair => pair.split("=")));

async function changePolicy(v, name) {
    const before = state.policies[v];
    state.policies[v] = name;
    state.preset = "";
    if (!await open(true)) {
        state.policies[v] = before;
        if (state.opened)
            buildViews();
    }
}

function legend() {
    const item = (fill, text, kind = "") => {
        const mark = make("i", {className: kind});
        mark.style.background = `var(--${fill})`;
        mark.style.color = `var(--${fill})`;
        return make("span", {}, mark, text);
    };
    if (state.opened.servers >= MAP_FROM)
        return [
            item("line", "idle server"), item("service", "one job"),
            item("waiting", "two jobs; redder: more"),
            ...(state.opened.views.some(v => v.powered) ? [item("setup", "starting"), item("off", "off")]
                                                        : [])
        ];
    return [
        item("service", "in service"), item("waiting", "waiting"),
        ...(state.opened.classes ? [item("urgent", "urgent")] : []),
        item("token", "idle server, and its token"), item("probe", "probe: a server is asked", "dot"),
        ...(state.opened.views.some(v => v.powered) ? [item("setup", "starting", "open"), item("off", "off")]
                                                    : []),
        ...(state.settings["fail-fast"] !== setting("fail-fast").default ? [item("bad", "answers wrongly")]
                                                                         : [])
    ];
}

function showControls() {
    $("speed").value = state.speed;
    const speed = perSecond();
    $("speed-text").textContent =
        speed === Infinity ? "full speed" : `${speed < 10 ? speed.toFixed(1) : Math.round(speed)} events/s`;
    $("load").value = state.settings.load;
    $("load-text").textContent = Number(state.settings.load).toFixed(2);
    $("play").textContent = state.playing ? "Pause" : "Play";
    for (const button of $("presets").children)
        button.setAttribute("aria-pressed", button.value === state.preset);
    const preset = PRESETS.find(p => p.id === state.preset);
    $("story").replaceChildren(
        make("p", {}, preset ? preset.story + " " : "Your own settings. ",
             ...(preset ? [make("small", {textContent: "[" + preset.paper + "]"})] : [])));
    for (const field of document.querySelectorAll("[data-setting]")) {
        const value = state.settings[field.dataset.setting];
        if (field.type === "checkbox")
            field.checked = value === "yes";
        else if (document.activeElement !== field)
            field.value = value;
    }
}

async function changeSetting(name, value) {
    const before = state.settings[name];
    if (value === before)
        return;
    state.settings[name] = value === "" ? setting(name).default : value;
    const ok = await open(true);
    if (!ok)
        state.settings[name] = before;
    showControls();
}

function field(name, label, choices) {
    const s = setting(name);
    if (!s)
        return "";
    let input;
    if (s.flag) {
        input = make("input", {type: "checkbox"});
        input.onchange = () => changeSetting(name, input.checked ? "yes" : s.default);
    } else {
        input = make("input", {type: "text", spellcheck: false});
        input.onchange = () => changeSetting(name, input.value.trim());
        if (choices) {
            const id = "choices-" + name;
            input.setAttribute("list", id);
            input.placeholder = s.default || "as the policy says";
            document.body.append(make("datalist", {id}, ...choices.map(c => make("option", {value: c}))));
        }
    }
    input.dataset.setting = name;
    input.title = s.help;
    return make("label", {className: "field"}, label || name, input,
                make("span", {textContent: s.help.replace(/`/g, "")}));
}

function buildSettings() {
    $("settings").onsubmit = event => event.preventDefault();
    $("settings").append(...FRONT.map(f => field(f.name, f.label, f.choices)));
    const front = new Set(FRONT.map(f => f.name));
    $("all-settings")
        .append(...state.tables.settings
                    .filter(s => s.section !== "run" && !front.has(s.name) && !NOT_SHOWN.has(s.name))
                    .map(s => field(s.name)));
    $("presets").append(...PRESETS.map((p, i) => make("button", {
                                           value: p.id,
                                           textContent: p.title,
                                           title: p.paper,
                                           "aria-keyshortcuts": String((i + 1) % 10),
                                           onclick: () => choosePreset(p)
                                       })));
    const add = make("button", {
        id: "add",
        textContent: "+ Another policy",
        onclick: () => {
            state.policies.push(state.tables.policies[0].name);
            state.preset = "";
            open(true).then(showControls);
        }
    });
    $("controls").insertBefore(add, $("clock"));
}

/* A story begins in the middle: queues as they usually are, not an idle fleet. */
const BEFORE = 20000;
async function openStory() {
    if (await open(false) && state.preset)
        await advance(BEFORE, true);
}

async function choosePreset(preset) {
    takePreset(preset);
    await openStory();
    showControls();
    play();
}

function play() {
    if (!state.opened)
        return;
    state.playing = true;
    state.due = 0;
    showControls();
}
function pause() {
    state.playing = false;
    showControls();
}
async function step() {
    pause();
    await advance(1, true);
    showTable();
}
function setSpeed(speed) {
    state.speed = Math.min(100, Math.max(0, speed));
    showControls();
    writeAddress();
}

/* -- to 1 % -- */

const LIMIT = 20000; /* milliseconds without progress, of a policy of the page */
async function measure() {
    stopMeasure("");
    const own = meter = new Engine(compiled, part => {
        $("progress").value = part;
        $("progress-text").textContent = Math.floor(100 * part) + " %";
        alive();
    });
    let timer = 0;
    const alive = () => {
        clearTimeout(timer);
        if (usesYours())
            timer = setTimeout(() => own.end("no progress for 20 seconds: stopped"), LIMIT);
    };
    alive();
    $("progress").hidden = $("stop").hidden = false;
    $("progress").value = 0;
    $("progress-text").textContent = "0 %";
    $("measure").disabled = true;
    const answer = await own.call(
        "compare", {args: args([...PRECISE, "--format", "json"]), source: usesYours() ? state.source : null});
    clearTimeout(timer);
    own.end("");
    meter = meter === own ? null : meter;
    $("progress").hidden = $("stop").hidden = true;
    $("measure").disabled = false;
    if (answer.error !== undefined || answer.status !== 0) {
        $("progress-text").textContent = answer.error !== undefined ? answer.error : answer.told.join(" ");
        return;
    }
    state.compared = answer.text;
    const events = JSON.parse(answer.text).results.reduce((sum, r) => sum + r.events, 0);
    $("progress-text").textContent =
        `${(events / 1e6).toFixed(1)} million events in ${answer.seconds.toFixed(1)} s` +
        (answer.told.length ? "; " + answer.told.join(" ") : "");
    showResults(JSON.parse(answer.text));
}
function stopMeasure(why) {
    if (meter)
        meter.end(why);
}
function showResults(data) {
    const both = (x, ci) => [short(x), make("small", {textContent: ci === null ? "" : ` ±${short(ci)}`})];
    fillTable($("results"),
              [
                  "policy", "mean response", "p50", "p99", "jobs that wait", "messages per job",
                  "watts per server", "verdict", "theory", "replications"
              ],
              data.results.map(
                  r => [r.policy, both(r.response.mean, r.response.ci),
                        both(r.response.p50, r.response.p50_ci), both(r.response.p99, r.response.p99_ci),
                        percent(r.waiting.probability), short(r.messages.per_job), short(r.power.mean),
                        r.verdict, r.theory ? `${short(r.theory.response_mean)} (${r.theory.kind})` : "–",
                        String(r.replications)]),
              false);
    $("results").hidden = false;
}

async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        $("copied").textContent = "copied";
    } catch { /* no clipboard from file:// or without a gesture: it can be marked and copied by hand */
        $("copied").textContent = "mark the text and copy it: this browser does not let the page do it";
    }
    setTimeout(() => { $("copied").textContent = ""; }, 4000);
}

/* -- time goes on -- */

let before = 0, measuredAt = 0, tableAt = 0;
function frame(now) {
    const passed = Math.min(100, now - before);
    before = now;
    const wantsMeasure = now - measuredAt > 250;
    if (state.playing && state.opened && !state.busy) {
        const speed = perSecond();
        state.due = speed === Infinity ? 0 : Math.min(state.due + speed * passed / 1000, speed / 4 + 1);
        const moments = speed === Infinity ? 1e9 : Math.floor(state.due);
        if (moments >= 1) {
            state.due -= speed === Infinity ? 0 : moments;
            if (wantsMeasure)
                measuredAt = now;
            advance(moments, wantsMeasure);
        }
    }
    const begin = performance.now();
    draw();
    state.frames.push([now, performance.now() - begin]);
    if (state.frames.length > 300)
        state.frames.shift();
    if (state.opened)
        $("clock").textContent = `time ${state.now.toFixed(state.now < 100 ? 2 : 0)}`;
    if (now - tableAt > 1000) {
        tableAt = now;
        showTable();
    }
    requestAnimationFrame(frame);
}

function listen() {
    $("play").onclick = () => state.playing ? pause() : play();
    $("step").onclick = step;
    $("restart").onclick = () => open(false);
    $("speed").oninput = () => setSpeed(Number($("speed").value));
    $("load").oninput = () => { $("load-text").textContent = Number($("load").value).toFixed(2); };
    $("load").onchange = () => changeSetting("load", $("load").value);
    $("measure").onclick = measure;
    $("stop").onclick = () => stopMeasure("stopped");
    $("copy").onclick = () => copy($("command").textContent);
    $("share").onclick = () => copy(location.href);
    $("use").onclick = useCode;
    $("as-table").ontoggle = showTable;
    for (const media of ["(prefers-color-scheme: dark)"])
        matchMedia(media).addEventListener("change", readColours);
    addEventListener("keydown", event => {
        const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) &&
                       event.target.type !== "range" && event.target.type !== "checkbox";
        if (typing || event.ctrlKey || event.altKey || event.metaKey)
            return;
        const range = event.target.type === "range",
              pressed = event.target.tagName === "BUTTON" || event.target.tagName === "SUMMARY";
        if (event.key === " " && !pressed) {
            event.preventDefault();
            state.playing ? pause() : play();
        } else if (event.key === "ArrowRight" && !range) {
            event.preventDefault();
            step();
        } else if (event.key === "+" || event.key === "=")
            setSpeed(state.speed + 5);
        else if (event.key === "-")
            setSpeed(state.speed - 5);
        else if (event.key === "r")
            open(false);
        else if (/^[0-9]$/.test(event.key) && PRESETS[(Number(event.key) + 9) % 10])
            choosePreset(PRESETS[(Number(event.key) + 9) % 10]);
    });
}

async function useCode() {
    state.source = $("code").value;
    $("code-error").textContent = "";
    const before = state.policies.slice();
    if (!usesYours()) {
        if (state.policies.length < VIEWS)
            state.policies.push("./yours");
        else
            state.policies[VIEWS - 1] = "./yours";
    }
    state.preset = "";
    if (!await open(false)) {
        const why = $("code-error").textContent;
        state.policies = before.filter(p => p !== "./yours");
        if (!state.policies.length)
            state.policies = ["random"];
        await open(false);
        $("code-error").textContent = why;
        showControls();
        return;
    }
    play();
}

async function begin() {
    readColours();
    compiled = await loadModule();
    engine = new Engine(compiled);
    state.tables = (await engine.call("tables")).tables;
    $("version").textContent = `Ballast ${state.tables.version}.`;
    state.settings = defaults();
    if (!readAddress())
        takePreset(PRESETS[0]);
    $("code").value = state.source;
    buildSettings();
    listen();
    await openStory();
    showControls();
    if (!reduced.matches)
        play();
    requestAnimationFrame(frame);
    document.documentElement.dataset.ready = "yes";
}

/* A comparison with these words, as the program prints it; for tests and measurements. */
async function compare(words) {
    const own = new Engine(compiled), answer = await own.call("compare", {args: words, source: null});
    own.end("");
    return answer;
}

/* The queues as they are, at a time that is reached at once. */
async function runTo(time) {
    pause();
    await advance(1, true, time);
    return state.measured;
}

self.playground = {
    state,
    PRESETS,
    args,
    open,
    choosePreset,
    play,
    pause,
    step,
    measure,
    setSpeed,
    changeSetting,
    compare,
    runTo
};
begin().catch(error => {
    showError(`The engine cannot be loaded: ${error.message}`);
    throw error;
});
})();
