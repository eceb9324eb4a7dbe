// Builds elements and draws the charts. Texts become text nodes only, because they come from users and servers.

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key in made && typeof value !== "string") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}
function drawn(name, attributes = {}, text = null) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  return made;
}
/// The text of a number without a fraction of 0.
const short = (text) => text.replace(".0 ", " ");
const byID = (id) => document.getElementById(id);

/// A swatch or a bar, whose colour is a custom property of the style or a colour.
function coloured(name, colour, properties = {}) {
  const made = element(name, properties);
  made.style.background = colour.startsWith("--") ? `var(${colour})` : colour;
  return made;
}
const stepColour = (step) => "--" + STEPS[step].key;

/// Draws a chart, and again when its width changes. Returns a function that draws it again.
function drawAtEachWidth(holder, draw) {
  let last = 0;
  const redraw = (isForced) => {
    const width = Math.floor(holder.clientWidth);
    if (width === last && isForced !== true || width === 0) return;
    last = width;
    holder.replaceChildren(draw(width));
  };
  new ResizeObserver(redraw).observe(holder);
  redraw();
  return () => redraw(true);
}

/// A round number of at least `value`, for the steps of an axis.
function roundStep(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= value * 0.999);
}
const TIME_STEPS = [10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3,
  1800e3, 3600e3, 7200e3, 10800e3, 21600e3, 43200e3, 86400e3];

/// The labels of a time axis: times that are whole in the viewer's time zone.
function timeTicks(begin, end, most) {
  const step = TIME_STEPS.find((one) => (end - begin) / one <= most)
    ?? 86400e3 * roundStep((end - begin) / 86400e3 / most);
  const shift = new Date(begin).getTimezoneOffset() * 60000;
  const ticks = [];
  for (let at = Math.ceil((begin - shift) / step) * step + shift; at <= end; at += step) {
    const isDay = step >= 86400e3 || (end - begin > 86400e3 && clockText(at) === "00:00:00");
    const fraction = step < 1000 ? "." + String(Math.round(at % 1000)).padStart(3, "0") : "";
    ticks.push({at, text: isDay ? dayText(at) : clockText(at, step < 60e3) + fraction});
  }
  return ticks;
}

/// The periods in which no attempt ran, if they are a tenth of the range or longer.
function pausesOf(range) {
  const runs = Array.from({length: attemptCount}, (_, attempt) => attempt)
    .map((attempt) => [startedAt(attempt), startedAt(attempt) + (attemptDuration(attempt) ?? 0)])
    .sort((a, b) => a[0] - b[0]);
  const found = [];
  let last = range.begin;
  for (const [begin, end] of [...runs, [range.end, range.end]]) {
    if (begin - last >= (range.end - range.begin) / 10) found.push({begin: last, end: begin, isPause: true});
    last = Math.max(last, end);
  }
  return found;
}

/// Maps times to places from 0 to 1. Each pause of `pauses` is as wide as a tenth of all other time.
function timeScale(range, pauses) {
  const parts = [];
  let last = range.begin;
  for (const pause of pauses) {
    if (pause.begin > last) parts.push({begin: last, end: pause.begin});
    parts.push(pause);
    last = pause.end;
  }
  if (range.end > last || !parts.length) parts.push({begin: last, end: range.end});
  const busy = parts.reduce((sum, part) => sum + (part.isPause ? 0 : part.end - part.begin), 0) || 1;
  let place = 0;
  for (const part of parts) {
    part.place = place;
    part.width = part.isPause ? busy / 10 : part.end - part.begin;
    place += part.width;
  }
  for (const part of parts) { part.place /= place; part.width /= place; }
  const partAt = (isIn) => parts.find(isIn) ?? parts[parts.length - 1];
  return {
    parts,
    place(at) {
      const part = partAt((one) => at <= one.end), share = (at - part.begin) / (part.end - part.begin || 1);
      return part.place + part.width * Math.max(0, Math.min(1, share));
    },
    time(at) {
      const part = partAt((one) => at <= one.place + one.width);
      return part.begin + (at - part.place) / part.width * (part.end - part.begin);
    },
  };
}

/// The bytes per second in each of `count` parts of the scale, which are equally wide.
function rates(scale, count) {
  const result = new Float64Array(count);
  const limits = Float64Array.from({length: count + 1}, (_, part) => scale.time(part / count));
  for (let attempt = 0; attempt < attemptCount; attempt++) {
    const flow = flowOf(attempt), bytes = flowBytesOf(attempt);
    if (!flow || !bytes) continue;
    const begin = startedAt(attempt) + flow.begin / 1000;
    const end = Math.max(begin + 0.1, startedAt(attempt) + flow.end / 1000);
    let part = Math.max(0, Math.min(count - 1, Math.floor(scale.place(begin) * count)));
    for (; part < count && limits[part] < end; part++) {
      const time = Math.min(end, limits[part + 1]) - Math.max(begin, limits[part]);
      result[part] += bytes * Math.max(0, time) / (end - begin);
    }
  }
  for (let part = 0; part < count; part++) result[part] *= 1000 / (limits[part + 1] - limits[part] || 1);
  return result;
}

/// The reasons with periods, each with its periods, for the bands of the chart.
function bands() {
  const found = new Map();
  for (let i = 0; i < periods.reason.length; i++) {
    const list = found.get(periods.reason[i]) ?? [];
    list.push({begin: report.base_ms + periods.began[i], end: report.base_ms + periods.ended[i]});
    found.set(periods.reason[i], list);
  }
  const length = (list) => list.reduce((sum, one) => sum + one.end - one.begin, 0);
  return [...found].map(([reason, list]) => ({reason, list, length: length(list)}))
    .sort((a, b) => b.length - a.length).slice(0, 8);
}

/// The reasons that hold many transfers at the same time.
const HOLDING = new Set(["disk_full", "connectivity", "power", "battery", "heat", "pressure", "metered", "network",
  "throughput", "quiet_hours", "budget", "sleep", "portal", "storage", "clock"]);
const RATE_HEIGHT = 190, BAND_HEIGHT = 34;

/// The chart of the rate, with the failures and a band for each reason for which tasks waited.
function rateChart(range, pauses, width) {
  const left = 66, right = 10, top = 8, inner = width - left - right, bottom = top + RATE_HEIGHT;
  const scale = timeScale(range, pauses), shown = bands();
  const values = rates(scale, Math.max(20, Math.min(300, Math.floor(inner / 4))));
  const height = bottom + 24 + shown.length * BAND_HEIGHT + (shown.length ? 6 : 0);
  const box = {left, top, bottom, inner, width, x: (at) => left + scale.place(at) * inner};
  const svg = drawn("svg", {height, viewBox: `0 0 ${width} ${height}`, role: "img"});
  let highest = 0;
  for (const value of values) highest = Math.max(highest, value);
  const step = roundStep(Math.max(1, highest) / 4), most = Math.ceil(Math.max(1, highest) / step) * step;
  const y = (rate) => bottom - rate / most * RATE_HEIGHT;
  for (let rate = 0; rate <= most * 1.001; rate += step) {
    svg.append(drawn("line", {class: "grid", x1: left, x2: width - right, y1: y(rate), y2: y(rate)}),
      drawn("text", {x: left - 8, y: y(rate) + 4, "text-anchor": "end"}, short(rateText(rate))));
  }
  shown.forEach((band, row) => svg.append(...bandShapes(band, row, box)));
  let outline = "";
  values.forEach((value, part) => {
    outline += `${part ? "L" : "M"}${(left + (part + 0.5) / values.length * inner).toFixed(1)} ${y(value).toFixed(1)}`;
  });
  svg.append(drawn("path", {class: "area", d: `${outline}V${bottom}H${left}Z`}),
    drawn("path", {class: "line", d: outline}));
  for (let task = 0, marks = 0; task < taskCount && marks < 2000; task++) {
    if (tasks.state[task] !== FAILED || endedAt(task) === null) continue;
    marks++;
    const x = box.x(endedAt(task));
    svg.append(drawn("line", {class: "fail", x1: x, x2: x, y1: bottom - 9, y2: bottom}));
  }
  svg.append(...pauseShapes(scale, box), ...tickShapes(scale, box));
  svg.setAttribute("aria-label", `Rate from ${timeText(range.begin)} to ${timeText(range.end)}, at most `
    + `${rateText(highest)}.` + shown.map((band) => ` Waits for: ${reasonWords(band.reason)}.`).join(""));
  followPointer(svg, scale, values, box);
  return svg;
}

/// The marks of pauses that are shortened.
function pauseShapes(scale, {left, top, bottom, inner}) {
  return scale.parts.filter((part) => part.isPause).flatMap((part) => {
    const x = left + part.place * inner, wide = part.width * inner, text = durationText(part.end - part.begin);
    const middle = Math.min(x + wide / 2, left + inner - text.length * 3.4);
    return [drawn("line", {class: "cut", x1: x, x2: x, y1: top, y2: bottom}),
      drawn("line", {class: "cut", x1: x + wide, x2: x + wide, y1: top, y2: bottom}),
      ...[`pause of`, text].map((line, i) => drawn("text", {class: "strong", x: middle, y: top + 18 + i * 16,
        "text-anchor": "middle"}, line))];
  });
}

/// The labels of the time axis, without those that would overlap.
function tickShapes(scale, {left, bottom, inner, width}) {
  const shapes = [];
  let previous = -Infinity;
  for (const part of scale.parts) {
    if (part.isPause) continue;
    const most = Math.max(1, part.width * inner / 90);
    for (const tick of timeTicks(part.begin, part.end, most)) {
      const x = left + scale.place(tick.at) * inner, half = tick.text.length * 3.4;
      if (x - half < previous || x + half > width) continue;
      previous = x + half + 6;
      shapes.push(drawn("text", {x, y: bottom + 17, "text-anchor": "middle"}, tick.text));
    }
  }
  return shapes;
}

/// The band of a reason below the chart, and its shade in the chart.
function bandShapes({reason, list, length}, row, {x, left, top, bottom, inner}) {
  const at = bottom + 28 + row * BAND_HEIGHT, colour = reasonColour(reason), isWide = inner > 420;
  const between = list.length === 1 && isWide ? `${clockText(list[0].begin)} to ${clockText(list[0].end)}, ` : "";
  const shapes = [
    drawn("text", {class: "strong", x: isWide ? left : 0, y: at + 12},
      `${reasonWords(reason)}: ${between}${durationText(length)}`),
    drawn("line", {class: "grid", x1: left, x2: left + inner, y1: at + 22, y2: at + 22}),
  ];
  for (const {begin, end} of list) {
    const width = Math.max(1.5, x(end) - x(begin));
    shapes.push(drawn("rect", {x: x(begin), y: at + 18, width, height: 8, rx: 2, fill: colour}));
    // A period in which a condition held transfers also has a shade behind the rate.
    if (width > inner / 50 && HOLDING.has(report.reasons[reason])) {
      shapes.push(drawn("rect", {class: "hold", x: x(begin), y: top, width, height: bottom - top, fill: colour}));
    }
  }
  return shapes;
}

/// Shows the time and the rate under the pointer.
function followPointer(svg, scale, values, {left, inner, top, bottom, width}) {
  const cursor = drawn("line", {class: "cursor", y1: top, y2: bottom, visibility: "hidden"});
  const readout = byID("rate-readout");
  svg.append(cursor);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width * width - left) / inner;
    if (at < 0 || at >= 1) return;
    cursor.setAttribute("x1", left + at * inner);
    cursor.setAttribute("x2", left + at * inner);
    cursor.setAttribute("visibility", "visible");
    readout.textContent = `${timeText(scale.time(at))}: ${rateText(values[Math.floor(at * values.length)])}`;
  });
  svg.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    readout.textContent = readout.dataset.usual;
  });
}

/// How many tasks have which size. Each column is a power of ten, divided by three.
function sizesChart(width) {
  const sizes = [];
  for (let task = 0; task < taskCount; task++) {
    const size = tasks.size[task] >= 0 ? tasks.size[task] : tasks.done[task];
    if (tasks.state[task] === SUCCEEDED || size > 0) sizes.push(size);
  }
  if (!sizes.length) return element("p", {class: "empty"}, "No size is known.");
  const place = (size) => size < 1 ? -1 : Math.floor(Math.log10(size) * 3 + 1e-9);
  let least = Infinity, most = -Infinity;
  for (const size of sizes) { least = Math.min(least, place(size)); most = Math.max(most, place(size)); }
  const counts = new Array(most - least + 1).fill(0);
  for (const size of sizes) counts[place(size) - least]++;
  const top = 20, high = 120, bottom = top + high, height = bottom + 24;
  const svg = drawn("svg", {height, viewBox: `0 0 ${width} ${height}`, role: "img"});
  const step = Math.min(150, width / counts.length), highest = Math.max(...counts);
  const limit = (part) => part < 0 ? 0 : Number((10 ** (part / 3)).toPrecision(part % 3 ? 2 : 1));
  const labelled = Math.ceil(58 / step);
  const texts = counts.map((count, i) => `${sizeText(limit(least + i))}: ${count}`);
  counts.forEach((count, i) => {
    const tall = count ? Math.max(2, count / highest * high) : 0, middle = i * step + step / 2;
    svg.append(drawn("rect",
      {class: "column", x: i * step + 2, y: bottom - tall, width: step - 4, height: tall, rx: 3}));
    if (count && step > 24) {
      svg.append(drawn("text", {class: "strong", x: middle, y: bottom - tall - 6, "text-anchor": "middle"},
        count.toLocaleString("en")));
    }
    if (i % labelled === 0 && i * step + 60 < width) {
      svg.append(drawn("text", {x: i * step + 2, y: bottom + 17}, "≥ " + short(sizeText(limit(least + i)))));
    }
  });
  svg.append(drawn("line", {class: "grid", x1: 0, x2: width, y1: bottom, y2: bottom}));
  svg.setAttribute("aria-label", `Transfers by size, from ${texts.join(", ")}`);
  return svg;
}

/// The rows of a waterfall: one for each attempt, with its steps on a common scale.
function waterfall(list, open) {
  const rows = element("div"), longest = Math.max(1, ...list.map((attempt) => attemptDuration(attempt) ?? 0));
  const step = roundStep(longest / 4), axis = element("div", {class: "axis", "aria-hidden": "true"});
  for (let at = 0; at <= longest * 1.001; at += step) {
    const label = element("span", {}, durationText(at));
    label.style.left = at / longest * 100 + "%";
    axis.append(label);
  }
  if (axis.lastChild && longest % step > step * 0.2) axis.lastChild.style.transform = "translateX(-50%)";
  rows.append(element("div", {class: "fall head"}, element("span", {class: "name"}), axis,
    element("span", {class: "number"})));
  for (const attempt of list) rows.append(waterfallRow(attempt, longest, open));
  return rows;
}

function waterfallRow(attempt, longest, open) {
  const task = attemptTask[attempt], track = element("span", {class: "track"});
  const steps = stepsOf(attempt), duration = attemptDuration(attempt);
  for (const {step, begin, end} of steps) {
    const part = coloured("i", stepColour(step));
    part.style.left = begin / 10 / longest + "%";
    part.style.width = (end - begin) / 10 / longest + "%";
    track.append(part);
  }
  const words = steps.map(({step, begin, end}) => `${STEPS[step].words} ${durationText((end - begin) / 1000)}`);
  const attemptWords = tasks.attempts[task] > 1 ? `, attempt ${attempts.number[attempt]}` : "";
  const row = element("button", {class: "fall", type: "button", title: `${urlOf(task)}\n${words.join(", ")}`},
    element("span", {class: "name"}, nameOf(task), element("span", {class: "muted"},
      `  ${report.origins[attempts.origin[attempt]].replace(/^https?:\/\//, "")}${attemptWords}`)),
    track, element("span", {class: "number"}, durationText(duration)));
  row.addEventListener("click", () => open(task));
  return row;
}
