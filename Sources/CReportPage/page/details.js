// The dialog with the details of one transfer.

function openDetails(task) {
  const dialog = byID("details");
  byID("details-title").replaceChildren(`${nameOf(task)} `, stateBadge(task));
  byID("details-body").replaceChildren(facts(task), ...timeline(task), ...attemptTable(task), ...waitTable(task));
  dialog.showModal();
  dialog.scrollTop = 0;
}

function facts(task) {
  const list = element("dl", {class: "facts"}), ended = endedAt(task);
  const add = (words, value) => value === null || value === ""
    ? null : list.append(element("dt", {}, words), element("dd", {}, value));
  add("Task", `${tasks.id[task]} of session ${report.sessions[tasks.session[task]]}`);
  add("URL", linkTo(task));
  add("File", fileOf(task));
  add("Group", tasks.group[task] < 0 ? null : report.groups[tasks.group[task]]);
  add(isUpload(task) ? "Sent" : "Received", `${sizeText(tasks.done[task])}`
    + (tasks.size[task] >= 0 ? ` of ${sizeText(tasks.size[task])}` : ""));
  add("Enqueued", timeText(enqueuedAt(task)));
  add("Ended", ended === null ? null : `${timeText(ended)}, after ${durationText(taskTook[task])}`);
  add("HTTP status", tasks.http_status[task] < 0 ? null : String(tasks.http_status[task]));
  add(tasks.state[task] === FAILED ? "Failed because" : "Last error or reason", remarkOf(task));
  return list;
}

/// The URL, as a link if it is whole and leads to the web.
function linkTo(task) {
  const url = urlOf(task);
  if (!/^https?:\/\/[^…]+$/i.test(url)) return url;
  return element("a", {href: url, rel: "noreferrer noopener", target: "_blank"}, url);
}

/// When the task waited and ran, from its enqueue to its end.
function timeline(task) {
  const whole = Math.max(1, taskTook[task]), track = element("span", {class: "track"}), parts = [], legend = new Map();
  const add = (begin, end, colour, words) => {
    legend.set(words, colour);
    const part = coloured("i", colour, {title: words});
    part.style.left = Math.max(0, begin) / whole * 100 + "%";
    part.style.width = (Math.min(end, whole) - Math.max(0, begin)) / whole * 100 + "%";
    parts.push(part);
  };
  for (let wait = waitStart[task]; wait < waitStart[task + 1]; wait++) {
    add(waits.began[wait], waits.ended[wait], reasonColour(waits.reason[wait]), reasonWords(waits.reason[wait]));
  }
  for (let attempt = attemptStart[task]; attempt < attemptStart[task + 1]; attempt++) {
    const started = attempts.started[attempt];
    for (const {step, begin, end} of stepsOf(attempt)) {
      add(started + begin / 1000, started + end / 1000, stepColour(step), STEPS[step].words);
    }
  }
  if (!parts.length) return [];
  track.append(...parts);
  const words = [...legend, ["in the queue, or not recorded", "--queue"]].map(([text, colour]) =>
    element("li", {}, coloured("span", colour, {class: "swatch"}), text));
  return [element("h3", {}, "From enqueue to end"), element("div", {class: "whole", "aria-hidden": "true"}, track),
    element("ul", {class: "legend"}, ...words)];
}

function attemptTable(task) {
  const rows = [], time = (value) => value < 0 ? "–" : durationText(value / 1000);
  for (let attempt = attemptStart[task]; attempt < attemptStart[task + 1]; attempt++) {
    const error = attempts.error[attempt], notes = [];
    if (attempts.offset[attempt]) notes.push(`continued at ${sizeText(attempts.offset[attempt])}`);
    if (attempts.connection[attempt] & 1) notes.push("connection used again");
    if (attempts.connection[attempt] & 2) notes.push("through a proxy");
    if (attempts.redirects[attempt]) notes.push(`redirected to ${report.origins[attempts.origin[attempt]]}`);
    const result = error < 0 ? {end: "ok", retry: "ok"}[NEXT[attempts.next[attempt]]] ?? NEXT[attempts.next[attempt]]
      : errorMessage(error);
    rows.push([String(attempts.number[attempt]), clockText(startedAt(attempt)), time(attempts.domain_lookup[attempt]),
      time(attempts.connect[attempt]), time(attempts.secure_connection[attempt]),
      time(attempts.response_start[attempt]), time(attempts.response_end[attempt]), sizeText(bytesOf(attempt)),
      element("div", {}, result, element("span", {class: "sub"},
        [attempts.protocol[attempt] < 0 ? "" : report.protocols[attempts.protocol[attempt]], ...notes]
          .filter((note) => note).join(", ")))]);
  }
  if (!rows.length) return [];
  return [element("h3", {}, "Attempts"), element("div", {class: "scroll", tabindex: "0", role: "region",
    "aria-label": "Attempts"}, simpleTable(["No.", "Started", "Name", "Connect", "TLS", "First byte", "Last byte",
    "Bytes", "Result"], rows, [0, 1, 2, 3, 4, 5, 6, 7], "cards"))];
}

function waitTable(task) {
  const rows = [];
  for (let wait = waitStart[task]; wait < waitStart[task + 1]; wait++) {
    const begin = enqueuedAt(task) + waits.began[wait], end = enqueuedAt(task) + waits.ended[wait];
    rows.push([reasonWords(waits.reason[wait]), String(waits.count[wait]), durationText(waits.duration[wait]),
      `${timeText(begin)} to ${clockText(end)}`]);
  }
  if (!rows.length) return [];
  return [element("h3", {}, "Waits"),
    element("div", {class: "scroll"}, simpleTable(["For", "Times", "Together", "Between"], rows, [1, 2], "cards"))];
}

byID("details-close").addEventListener("click", () => byID("details").close());
byID("details").addEventListener("click", (event) => {
  if (event.target === byID("details")) byID("details").close();
});
