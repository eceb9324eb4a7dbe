"use strict";
// The data of the report: its columns, the sums that the sections show, and the words for its numbers.

const report = JSON.parse(document.getElementById("data").textContent);
const {tasks, attempts, waits, periods} = report;
for (const table of [tasks, attempts, waits, periods]) {
  for (const [name, column] of Object.entries(table)) {
    if (column.runs) table[name] = unpacked(column.runs);
    else if (column.steps) table[name] = added(unpacked(column.steps));
  }
}
tasks.size = tasks.missing.map((missing, task) => missing < 0 ? -1 : tasks.done[task] + missing);
const taskCount = tasks.id.length;
const attemptCount = attempts.number.length;

/// The values whose differences are given.
function added(differences) {
  for (let i = 1; i < differences.length; i++) differences[i] += differences[i - 1];
  return differences;
}
/// The values of a column that is stored as runs: each value with its count.
function unpacked(runs) {
  let count = 0;
  for (let i = 1; i < runs.length; i += 2) count += runs[i];
  const values = new Array(count);
  for (let i = 0, at = 0; i < runs.length; at += runs[i + 1], i += 2) values.fill(runs[i], at, at + runs[i + 1]);
  return values;
}

const STATES = ["", "waiting", "running", "suspended", "succeeded", "failed", "cancelled"];
const SUCCEEDED = 4, FAILED = 5, UPLOAD = 2;
const NEXT = ["", "end", "retry", "challenge", "stopped", "running"];
const STEPS = [
  {key: "lookup", words: "name lookup"}, {key: "connect", words: "connect"}, {key: "tls", words: "TLS"},
  {key: "first", words: "until the first byte"}, {key: "bytes", words: "bytes"},
];
const REASONS = {
  slot: "a free slot", suspended: "suspended by a user or program", retry: "delay before a retry",
  connecting: "response of the server", stalled: "server that sends nothing", disk: "work of the disk",
  disk_full: "space on the disk", credential: "credential", connectivity: "route to the server", rate: "rate limit",
  power: "external power", battery: "charge of the battery", heat: "machine too hot",
  pressure: "machine under pressure", metered: "metered network", network: "kind of network",
  throughput: "slow origin or network", earliest_start: "earliest start", quiet_hours: "quiet hours",
  budget: "budget of the network used up", sleep: "sleep of the machine", portal: "login page of the network",
  storage: "directory that is away", clock: "clock not set", origin: "pause that the server asked for",
  dependency: "another transfer",
};
/// The colours of reasons in charts, in this order.
const REASON_COLOURS = ["#c2571a", "#7b61c9", "#0f8b8d", "#b8336a", "#6b7f1d", "#4d7298", "#a0522d", "#5b6770"];

const reasonWords = (reason) => REASONS[report.reasons[reason]] ?? report.reasons[reason];
const reasonColour = (reason) => REASON_COLOURS[reason % REASON_COLOURS.length];

/// The position of each task's first row in another table.
function starts(counts) {
  const result = new Int32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) result[i + 1] = result[i] + counts[i];
  return result;
}
const attemptStart = starts(tasks.attempt_rows);
const waitStart = starts(tasks.wait_rows);

/// The task of each attempt.
const attemptTask = new Int32Array(attemptCount);
for (let task = 0; task < taskCount; task++) attemptTask.fill(task, attemptStart[task], attemptStart[task + 1]);

const median = (values) => {
  if (!values.length) return null;
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

function sizeText(bytes) {
  if (bytes < 0 || bytes === null) return "–";
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  while (bytes >= 999.5 && unit < units.length - 1) { bytes /= 1000; unit++; }
  return (unit === 0 || bytes >= 99.95 ? Math.round(bytes) : bytes.toFixed(1)) + " " + units[unit];
}
const rateText = (rate) => rate === null ? "–" : sizeText(rate) + "/s";

function durationText(ms) {
  if (ms === null || ms < 0) return "–";
  if (ms < 1) return ms === 0 ? "0 ms" : "< 1 ms";
  if (ms < 999.5) return Math.round(ms) + " ms";
  if (ms < 9950) return (ms / 1000).toFixed(1) + " s";
  const s = Math.round(ms / 1000);
  if (s < 60) return s + " s";
  if (s < 3600) return `${Math.floor(s / 60)} min` + (s % 60 ? ` ${s % 60} s` : "");
  const minutes = Math.round(s / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h` + (minutes % 60 ? ` ${minutes % 60} min` : "");
  return `${Math.floor(minutes / 1440)} d ${Math.floor(minutes % 1440 / 60)} h`;
}

/// A duration for a narrow column.
function shortDuration(ms) {
  if (ms < 59500) return durationText(ms);
  const units = [[60e3, 60, "min"], [3600e3, 48, "h"], [86400e3, Infinity, "d"]];
  const [length, , word] = units.find(([unit, most]) => ms / unit < most - 0.05);
  return `${(ms / length).toFixed(1)} ${word}`;
}

const two = (number) => String(number).padStart(2, "0");
function clockText(ms, seconds = true) {
  const date = new Date(ms);
  return `${two(date.getHours())}:${two(date.getMinutes())}` + (seconds ? `:${two(date.getSeconds())}` : "");
}
function dayText(ms) {
  const date = new Date(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
/// The viewer's time zone at a time, such as "UTC+02:00".
function zoneText(ms) {
  const minutes = -new Date(ms).getTimezoneOffset(), size = Math.abs(minutes);
  return `UTC${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
const timeText = (ms) => `${dayText(ms)} ${clockText(ms)}`;

/// Times in Unix milliseconds.
const enqueuedAt = (task) => report.base_ms + tasks.enqueued[task];
const endedAt = (task) => tasks.ended[task] < 0 ? null : enqueuedAt(task) + tasks.ended[task];
const startedAt = (attempt) => enqueuedAt(attemptTask[attempt]) + attempts.started[attempt];

const isUpload = (task) => tasks.kind[task] === UPLOAD;
const urlOf = (task) => report.origins[tasks.origin[task]] + tasks.path[task];
const fileOf = (task) => tasks.file[task] < 0 ? "" : report.files[tasks.file[task]];
function nameOf(task) {
  const path = tasks.path[task].replace(/\?…$/, "");
  return fileOf(task) || path.slice(path.lastIndexOf("/") + 1) || urlOf(task);
}
const errorMessage = (error) => report.errors[error][2] || report.errors[error][0];
/// Errors of one kind have the same key.
const errorKind = (error) => `${report.errors[error][0]} ${report.errors[error][1] ?? ""}`;

const kindOf = (task) => tasks.error[task] < 0 ? "no reason" : errorKind(tasks.error[task]);

/// The steps of an attempt that were measured, each with its begin and end in microseconds after the attempt's start.
function stepsOf(attempt) {
  const steps = [];
  let at = 0;
  const add = (step, end) => {
    if (end > at) { steps.push({step, begin: at, end}); at = end; }
  };
  add(0, attempts.domain_lookup[attempt]);
  add(1, attempts.connect[attempt]);
  add(2, attempts.secure_connection[attempt]);
  if (isUpload(attemptTask[attempt])) {
    add(3, attempts.request_start[attempt]);
    add(4, attempts.request_end[attempt]);
  }
  add(3, attempts.response_start[attempt]);
  add(4, attempts.response_end[attempt]);
  return steps;
}
/// The measured duration of an attempt in milliseconds.
function attemptDuration(attempt) {
  const steps = stepsOf(attempt);
  return steps.length ? steps[steps.length - 1].end / 1000 : null;
}
const bytesOf = (attempt) => Math.max(attempts.received[attempt], attempts.sent[attempt]);
/// The bytes that flow in the time of `flowOf`: the response of an upload does not count.
const flowBytesOf = (attempt) => (isUpload(attemptTask[attempt]) ? attempts.sent : attempts.received)[attempt];

/// When the bytes of an attempt began and ended to flow, in microseconds after its start. Null if it is not known.
function flowOf(attempt) {
  const begin = isUpload(attemptTask[attempt]) ? attempts.request_start[attempt] : attempts.response_start[attempt];
  const end = isUpload(attemptTask[attempt]) ? attempts.request_end[attempt] : attempts.response_end[attempt];
  return begin < 0 || end < begin ? null : {begin, end: Math.max(end, begin + 100)};
}
/// The time from the request to the first byte of the response in milliseconds.
function firstByteOf(attempt) {
  const end = attempts.response_start[attempt];
  if (end < 0) return null;
  const sent = isUpload(attemptTask[attempt]) ? attempts.request_end[attempt] : attempts.request_start[attempt];
  return Math.max(0, end - Math.max(0, sent)) / 1000;
}
/// The rate is measured for attempts with enough bytes, because fewer bytes arrive in one piece.
const LEAST_BYTES = 16000;
function rateOf(attempt) {
  const flow = flowOf(attempt), bytes = flowBytesOf(attempt);
  return flow === null || bytes < LEAST_BYTES ? null : bytes / (flow.end - flow.begin) * 1e6;
}

/// Values of each task that the table shows and sorts.
const taskRate = new Float64Array(taskCount).fill(-1);
const taskFirstByte = new Float64Array(taskCount).fill(-1);
const taskWaited = new Float64Array(taskCount);
const taskTook = new Float64Array(taskCount);
for (let task = 0; task < taskCount; task++) {
  let bytes = 0, time = 0;
  for (let attempt = attemptStart[task]; attempt < attemptStart[task + 1]; attempt++) {
    const flow = flowOf(attempt);
    if (flow && flowBytesOf(attempt) > 0) { bytes += flowBytesOf(attempt); time += flow.end - flow.begin; }
    const first = firstByteOf(attempt);
    if (first !== null) taskFirstByte[task] = first;
  }
  if (bytes >= LEAST_BYTES) taskRate[task] = bytes / time * 1e6;
  for (let wait = waitStart[task]; wait < waitStart[task + 1]; wait++) taskWaited[task] += waits.duration[wait];
  taskTook[task] = (endedAt(task) ?? report.made_ms) - enqueuedAt(task);
}

/// The retries of each task. An attempt that answers a server's demand for a credential is no retry.
const taskRetries = Array.from(tasks.attempts, (count) => Math.max(0, count - 1));
for (let attempt = 0; attempt < attemptCount; attempt++) {
  const task = attemptTask[attempt];
  if (NEXT[attempts.next[attempt]] === "challenge" && taskRetries[task]) taskRetries[task]--;
}

/// The ended tasks, attempts, medians and bytes of each origin. An origin is slow if it stands out from the others.
function originSums() {
  const sums = report.origins.map((name, origin) => ({
    name, origin, tasks: 0, failed: 0, attempts: 0, retries: 0, bytes: 0, rates: [], firsts: [],
  }));
  for (let task = 0; task < taskCount; task++) {
    const sum = sums[tasks.origin[task]];
    sum.tasks++;
    if (tasks.state[task] === FAILED) sum.failed++;
    sum.retries += taskRetries[task];
  }
  for (let attempt = 0; attempt < attemptCount; attempt++) {
    const sum = sums[attempts.origin[attempt]], rate = rateOf(attempt), first = firstByteOf(attempt);
    sum.attempts++;
    sum.bytes += bytesOf(attempt);
    if (rate !== null) sum.rates.push(rate);
    if (first !== null && attempts.error[attempt] < 0) sum.firsts.push(first);
  }
  for (const sum of sums) {
    sum.rate = median(sum.rates);
    sum.first = median(sum.firsts);
  }
  for (const sum of sums) markSlow(sum, sums);
  return sums.filter((sum) => sum.tasks || sum.attempts);
}

/// Marks an origin whose median rate is below a third of the median of the other origins, or whose median time until
/// the first byte is more than three times theirs, and at least 100 ms longer.
function markSlow(sum, sums) {
  const LEAST_MEASURED = 3;
  const others = (values, value) => median(
    sums.filter((other) => other !== sum && other[values].length >= LEAST_MEASURED).map((other) => other[value]));
  const rate = others("rates", "rate"), first = others("firsts", "first");
  sum.otherRate = rate;
  sum.otherFirst = first;
  sum.isSlowRate = sum.rates.length >= LEAST_MEASURED && rate !== null && sum.rate < rate / 3;
  sum.isSlowFirst = sum.firsts.length >= LEAST_MEASURED && first !== null && sum.first > first * 3
    && sum.first > first + 100;
  sum.isSlow = sum.isSlowRate || sum.isSlowFirst;
}

/// The failed tasks by the kind of their error and by their origin, the largest group first.
function failureGroups() {
  const groups = new Map();
  for (let task = 0; task < taskCount; task++) {
    if (tasks.state[task] !== FAILED) continue;
    const error = tasks.error[task], kind = kindOf(task), key = kind + "\n" + tasks.origin[task];
    let group = groups.get(key);
    if (!group) groups.set(key, group = {kind, origin: tasks.origin[task], tasks: [], messages: new Map()});
    group.tasks.push(task);
    const message = error < 0 ? "no reason is known" : errorMessage(error);
    group.messages.set(message, (group.messages.get(message) ?? 0) + 1);
  }
  for (const group of groups.values()) {
    const sorted = [...group.messages].sort((a, b) => b[1] - a[1]);
    group.message = sorted[0][0];
    group.others = sorted.length - 1;
  }
  return [...groups.values()].sort((a, b) => b.tasks.length - a.tasks.length);
}

/// The sums of the waits for each reason, the longest first.
function waitSums() {
  const sums = report.reasons.map((_, reason) => ({reason, duration: 0, tasks: 0, longest: 0}));
  for (let wait = 0; wait < waits.reason.length; wait++) {
    const sum = sums[waits.reason[wait]];
    sum.duration += waits.duration[wait];
    sum.tasks++;
    sum.longest = Math.max(sum.longest, waits.duration[wait]);
  }
  return sums.filter((sum) => sum.tasks).sort((a, b) => b.duration - a.duration);
}

/// The time of all tasks together, in milliseconds, by what they did. `rest` is the time of which no record says what
/// they did.
function timeSums() {
  const steps = STEPS.map(() => 0);
  let whole = 0, waited = 0;
  for (let task = 0; task < taskCount; task++) { whole += taskTook[task]; waited += taskWaited[task]; }
  let running = 0;
  for (let attempt = 0; attempt < attemptCount; attempt++) {
    for (const {step, begin, end} of stepsOf(attempt)) {
      steps[step] += (end - begin) / 1000;
      running += (end - begin) / 1000;
    }
  }
  return {steps, rest: Math.max(0, whole - waited - running)};
}

/// The sums of the whole report.
function totals() {
  const sum = {states: STATES.map(() => 0), received: 0, sent: 0, retries: 0, retried: 0, resumed: 0};
  for (let task = 0; task < taskCount; task++) {
    sum.states[tasks.state[task]]++;
    if (taskRetries[task]) { sum.retried++; sum.retries += taskRetries[task]; }
  }
  for (let attempt = 0; attempt < attemptCount; attempt++) {
    sum.received += attempts.received[attempt];
    sum.sent += attempts.sent[attempt];
    // Bytes that an earlier attempt has stored, so that this attempt did not transfer them again.
    sum.resumed += attempts.offset[attempt];
  }
  return sum;
}

/// The begin and the end of everything that the report has, in Unix milliseconds.
function wholeRange() {
  if (!taskCount) return null;
  let begin = Infinity, end = -Infinity;
  for (let task = 0; task < taskCount; task++) {
    begin = Math.min(begin, enqueuedAt(task));
    end = Math.max(end, endedAt(task) ?? report.made_ms);
  }
  return {begin, end: Math.max(end, begin + 1)};
}
