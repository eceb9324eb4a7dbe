// Fills the sections of the page. The summary comes first, and the other sections after the first paint.

const range = wholeRange(), sum = totals(), origins = originSums(), failures = failureGroups(), waitTotals = waitSums();
const slowOrigins = origins.filter((origin) => origin.isSlow);
let table;

function fillTop() {
  byID("title").textContent = report.title;
  const made = `made ${timeText(report.made_ms)}, times in ${zoneText(report.made_ms)}`;
  byID("range").textContent = range
    ? `${timeText(range.begin)} to ${dayText(range.begin) === dayText(range.end) ? clockText(range.end)
      : timeText(range.end)} (${durationText(range.end - range.begin)}), ${made}` : made;
  document.title = `${report.title}: Backhaul report`;
  if (report.attempts_left_out) {
    byID("omitted").textContent = `${plural(report.attempts_left_out, "attempt")} of transfers with many attempts are `
      + "left out.";
  }
}

function finding(kind, mark, words, more = null, action = null) {
  byID("findings").append(element("li", {class: "finding " + kind},
    element("span", {class: "mark", "aria-hidden": "true"}, mark), element("strong", {}, words), action,
    more === null ? null : element("span", {class: "more"}, more)));
}

function showButton(words, filters) {
  const button = element("button", {type: "button"}, words);
  button.addEventListener("click", () => table.show(filters));
  return button;
}

function fillFindings() {
  if (!taskCount) {
    finding("", "i", "There are no transfers.", "The session has no tasks, and its history is empty.");
    return;
  }
  const states = sum.states.map((count, state) => ({count, word: STATES[state], state})).filter((one) => one.count);
  const failed = sum.states[FAILED], succeeded = sum.states[SUCCEEDED];
  const open = sum.states[1] + sum.states[2] + sum.states[3];
  finding(failed ? "" : open ? "" : "good", failed || open ? "i" : "✓",
    failed === 0 && succeeded === taskCount && taskCount > 1 ? `All ${plural(taskCount, "transfer")} succeeded.`
      : `${succeeded.toLocaleString("en")} of ${plural(taskCount, "transfer")} succeeded.`,
    states.length > 1 ? states.map((one) => `${one.count.toLocaleString("en")} ${one.word}`).join(", ") : null);
  const kinds = failureKinds();
  for (const kind of kinds.slice(0, 3)) fillFailureFinding(kind);
  if (kinds.length > 3) {
    finding("bad", "!", `${plural(kinds.slice(3).reduce((count, kind) => count + kind.count, 0), "more failure")} for `
      + `${plural(kinds.length - 3, "other reason")}`, "The section Failures has all reasons.");
  }
  for (const origin of slowOrigins.slice(0, 3)) {
    finding("warn", "↓", `Slow origin: ${origin.name}`, slowWords(origin),
      showButton("Show", {"filter-origin": String(origin.origin)}));
  }
  const [longest] = waitTotals.filter((wait) => wait.duration >= 1000);
  if (longest) {
    finding("", "◷", `Longest waits: ${reasonWords(longest.reason)}, up to ${durationText(longest.longest)}`,
      `${plural(longest.tasks, "transfer")} waited for this, added up ${durationText(longest.duration)}.`
      + periodWords(longest.reason), showButton("Show", {"filter-wait": String(longest.reason)}));
  }
}

/// The failures by their kind, each with its groups of one origin.
function failureKinds() {
  const kinds = new Map();
  for (const group of failures) {
    const kind = kinds.get(group.kind) ?? {kind: group.kind, message: group.message, count: 0, groups: []};
    kind.count += group.tasks.length;
    kind.groups.push(group);
    kinds.set(group.kind, kind);
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count);
}

function fillFailureFinding({kind, message, count, groups}) {
  const [first] = groups, name = (group) => report.origins[group.origin];
  if (groups.length === 1) {
    finding("bad", "!", `${count.toLocaleString("en")} failed at ${name(first)}: ${message}`, statusWords(kind) || null,
      failureButton(first));
    return;
  }
  const places = groups.slice(0, 3).map((group) => `${name(group)} (${group.tasks.length.toLocaleString("en")})`);
  if (groups.length > 3) places.push(plural(groups.length - 3, "more origin"));
  const meaning = statusWords(kind), more = `${meaning ? meaning + "; " : ""}at ${places.join(", ")}`;
  finding("bad", "!", `${count.toLocaleString("en")} failed: ${message}`, more,
    showButton("Show", {"filter-error": kind}));
}

/// What the status of a server means.
function statusWords(kind) {
  const found = /^BH_HTTP_STATUS (\d+)$/.exec(kind);
  const meanings = {
    400: "the server did not understand the request", 401: "the server demands a credential",
    403: "the server forbids access to these files", 404: "the server does not have these files",
    410: "the server has removed these files", 429: "too many requests",
  };
  return !found ? "" : meanings[found[1]] ?? (found[1] >= 500 ? "the server has a fault or is overloaded" : "");
}

/// The only period in which tasks waited for the reason.
function periodWords(reason) {
  const own = bands().find((band) => band.reason === reason)?.list ?? [];
  return own.length === 1 ? ` From ${timeText(own[0].begin)} to ${clockText(own[0].end)}.` : "";
}

function slowWords(origin) {
  const words = [];
  if (origin.isSlowRate) {
    words.push(`median rate ${rateText(origin.rate)}, at other origins ${rateText(origin.otherRate)}`);
  }
  if (origin.isSlowFirst) {
    words.push(`median time until the first byte ${durationText(origin.first)}, at other origins `
      + durationText(origin.otherFirst));
  }
  return words.join("; ");
}

const failureButton = (group) => showButton("Show", {
  "filter-error": group.kind, "filter-origin": String(group.origin),
});

function fillFigures() {
  if (!taskCount) return;
  const live = sum.states[1] + sum.states[2] + sum.states[3];
  const figures = [
    ["transfers", taskCount.toLocaleString("en")], ["succeeded", sum.states[SUCCEEDED].toLocaleString("en")],
    ["failed", sum.states[FAILED].toLocaleString("en")],
    live ? ["not ended", live.toLocaleString("en")] : ["cancelled", sum.states[6].toLocaleString("en")],
    ["received", sizeText(sum.received)], ["sent", sizeText(sum.sent)],
    ["retries", sum.retries.toLocaleString("en")], ["resumed bytes", sizeText(sum.resumed)],
  ];
  for (const [words, value] of figures) {
    if (words === "sent" && !sum.sent) continue;
    byID("figures").append(element("div", {}, element("dt", {}, words), element("dd", {}, value)));
  }
}

/// A table with a head. `numbers` has the positions of its columns with numbers. The style may show the rows of a table
/// of the class "cards" as blocks, so the roles are stated.
function simpleTable(titles, rows, numbers = [], kind = "") {
  const ofColumn = (i) => ({class: numbers.includes(i) ? "number" : ""});
  return element("table", {class: kind, role: "table"},
    element("thead", {role: "rowgroup"}, element("tr", {role: "row"}, ...titles.map((title, i) =>
      element("th", {scope: "col", role: "columnheader", ...ofColumn(i)}, title)))),
    element("tbody", {role: "rowgroup"}, ...rows.map((cells) => element("tr", {role: "row"}, ...cells.map((cell, i) =>
      element("td", {role: "cell", "data-title": titles[i], ...ofColumn(i)}, cell))))));
}

function fillFailures() {
  const holder = byID("failures-body");
  if (!failures.length) {
    holder.append(element("p", {class: "empty"}, "No transfer failed."));
    return;
  }
  holder.append(simpleTable(["Transfers", "Reason and origin", ""], failures.slice(0, 100).map((group) => {
    const reason = element("div", {}, element("strong", {}, group.message),
      element("span", {class: "sub"}, [statusWords(group.kind), group.kind,
        group.others ? plural(group.others, "similar message") : ""].filter((words) => words).join("; ")),
      element("span", {class: "origin"}, report.origins[group.origin]));
    return [group.tasks.length.toLocaleString("en"), reason, failureButton(group)];
  }), [0, 2]));
}

function fillTime() {
  const {steps, rest} = timeSums();
  const parts = [
    ...STEPS.map((step, i) => ({words: step.words, colour: stepColour(i), time: steps[i], id: step.key})),
    ...waitTotals.map(({reason, duration}) => ({words: "waited: " + reasonWords(reason), colour: reasonColour(reason),
      time: duration, id: report.reasons[reason]})),
  ].filter((part) => part.time >= 1).sort((a, b) => b.time - a.time);
  const whole = parts.reduce((total, part) => total + part.time, 0);
  if (rest >= 1000) {
    byID("rest-note").textContent = `Besides, there is no detailed record of ${durationText(rest)}, added up: a `
      + "transfer waited for a free slot, for a rate limit, or for a response that did not come; or it had been "
      + "suspended.";
  }
  if (!whole) {
    byID("time-body").append(element("p", {class: "empty"}, "No time was measured."));
    return;
  }
  byID("time-note").textContent = `What the transfers did and waited for, added up: ${durationText(whole)}.`;
  const bar = element("div", {class: "stack", "aria-hidden": "true"}), list = element("ul", {class: "parts"});
  for (const part of parts) {
    const piece = coloured("i", part.colour);
    piece.style.flexGrow = part.time / whole * 1000;
    bar.append(piece);
    list.append(element("li", {"data-part": part.id}, coloured("span", part.colour, {class: "swatch"}),
      element("span", {}, part.words), element("span", {class: "number"}, durationText(part.time)),
      element("span", {class: "number muted"},
        part.time / whole < 0.001 ? "< 0.1 %" : `${(part.time / whole * 100).toFixed(1)} %`)));
  }
  byID("time-body").append(bar, list);
}

function meter(value, highest, isMarked, text) {
  const bar = element("i");
  bar.style.width = value === null ? "0" : Math.max(1, value / highest * 100) + "%";
  return element("div", {class: isMarked ? "value-warn" : ""}, text,
    element("span", {class: "meter" + (isMarked ? " warn" : ""), "aria-hidden": "true"}, bar));
}

function fillOrigins() {
  const holder = byID("origins-body");
  if (!origins.length) {
    holder.append(element("p", {class: "empty"}, "There are no origins."));
    return;
  }
  const rank = (origin) => (origin.isSlow ? 2 : 0) + (origin.failed ? 1 : 0);
  const shown = [...origins].sort((a, b) => rank(b) - rank(a) || b.tasks - a.tasks).slice(0, 50);
  const highest = (key) => Math.max(...shown.map((origin) => origin[key] ?? 0), 1e-9);
  const [rate, first] = [highest("rate"), highest("first")];
  holder.append(simpleTable(
    ["Origin", "Transfers", "Failed", "Median rate", "Median first byte", "Bytes", "Retries"],
    shown.map((origin) => {
      const name = element("button", {type: "button", class: "link origin"}, origin.name);
      name.addEventListener("click", () => table.show({"filter-origin": String(origin.origin)}));
      const badges = [origin.isSlow ? element("span", {class: "badge warn"}, "slow") : "",
        origin.failed ? element("span", {class: "badge bad"}, "failures") : ""];
      return [element("div", {}, name, " ", badges[0], " ", badges[1]), origin.tasks.toLocaleString("en"),
        origin.failed.toLocaleString("en"), meter(origin.rate, rate, origin.isSlowRate, rateText(origin.rate)),
        meter(origin.first, first, origin.isSlowFirst, durationText(origin.first)), sizeText(origin.bytes),
        origin.retries.toLocaleString("en")];
    }), [1, 2, 5, 6], "cards"));
  byID("origins-note").textContent = "Slow: the median rate is below a third of the median of the other origins, or "
    + "the median time until the first byte is more than three times theirs and 100 ms longer. The rate is measured "
    + `for attempts with at least ${short(sizeText(LEAST_BYTES))}.`
    + (origins.length > shown.length ? ` ${plural(origins.length - shown.length, "more origin")} not listed.` : "");
}

function fillCharts() {
  if (!range || !attemptCount) {
    byID("rate-chart").append(element("p", {class: "empty"}, "No attempt was measured."));
  } else {
    const readout = byID("rate-readout"), pauses = pausesOf(range), shortens = byID("rate-pauses");
    readout.dataset.usual = `${sizeText(sum.received + sum.sent)} in ${durationText(range.end - range.begin)}`;
    readout.textContent = readout.dataset.usual;
    const paused = pauses.reduce((time, pause) => time + pause.end - pause.begin, 0);
    shortens.checked = paused > (range.end - range.begin) / 2;
    byID("rate-bar").hidden = !pauses.length;
    byID("rate-note").textContent = "The bytes of an attempt are spread evenly over its time."
      + (sum.states[FAILED] ? " Red marks are failures." : "")
      + (periods.reason.length ? " The bands show when transfers waited." : "");
    const redraw = drawAtEachWidth(byID("rate-chart"),
      (width) => rateChart(range, shortens.checked ? pauses : [], width));
    shortens.addEventListener("change", redraw);
  }
  drawAtEachWidth(byID("sizes-chart"), sizesChart);
}

function fillRetries() {
  const holder = byID("retries-body");
  if (!sum.retries) {
    holder.append(element("p", {class: "empty"}, "No transfer was retried."));
    return;
  }
  const count = sum.retries === 1 ? "one retry" : `${sum.retries.toLocaleString("en")} retries`;
  holder.append(element("p", {class: "muted"}, `${plural(sum.retried, "transfer")} had ${count}. `
    + `${sizeText(sum.resumed)} were not transferred again, because `
    + "attempts continued where earlier ones had ended."));
  const rows = retryGroups();
  if (rows.length) {
    holder.append(simpleTable(["Retries", "Retried because", "Resumed"], rows.slice(0, 20).map((group) =>
      [group.count.toLocaleString("en"), element("div", {}, group.message,
        element("span", {class: "sub origin"}, report.origins[group.origin])), sizeText(group.resumed)]), [0, 2]));
  }
}

/// The attempts that another attempt followed, by the kind of their error and by their origin.
function retryGroups() {
  const groups = new Map();
  for (let attempt = 0; attempt < attemptCount; attempt++) {
    const error = attempts.error[attempt], origin = attempts.origin[attempt], next = NEXT[attempts.next[attempt]];
    if (attempt + 1 === attemptStart[attemptTask[attempt] + 1] || next === "challenge") continue;
    const message = error >= 0 ? errorMessage(error)
      : "the attempt was stopped, because the transfer had to wait or was suspended, or because the engine ended";
    const key = `${error < 0 ? next : errorKind(error)}\n${origin}`;
    const group = groups.get(key) ?? {count: 0, origin, message, resumed: 0};
    group.count++;
    group.resumed += attempts.offset[attempt + 1];
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

const ORDERS = {
  slow: (attempt) => -(attemptDuration(attempt) ?? 0), first: (attempt) => -(firstByteOf(attempt) ?? 0),
  failed: (attempt) => -(attemptDuration(attempt) ?? 0), early: startedAt,
};

function fillWaterfall() {
  const MOST = 25, order = byID("waterfall-order").value, follows = byID("waterfall-follow").checked;
  const kept = follows ? new Set(table.list) : null, list = [];
  for (let attempt = 0; attempt < attemptCount; attempt++) {
    if (kept && !kept.has(attemptTask[attempt])) continue;
    if (order === "failed" ? attempts.error[attempt] >= 0 : attemptDuration(attempt) !== null) list.push(attempt);
  }
  const keys = new Map(list.map((attempt) => [attempt, ORDERS[order](attempt)]));
  list.sort((a, b) => keys.get(a) - keys.get(b) || a - b);
  byID("waterfall-body").replaceChildren(list.length ? waterfall(list.slice(0, MOST), openDetails)
    : element("p", {class: "empty"}, order === "failed" ? "No attempt failed." : "No attempt was measured."));
}

function fillLegend() {
  byID("legend").append(...STEPS.map((step, i) =>
    element("li", {}, coloured("span", stepColour(i), {class: "swatch"}), step.words)));
  byID("waterfall-order").addEventListener("change", fillWaterfall);
  byID("waterfall-follow").addEventListener("change", fillWaterfall);
}

function fillRest() {
  fillOrigins();
  fillCharts();
  fillRetries();
  table = new TransferTable(openDetails);
  fillLegend();
  fillWaterfall();
  table.changed = () => { if (byID("waterfall-follow").checked) fillWaterfall(); };
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, select, textarea") || byID("details").open;
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    byID("filter-text").focus();
  });
  document.documentElement.dataset.ready = "yes";
}

fillTop();
fillFindings();
fillFigures();
fillFailures();
fillTime();
// The browser paints the summary before the other sections are made.
requestAnimationFrame(() => setTimeout(fillRest));
