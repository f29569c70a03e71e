/* SPDX-License-Identifier: BSD-2-Clause */
'use strict';
// The page of ballast_status: asks for the JSON twice a second and shows it. Whatever comes from the fleet is
// set as text, never as markup.
const EVERY = 500, PATIENCE = 2000, WINDOW = 20, TWIN_EVERY = 2000, HOUR_EVERY = 60000;
const LIVE = 120; // seconds of which the page draws its own samples; what was before comes from the last hour
const WIDTH = 600;
const STATES = ['idle', 'on', 'busy', 'set-up', 'off', 'draining', 'failing', 'unchecked',
    'ejected', 'closed', 'silent', 'down'];
const SIGNS = {failing: '!', unchecked: '?', ejected: '!', closed: '!', silent: '?', down: '×', draining: '↓', 'set-up': '↑'};
const $ = id => document.getElementById(id);
const NS = 'http://www.w3.org/2000/svg';

function make(name, text, kind) {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
}
function write(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

// ---- numbers as text ----

function count(n) {
    return n < 10000 ? String(Math.round(n)) : n.toLocaleString('en', {maximumFractionDigits: 0});
}
function short(n) {
    return n >= 100 ? count(n) : n >= 10 ? n.toFixed(1) : n.toFixed(2);
}
function time(seconds) {
    if (seconds === null || seconds === undefined || !isFinite(seconds)) return '–';
    if (seconds >= 1) return short(seconds) + ' s';
    return seconds >= 1e-3 ? short(seconds * 1e3) + ' ms' : short(seconds * 1e6) + ' µs';
}

// ---- what a fleet has told, as samples ----

function asServer(station) {
    return {
        number: 0, name: station.upstream, state: station.state, slots: station.slots,
        in_service: station.running, queue: station.waiting, in_flight: station.running + station.waiting,
        answered: station.counts.answered, failed: station.counts.failed, seconds: station.seconds,
        response_seconds: station.response.reduce((sum, r) => sum + r.seconds, 0),
    };
}

// A dispatcher or a station in one form.
function read(status, role, one) {
    const station = role === 'station';
    const servers = station ? [asServer(one)] : one.servers;
    const messages = one.messages
        ? [...Object.values(one.messages.said), ...Object.values(one.messages.heard)] : [];
    const counts = one.counts;
    return {
        at: status.time, one, servers, station, bounds: status.bounds,
        arrived: counts.arrived, failed: counts.failed,
        refused: station ? counts.full + counts.overdue : counts.refused + counts.no_room,
        on: servers.filter(s => ['idle', 'on', 'busy'].includes(s.state)).length,
        held: station ? one.waiting : one.held.reduce((sum, n) => sum + n, 0),
        messages: messages.reduce((sum, n) => sum + n, 0),
        buckets: one.response.map(r => new Map(r.buckets)),
        joules: one.joules,
    };
}

// A quantile of the times that were counted between two samples, in one class; linear inside of a bucket.
function quantile(from, to, rank, q) {
    const before = from.buckets[rank] || new Map(), parts = [];
    let all = 0;
    for (const [bucket, n] of to.buckets[rank]) {
        const more = n - (before.get(bucket) || 0);
        if (more > 0) parts.push([bucket, more]);
        all += Math.max(more, 0);
    }
    let left = q * all;
    for (const [bucket, n] of parts) {
        if (left <= n) {
            const low = bucket ? to.bounds[bucket - 1] : 0, high = to.bounds[bucket] ?? low;
            return low + (high - low) * left / n;
        }
        left -= n;
    }
    return null;
}

class History {
    constructor() { this.samples = []; this.hour = []; }
    add(sample) {
        const last = this.samples[this.samples.length - 1];
        if (last && (sample.arrived < last.arrived || sample.at <= last.at - 1)) this.samples = this.hour = [];
        if (last && sample.at === last.at) return;
        if (last && sample.at > last.at + 5) hourDue = 0; // the page was asleep
        this.samples.push(sample);
        const from = this.samples[Math.max(0, this.samples.length - 1 - WINDOW)];
        this.derive(sample, from);
        const old = this.samples[this.samples.length - 1 - WINDOW];
        if (old) old.buckets = old.one = old.servers = old.bounds = null; // only what is drawn is kept
        while (this.samples[0].at < sample.at - LIVE) this.samples.shift();
    }
    derive(sample, from) {
        const seconds = sample.at - from.at, requests = sample.arrived - from.arrived;
        sample.rate = seconds > 0 ? requests / seconds : null;
        sample.bad = seconds > 0 ? [(sample.failed - from.failed) / seconds,
            (sample.refused - from.refused) / seconds] : [null, null];
        sample.perRequest = requests > 0 ? (sample.messages - from.messages) / requests : null;
        sample.watts = null;
        if (seconds > 0 && sample.joules !== undefined)
            sample.watts = (sample.joules - from.joules) / seconds;
        sample.times = sample.buckets.map((_, rank) => from.buckets && from !== sample ?
            [quantile(from, sample, rank, 0.5), quantile(from, sample, rank, 0.99)] : [null, null]);
        sample.before = new Map((from === sample ? [] : from.servers || []).map(s => [s.name, s]));
    }
    // All that is known of the last `span` seconds: points of nginx, then our own samples. The first of these
    // looks back at little.
    all(span) {
        const last = this.samples[this.samples.length - 1].at, live = this.samples[0].at + 2;
        return [...this.hour.filter(point => point.at <= live), ...this.samples.filter(s => s.at > live)]
            .filter(s => s.at >= last - span);
    }
}

// ---- the last hour, as nginx keeps it ----

let hourDue = 0;

function asSample(fields, values) {
    const point = Object.fromEntries(fields.map((name, i) => [name, values[i]]));
    const per = n => point.seconds > 0 ? n / point.seconds : null;
    return {
        at: point.time, rate: per(point.arrived), bad: [per(point.failed), per(point.refused)],
        on: point.on, held: point.held, watts: point.joules === undefined ? null : per(point.joules),
        perRequest: point.arrived ? point.messages / point.arrived : null,
        times: point.p50.map((p50, rank) => [p50, point.p99[rank]]),
    };
}

async function pollHour(uri, suffix) {
    const answer = await fetch(uri + '?format=history', {cache: 'no-store', signal: AbortSignal.timeout(PATIENCE)});
    if (!answer.ok) return; // an older module has none
    const {schema, fields, history} = await answer.json();
    if (schema !== 1) return;
    for (const one of history) {
        const name = one.upstream + (one.backup ? ', backup' : '') + (one.station ? ', station' : '') + suffix;
        if (!histories.has(name)) histories.set(name, new History());
        histories.get(name).hour = one.points.map(values => asSample(fields, values));
    }
}

async function pollHours() {
    if (Date.now() < hourDue) return;
    hourDue = Date.now() + HOUR_EVERY;
    const answers = await Promise.allSettled([pollHour(location.pathname, ''),
        ...fleetUris.map(uri => pollHour(uri, ', at ' + uri))]);
    if (answers[0].status === 'rejected') hourDue = Date.now() + PATIENCE;
}

// ---- charts ----

const charts = [
    {title: 'Requests a second', lines: s => [['c0', s.rate]], text: short},
    {title: 'Response time, p99 and p50 (dashed), of 10 s', lines: s => s.times.flatMap((t, rank) =>
        [['c' + rank, t[1]], ['c' + rank + ' p50', t[0]]]), text: time, classes: true},
    {title: 'Servers on', lines: s => [['c2', s.on]], text: count, whole: true},
    {title: 'Requests held', lines: s => [['c1', s.held]], text: count, whole: true},
    {title: 'Refused and failed (dashed) a second', lines: s => [['c5', s.bad[1]], ['c5 p50', s.bad[0]]],
        text: short},
    {title: 'Messages per request', lines: s => [['c3', s.perRequest]], text: short},
    {title: 'Watts', lines: s => [['c4', s.watts]], text: short, optional: true},
];

function makeChart(chart) {
    const figure = make('figure'), caption = make('figcaption'), svg = document.createElementNS(NS, 'svg');
    const plot = make('div', undefined, 'plot'), x = make('p', undefined, 'x');
    chart.value = make('span');
    caption.append(make('span', chart.title), chart.value);
    svg.setAttribute('viewBox', `0 0 ${WIDTH} 100`);
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('aria-hidden', 'true');
    chart.y = make('p', undefined, 'y');
    for (const labels of [chart.y, x]) for (let i = 0; i < 3; i++) labels.append(make('span'));
    chart.x = [...x.children];
    plot.append(chart.y, svg, x);
    figure.append(caption, plot);
    if (chart.classes) figure.append(chart.list = make('ul'));
    for (const y of [2, 50, 98]) {
        const line = document.createElementNS(NS, 'path');
        line.setAttribute('class', 'grid');
        line.setAttribute('d', `M0 ${y}L${WIDTH} ${y}`);
        svg.append(line);
    }
    chart.svg = svg;
    chart.paths = new Map();
    chart.figure = figure;
    $('charts').append(figure);
}

// The least of 1, 2, 4, 5, 10, ... that is not less: half of it is a short number, too.
function roundUp(most, whole) {
    if (!(most > 0)) return whole ? 2 : 1;
    const ten = 10 ** Math.floor(Math.log10(most));
    const up = [1, 2, 4, 5, 10].find(n => n * ten >= most * (1 - 1e-9)) * ten;
    return whole ? Math.max(2, up) : up;
}

function ago(seconds) {
    return seconds === 0 ? 'now' : '−' + (seconds < 120 ? Math.round(seconds) + ' s' : seconds / 60 + ' min');
}

function path(chart, kind) {
    if (!chart.paths.has(kind)) {
        const line = document.createElementNS(NS, 'path');
        line.setAttribute('class', kind);
        chart.svg.append(line);
        chart.paths.set(kind, line);
    }
    return chart.paths.get(kind);
}

function drawChart(chart, samples, span) {
    const last = samples[samples.length - 1], lines = new Map();
    for (const sample of samples) for (const [kind, value] of chart.lines(sample)) {
        if (value === null || value === undefined) continue;
        if (!lines.has(kind)) lines.set(kind, []);
        lines.get(kind).push([last.at - sample.at, value]);
    }
    chart.figure.hidden = Boolean(chart.optional) && lines.size === 0;
    let most = 0;
    for (const points of lines.values()) for (const [, value] of points) most = Math.max(most, value);
    const top = roundUp(most, chart.whole);
    for (const kind of chart.paths.keys()) if (!lines.has(kind)) chart.paths.get(kind).removeAttribute('d');
    for (const [kind, points] of lines) {
        let d = '', before = Infinity;
        for (const [age, value] of points) {
            const x = WIDTH * (1 - age / span), y = 98 - 96 * value / top;
            d += (before - age > 15 ? 'M' : 'L') + x.toFixed(1) + ' ' + y.toFixed(1);
            before = age;
        }
        path(chart, kind).setAttribute('d', d);
    }
    [top, top / 2, 0].forEach((value, i) => write(chart.y.children[i], value ? chart.text(value) : '0'));
    [span, span / 2, 0].forEach((age, i) => write(chart.x[i], ago(age)));
    if (chart.classes) showClasses(chart, last);
    else write(chart.value, typeof chart.lines(last)[0][1] === 'number'
        ? chart.text(chart.lines(last)[0][1]) : '–');
}

function showClasses(chart, last) {
    const seen = last.times.map((t, rank) => [rank, t]).filter(([, t]) => t[0] !== null);
    while (chart.list.children.length > seen.length) chart.list.lastChild.remove();
    seen.forEach(([rank, t], i) => {
        const item = chart.list.children[i] || chart.list.appendChild(make('li'));
        item.className = 'c' + rank;
        write(item, (last.times.length > 1 ? 'class ' + rank + ': ' : '') + time(t[1]) + ', ' + time(t[0]));
    });
}

// ---- the fleet as a picture ----

const cells = [];
let chosen = 0;

function mean(server) {
    return server.answered ? time(server.response_seconds / server.answered) : '–';
}

// Of the last 10 seconds, as the percentiles are.
function recentMean(server, sample) {
    const before = sample.before?.get(server.name), n = before ? server.answered - before.answered : 0;
    return n > 0 ? time((server.response_seconds - before.response_seconds) / n) : '–';
}

function tell(server) {
    return `${server.name}: ${server.state}, ${count(server.in_service)} in service, ` +
        `${count(server.queue)} in line; since the start ${count(server.answered)} answered` +
        `${server.answered ? ', ' + mean(server) + ' on average' : ''}, ${count(server.failed)} failed`;
}

// What tells names apart: "10.0.0.7:8080" and "10.0.0.8:8080" are "7" and "8". Of at most so many letters.
function labels(names, most) {
    const parts = names.map(name => name.split(/(?<=[.:/])|(?=[.:])/));
    const common = (from) => {
        let n = 0;
        while (parts.every(p => n < p.length - 1 && p.at(from(n)) === parts[0].at(from(n)))) n++;
        return n;
    };
    const front = names.length > 1 ? common(n => n) : 0;
    const back = names.length > 1 ? common(n => -1 - n) : 0;
    return names.map((name, i) => {
        const text = parts[i].slice(front, Math.max(front + 1, parts[i].length - back)).join('');
        const shown = text.replace(/^[.:/]+|[.:/]+$/g, '') || name;
        return shown.length > most ? '…' + shown.slice(1 - most) : shown;
    });
}

function choose(i, focus) {
    if (!cells.length) return;
    cells[chosen]?.setAttribute('tabindex', '-1');
    cells[chosen]?.setAttribute('aria-selected', 'false');
    chosen = Math.max(0, Math.min(cells.length - 1, i));
    cells[chosen].setAttribute('tabindex', '0');
    if (!focus) return;
    cells[chosen].setAttribute('aria-selected', 'true');
    cells[chosen].focus();
    told = true;
    $('told').ariaLive = 'polite';
    write($('told'), tell(cells[chosen].server));
}
let told = false;

function makeCell() {
    const cell = make('div', undefined, 'cell'), i = cells.length;
    cell.setAttribute('role', 'option');
    cell.setAttribute('aria-selected', 'false');
    cell.setAttribute('tabindex', i === chosen ? '0' : '-1');
    cell.sign = make('b');
    cell.bar = make('i');
    cell.label = make('span');
    cell.append(cell.sign, cell.bar, cell.label);
    cell.addEventListener('click', () => choose(i, true));
    cells.push(cell);
    $('fleet').append(cell);
}

function drawFleet(servers) {
    while (cells.length < servers.length) makeCell();
    while (cells.length > servers.length) cells.pop().remove();
    if (chosen >= cells.length) choose(0, false);
    const most = Math.max(4, ...servers.map(s => s.in_service + s.queue));
    const few = servers.length <= 48;
    const counts = new Map(), short = labels(servers.map(s => s.name), few ? 8 : 5);
    $('fleet').classList.toggle('wide-cells', few);
    servers.forEach((server, i) => {
        const cell = cells[i], jobs = server.in_service + server.queue;
        const key = server.state + ' ' + jobs + ' ' + most + ' ' + server.name + ' ' + short[i];
        counts.set(server.state, (counts.get(server.state) || 0) + 1);
        cell.server = server;
        if (cell.key === key) return;
        cell.key = key;
        cell.className = 'cell ' + (STATES.includes(server.state) ? server.state : 'down');
        cell.bar.style.height = (26 * jobs / most).toFixed(1) + 'px';
        write(cell.sign, SIGNS[server.state] || (jobs ? count(jobs) : ''));
        write(cell.label, short[i]);
        cell.setAttribute('aria-label', `${server.name}, ${server.state}, ${jobs} requests`);
    });
    $('told').ariaLive = 'off'; // what is chosen is read out, not each change of it
    if (told && cells[chosen]) write($('told'), tell(cells[chosen].server));
    drawLegend(counts);
}

function drawLegend(counts) {
    const there = STATES.filter(state => counts.has(state));
    while ($('legend').children.length > there.length) $('legend').lastChild.remove();
    there.forEach((state, i) => {
        const item = $('legend').children[i] || $('legend').appendChild(make('li'));
        item.className = state;
        write(item, state + ' ' + counts.get(state));
    });
}

function columns() {
    return getComputedStyle($('fleet')).gridTemplateColumns.split(' ').length;
}

$('fleet').addEventListener('keydown', event => {
    const steps = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns(), ArrowUp: -columns(),
        Home: -cells.length, End: cells.length, Enter: 0, ' ': 0};
    if (!(event.key in steps)) return;
    event.preventDefault();
    choose(chosen + steps[event.key], true);
});

// ---- tables ----

function fillTable(body, rows) {
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((cellsOf, i) => {
        const row = body.rows[i] || body.insertRow();
        while (row.cells.length > cellsOf.length) row.deleteCell(-1);
        cellsOf.forEach((text, k) => {
            let cell = row.cells[k];
            if (!cell) {
                cell = make(k ? 'td' : 'th');
                if (!k) cell.scope = 'row';
                row.append(cell);
            }
            write(cell, text);
        });
    });
}

const FIELDS = [['Server', s => s.name], ['State', s => s.state], ['In service', s => count(s.in_service)],
    ['In line', s => count(s.queue)], ['In flight', s => count(s.in_flight)],
    ['Mean, last 10 s', recentMean], ['Mean since start', mean],
    ['Answered since start', s => count(s.answered)], ['Failed since start', s => count(s.failed)],
    ['On', s => time(s.seconds.idle + s.seconds.busy)], ['Tokens', s => count(s.tokens || 0)],
    ['Token age', s => time(s.token_age)]];

function makeHead() {
    const row = make('tr');
    FIELDS.forEach(([name]) => { const cell = make('th', name); cell.scope = 'col'; row.append(cell); });
    $('servers').tHead.append(row);
}

function countRows(sample) {
    const one = sample.one, per = n => sample.arrived ? short(n / sample.arrived) : '–', rows = [];
    const put = (name, n) => rows.push([name, count(n), per(n)]);
    for (const [name, n] of Object.entries(one.counts)) put(name.replace('_', ' '), n);
    for (const [name, n] of Object.entries(one.reasons || {})) put('decided: ' + name, n);
    if (one.messages)
        for (const way of ['said', 'heard'])
            for (const [name, n] of Object.entries(one.messages[way])) if (n) put(`${way}: ${name}`, n);
    for (const [name, n] of Object.entries(one.datagrams || {})) put('datagrams: ' + name, n);
    for (const [name, n] of Object.entries(one.seconds))
        rows.push(['server seconds ' + name, count(n), per(n)]);
    if (one.joules !== undefined) rows.push(['joules', count(one.joules), per(one.joules)]);
    if (one.decision_ns) {
        const all = Object.values(one.decision_ns).reduce((sum, n) => sum + n, 0);
        rows.push(['decision time, mean', time(all ? one.decision_seconds / all : null), '']);
    }
    return rows;
}

// ---- who hears whom ----

// Seconds: a station sends ten heartbeats in one; a dispatcher that has nothing to say answers every three.
const SILENT = {dispatcher: 1, station: 7};
let fleetUris = [], fleetAsked = false;
const others = new Map(); // what those last said; null: no answer
const spoken = new Map(); // the same, of those that do not answer now, too

// For each address of that role: whom it knows, and whether it hears them.
function hearing(statuses, role) {
    const known = new Map();
    for (const status of statuses)
        for (const one of status[role + 's']) {
            if (!one.address) continue;
            if (!known.has(one.address)) known.set(one.address, new Map());
            for (const peer of one[role === 'dispatcher' ? 'servers' : 'dispatchers'])
                known.get(one.address).set(peer.name, peer.heard_age <= SILENT[role]);
        }
    return known;
}

// Both ways, of one pair: undefined where one does not know the other, or was not asked.
function pair(dispatchers, stations, dispatcher, station) {
    const there = dispatchers.get(dispatcher)?.get(station), here = stations.get(station)?.get(dispatcher);
    if (there === undefined && here === undefined) return ['–', 'unknown'];
    if (there && here) return ['both', 'hears'];
    if (!there && !here) return [there === undefined || here === undefined ? 'no, as far as known' : 'neither', 'deaf'];
    const who = there ? 'dispatcher' : 'station';
    return there === undefined || here === undefined ? [`${who} hears`, 'hears'] : [`only the ${who} hears`, 'deaf'];
}

function addresses(known, knownByOthers) {
    const all = new Set(known.keys());
    for (const peers of knownByOthers.values()) for (const name of peers.keys()) all.add(name);
    return [...all].sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
}

function drawHearing(statuses) {
    const dispatchers = hearing(statuses, 'dispatcher'), stations = hearing(statuses, 'station');
    let rows = addresses(stations, dispatchers);
    const columns = addresses(dispatchers, stations);
    const missing = fleetUris.filter(uri => !others.get(uri));
    $('hears-section').hidden = !fleetUris.length || !fleetUris.every(uri => others.has(uri)) ||
        !rows.length || !columns.length;
    if ($('hears-section').hidden) return;
    fillHead($('hears').tHead, ['Station', ...columns]);
    const pairs = new Map(rows.map(row => [row, columns.map(column => pair(dispatchers, stations, column, row))]));
    const deaf = row => pairs.get(row).filter(([, kind]) => kind === 'deaf').length;
    if (rows.length > 12) rows = [...rows.filter(deaf), ...rows.filter(row => !deaf(row))];
    const cellsOf = rows.map(row => pairs.get(row));
    fillTable($('hears').tBodies[0], rows.map((row, i) => [row, ...cellsOf[i].map(([text]) => text)]));
    cellsOf.forEach((line, i) => line.forEach(([, kind], k) => {
        $('hears').tBodies[0].rows[i].cells[k + 1].className = kind;
    }));
    const troubled = rows.reduce((sum, row) => sum + deaf(row), 0);
    write($('hears-silent'), [missing.length ? 'No answer: ' + missing.join(', ') + '.' : '',
        troubled ? `${troubled} of ${rows.length * columns.length} pairs do not hear each other.` : '']
        .filter(text => text).join(' '));
}

function fillHead(head, names) {
    const row = head.rows[0] || head.insertRow();
    while (row.cells.length > names.length) row.deleteCell(-1);
    names.forEach((name, i) => {
        const cell = row.cells[i] || row.appendChild(make('th'));
        cell.scope = 'col';
        write(cell, name);
    });
}

// Not waited for: one that does not answer must not keep the page from what its own nginx says.
async function pollFleet() {
    if (fleetAsked) return;
    fleetAsked = true;
    for (const map of [others, spoken])
        for (const uri of map.keys()) if (!fleetUris.includes(uri)) map.delete(uri);
    await Promise.all(fleetUris.map(async uri => {
        try {
            const answer = await fetch(uri + '?format=json', {cache: 'no-store', signal: AbortSignal.timeout(1000)});
            if (!answer.ok) throw new Error(answer.status);
            const status = await answer.json();
            if (status.schema !== 1) throw new Error('another schema');
            for (const [role, one] of names(status)) read(status, role, one); // all that is shown of it is there
            hearing([status], 'dispatcher');
            hearing([status], 'station');
            others.set(uri, status);
            spoken.set(uri, status);
        } catch {
            others.set(uri, null);
        }
    }));
    fleetAsked = false;
}

// ---- the twin ----

let twinUri = null, clock = null; // of the fleet, by which the twin goes too

// A number and its unit stay on one line.
function unbroken(text) {
    return text.replaceAll(' ', '\u00a0');
}

function interval(value, error) {
    if (value === null || value === undefined) return '–';
    return unbroken(time(value)) + (error ? ' ' + unbroken('± ' + time(error)) : '');
}

function noTwin(text) {
    for (const id of ['twin-answer', 'twin-now', 'twin-parted', 'twin-block', 'twin-notes']) $(id).hidden = true;
    $('time-section').after($('twin-section'));
    $('twin').parentNode.hidden = true;
    $('twin-how').hidden = false;
    write($('twin-how'), text);
}

function howToStart() {
    return 'No twin speaks here. It says what another policy would do with this traffic: give the upstream ' +
        `record=100000, run “ballast twin ${location.origin}${location.pathname} --publish FILE”, let ` +
        'nginx serve FILE, and name it with “ballast_status twin=/path”.';
}

function measured(now, name) {
    const predicted = now['predicted_' + name];
    return `${name} ${interval(now[name], now[name + '_error'])} measured` + (predicted === undefined ? ''
        : `, ${interval(predicted, now[`predicted_${name}_error`])} predicted`);
}

function percent(part) {
    return (100 * part).toFixed(Math.abs(part) < 0.1 ? 1 : 0);
}

// What is recommended, with what it would change.
function drawAnswer(twin) {
    const row = twin.rows.find(r => r.policy === twin.recommended && typeof r.than_now === 'number');
    const keep = twin.recommended && twin.now && twin.recommended === twin.now.policy;
    const part = row && !row.grows ? `: mean ${interval(row.mean, row.mean_error)}, ` +
        (row.than_now < 0 ? percent(-row.than_now) + ' % less' : percent(row.than_now) + ' % more') + ' than now' : '';
    $('twin-answer').hidden = !twin.recommended;
    write($('twin-answer'), keep ? `Keep ${twin.recommended}.` : `Take ${twin.recommended}${part}.`);
}

function twinRow(row, urgent) {
    const on = typeof row.on === 'number' ? `, ${short(row.on)} servers on` : '';
    return [row.what + on, row.grows ? 'grows' : interval(row.mean, row.mean_error),
        row.grows ? 'grows' : interval(row.p99, row.p99_error),
        typeof row.than_now === 'number' && !row.grows
            ? unbroken(percent(row.than_now) + (row.than_now_error ? ' ± ' + percent(row.than_now_error) : '') + ' %')
            : '–',
        ...(urgent ? [row.grows ? 'grows' : unbroken(time(row.high_p99))] : [])];
}

function fillNotes(notes) {
    const list = $('twin-notes');
    list.hidden = notes.length === 0;
    while (list.children.length > notes.length) list.lastChild.remove();
    notes.forEach((text, i) => write(list.children[i] || list.appendChild(make('li')), text));
}

function drawTwin(twin) {
    if (twin.schema !== 1) return noTwin('The twin speaks another version than this page.');
    const age = (clock ?? Date.now() / 1000) - twin.time;
    if (!Array.isArray(twin.rows))
        return noTwin('The twin: ' + (twin.trouble || twin.state || 'no answer yet') + '.');
    const now = twin.now || {};
    $('fleet-section').before($('twin-section'));
    drawAnswer(twin);
    $('twin-now').hidden = false;
    write($('twin-now'), `Now${now.policy ? ' (' + now.policy + ')' : ''}: ` +
        ['p99', 'mean'].map(name => measured(now, name)).join('; ') + '.');
    $('twin-parted').hidden = !twin.parted;
    write($('twin-parted'),
        `Prediction and measurement part by more than their intervals${twin.why ? ': ' + twin.why : ''}.`);
    $('twin').parentNode.hidden = false;
    const urgent = twin.rows.some(row => typeof row.high_p99 === 'number');
    $('twin-urgent').hidden = !urgent;
    fillTable($('twin').tBodies[0], twin.rows.map(row => twinRow(row, urgent)));
    fillNotes(twin.notes || []);
    $('twin-how').hidden = age < 60;
    write($('twin-how'), `The twin spoke ${count(age)} seconds ago; it may have ended.`);
    $('twin-block').hidden = !twin.upstream_block;
    write($('twin-block').querySelector('pre'), twin.change || twin.upstream_block || '');
    write($('twin-block').querySelector('summary'), twin.change ? 'The line of the upstream block that changes'
        : 'The upstream block for what is recommended');
}

async function pollTwin() {
    if (twinUri) {
        try {
            const answer = await fetch(twinUri, {cache: 'no-store', signal: AbortSignal.timeout(PATIENCE)});
            if (!answer.ok) throw new Error(answer.status);
            drawTwin(await answer.json());
        } catch (error) {
            noTwin(`The twin’s answer at ${twinUri} cannot be read (${error.message}). ` + howToStart());
        }
    } else {
        noTwin(howToStart());
    }
    setTimeout(pollTwin, TWIN_EVERY);
}

// ---- all ----

const histories = new Map();
let heard = null, begun = Date.now(), trouble = '';

function names(status) {
    return [...status.dispatchers.map(d => ['dispatcher', d, d.upstream + (d.backup ? ', backup' : '')]),
        ...status.stations.map(s => ['station', s, s.upstream + ', station'])];
}

function fillSelect(all) {
    const select = $('which'), wanted = all.map(([, , name]) => name);
    if (select.length === wanted.length && wanted.every((name, i) => select.options[i].text === name)) return;
    const before = select.value;
    select.replaceChildren(...wanted.map(name => new Option(name, name)));
    if (wanted.includes(before)) select.value = before;
    select.parentNode.hidden = wanted.length < 2;
}

// One that does not answer now stays chosen, with what it last said.
function show(status) {
    const all = [...names(status), ...[...spoken].flatMap(([uri, other]) =>
        names(other).map(([role, one, name]) => [role, one, `${name}, at ${uri}`, other, uri]))];
    fillSelect(all);
    for (const [role, one, name, other, uri] of all) {
        if (!histories.has(name)) histories.set(name, new History());
        const history = histories.get(name);
        history.silent = uri !== undefined && !others.get(uri);
        if (!history.silent) history.add(read(other || status, role, one));
    }
    drawHearing([status, ...[...others.values()].filter(other => other)]);
    twinUri = status.twin || null;
    clock = status.time;
    draw();
}

function draw() {
    const history = histories.get($('which').value), samples = history ? history.samples : [];
    const last = samples[samples.length - 1];
    if (!last || !last.one) return;
    const one = last.one;
    write($('about'), (history.silent ? 'no answer, what is shown is old: ' : '') + (last.station ? `station, ${one.slots} slots` : one.policy) +
        `, ${count(last.servers.length)} ${last.servers.length === 1 ? 'server' : 'servers'}, ` +
        `${one.processes} workers`);
    drawFleet(last.servers);
    const span = Number($('span').value), all = history.all(span);
    if (all.length) charts.forEach(chart => drawChart(chart, all, span));
    if ($('servers-details').open)
        fillTable($('servers').tBodies[0],
            last.servers.map(server => FIELDS.map(([, field]) => field(server, last))));
    if ($('counts-details').open) fillTable($('counts').tBodies[0], countRows(last));
}

function watchStall() {
    const silent = Date.now() - (heard ?? begun);
    const stalled = silent > 1500;
    document.body.classList.toggle('stalled', stalled);
    $('alarm').hidden = !stalled;
    if (stalled)
        write($('alarm'), `No answer for ${Math.floor(silent / 1000)} s${trouble}: what is shown is old.`);
}

async function poll() {
    try {
        const answer = await fetch(location.pathname + '?format=json',
            {cache: 'no-store', signal: AbortSignal.timeout(PATIENCE)});
        if (!answer.ok) throw new Error('status ' + answer.status);
        const status = await answer.json();
        if (status.schema !== 1) throw new Error('another schema');
        fleetUris = status.fleet || [];
        if (fleetUris.length) pollFleet();
        heard = Date.now();
        show(status);
        pollHours();
        trouble = '';
    } catch (error) {
        trouble = ' (' + error.message + ')';
    }
    watchStall();
    setTimeout(poll, EVERY);
}

$('which').addEventListener('change', draw);
$('span').addEventListener('change', draw);
$('servers-details').addEventListener('toggle', draw);
$('counts-details').addEventListener('toggle', draw);
makeHead();
charts.forEach(makeChart);
setInterval(watchStall, 250);
poll();
pollTwin();
