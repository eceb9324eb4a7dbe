// The table of all transfers. Only the rows in view are elements of the page.

const COLUMNS = [
  {key: "id", title: "Task", width: 64, isNumber: true, value: (t) => tasks.id[t], text: (t) => String(tasks.id[t])},
  {key: "name", title: "File", width: 168, value: (t) => nameOf(t).toLowerCase(), text: nameOf, isMain: true},
  {key: "origin", title: "Origin", width: 144, value: (t) => report.origins[tasks.origin[t]],
    text: (t) => report.origins[tasks.origin[t]].replace(/^https?:\/\//, "")},
  {key: "state", title: "State", width: 106, value: (t) => STATES[tasks.state[t]], isMain: true},
  {key: "error", title: "Error or reason", value: (t) => remarkOf(t).toLowerCase(), text: remarkOf},
  {key: "size", title: "Size", width: 72, isNumber: true, isMain: true,
    value: (t) => tasks.size[t] >= 0 ? tasks.size[t] : tasks.done[t],
    text: (t) => sizeText(tasks.size[t] >= 0 ? tasks.size[t] : tasks.done[t])},
  {key: "enqueued", title: "Enqueued", width: 88, isNumber: true, value: (t) => tasks.enqueued[t],
    text: (t) => clockText(enqueuedAt(t))},
  {key: "took", title: "Took", width: 78, isNumber: true, value: (t) => taskTook[t],
    text: (t) => shortDuration(taskTook[t])},
  {key: "waited", title: "Waited", width: 78, isNumber: true, value: (t) => taskWaited[t],
    text: (t) => taskWaited[t] ? shortDuration(taskWaited[t]) : "–"},
  {key: "first", title: "First byte", width: 84, isNumber: true, value: (t) => taskFirstByte[t],
    text: (t) => durationText(taskFirstByte[t])},
  {key: "rate", title: "Rate", width: 92, isNumber: true, value: (t) => taskRate[t],
    text: (t) => rateText(taskRate[t] < 0 ? null : taskRate[t])},
  {key: "attempts", title: "Attempts", width: 78, isNumber: true, value: (t) => tasks.attempts[t],
    text: (t) => String(tasks.attempts[t])},
];

/// Why a task failed, or why it waits.
function remarkOf(task) {
  if (tasks.state[task] === FAILED || tasks.state[task] < SUCCEEDED && tasks.error[task] >= 0) {
    return tasks.error[task] < 0 ? "" : errorMessage(tasks.error[task]);
  }
  return tasks.reason[task] < 0 ? "" : "waits: " + reasonWords(tasks.reason[task]);
}
const stateClass = (task) => ["", "warn", "", "warn", "good", "bad", ""][tasks.state[task]];
const stateBadge = (task) => element("span", {class: "badge " + stateClass(task)}, STATES[tasks.state[task]]);

class TransferTable {
  constructor(open) {
    this.open = open;
    this.holder = byID("table");
    this.body = byID("table-body");
    this.sorted = {column: COLUMNS[0], isDescending: false};
    this.list = [];
    this.active = 0;
    this.fillHead();
    this.fillFilters();
    this.holder.addEventListener("scroll", () => this.draw(), {passive: true});
    this.holder.addEventListener("keydown", (event) => this.pressed(event));
    new ResizeObserver(() => { this.drawn = null; this.draw(); }).observe(this.holder);
    this.update();
  }

  fillHead() {
    const group = element("colgroup");
    for (const column of COLUMNS) {
      const button = element("button", {type: "button"}, column.title);
      button.addEventListener("click", () => this.sortBy(column));
      column.head = element("th", {scope: "col", "aria-sort": "none",
        class: (column.isNumber ? "number " : "") + (column.isMain ? "" : "wide")}, button);
      byID("table-head").append(column.head);
      const width = element("col", {class: `col-${column.key} ${column.isMain ? "" : "wide"}`});
      if (column.width) width.style.width = column.width + "px";
      group.append(width);
      for (const isDescending of [false, true]) {
        byID("sort-by").append(
          new Option(`${column.title} ${isDescending ? "↓" : "↑"}`, `${column.key} ${isDescending}`));
      }
    }
    this.holder.firstElementChild.prepend(group);
    byID("sort-by").addEventListener("change", (event) => {
      const [key, isDescending] = event.target.value.split(" ");
      this.sorted = {column: COLUMNS.find((column) => column.key === key), isDescending: isDescending === "true"};
      this.update();
    });
  }

  fillFilters() {
    const fill = (id, all, options) => byID(id).append(new Option(all, ""),
      ...options.map(([text, value]) => TransferTable.option(text, value)));
    const counts = STATES.map(() => 0);
    for (const state of tasks.state) counts[state]++;
    fill("filter-state", "Any state", STATES.map((word, state) => [`${word} (${counts[state]})`, String(state)])
      .filter((_, state) => counts[state]));
    fill("filter-origin", "Any origin", report.origins.map((name, origin) => [name, String(origin)])
      .sort((a, b) => a[0] < b[0] ? -1 : 1).slice(0, 500));
    const kinds = new Map();
    for (const group of failureGroups()) if (!kinds.has(group.kind)) kinds.set(group.kind, group.message);
    fill("filter-error", "Any failure", [...kinds].map(([kind, message]) => [message, kind]));
    fill("filter-wait", "Any wait", waitSums().map(({reason}) => ["waited: " + reasonWords(reason), String(reason)]));
    const form = byID("filters");
    form.addEventListener("input", () => this.update());
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => requestAnimationFrame(() => {
      this.sorted = {column: COLUMNS[0], isDescending: false};
      this.update();
    }));
  }

  static option(text, value) { return new Option(text.length > 80 ? text.slice(0, 79) + "…" : text, value); }

  /// Sets the filters, and shows the table.
  show(filters) {
    byID("filters").reset();
    requestAnimationFrame(() => {
      // The list of origins may be shortened, and a filter without an option would select all transfers.
      const origin = filters["filter-origin"], options = byID("filter-origin").options;
      if (origin !== undefined && ![...options].some((option) => option.value === origin)) {
        options.add(TransferTable.option(report.origins[origin], origin));
      }
      for (const [id, value] of Object.entries(filters)) byID(id).value = value;
      this.update();
      byID("transfers").scrollIntoView();
      this.holder.focus({preventScroll: true});
    });
  }

  sortBy(column) {
    const isSame = this.sorted.column === column;
    this.sorted = {column, isDescending: isSame ? !this.sorted.isDescending : column.isNumber && column.key !== "id"};
    byID("sort-by").value = `${column.key} ${this.sorted.isDescending}`;
    this.update();
  }

  /// The words that a search looks through. They are made when they are first needed.
  haystack(task) {
    this.words ??= new Array(taskCount);
    return this.words[task] ??= [urlOf(task), fileOf(task), remarkOf(task), STATES[tasks.state[task]],
      tasks.group[task] < 0 ? "" : report.groups[tasks.group[task]], report.sessions[tasks.session[task]]]
      .join("\n").toLowerCase();
  }

  matches() {
    const value = (id) => byID(id).value;
    const words = value("filter-text").toLowerCase().split(/\s+/).filter((word) => word);
    const [state, origin, error, reason] = ["state", "origin", "error", "wait"].map((name) => value("filter-" + name));
    const hasWait = (task) => {
      for (let wait = waitStart[task]; wait < waitStart[task + 1]; wait++) {
        if (waits.reason[wait] === Number(reason)) return true;
      }
      return false;
    };
    return (task) => (state === "" || tasks.state[task] === Number(state))
      && (origin === "" || tasks.origin[task] === Number(origin))
      && (error === "" || tasks.state[task] === FAILED && kindOf(task) === error)
      && (reason === "" || hasWait(task))
      && words.every((word) => this.haystack(task).includes(word));
  }

  update() {
    const isShown = this.matches(), list = [];
    for (let task = 0; task < taskCount; task++) if (isShown(task)) list.push(task);
    const {column, isDescending} = this.sorted, sign = isDescending ? -1 : 1;
    const values = new Map(list.map((task) => [task, column.value(task)]));
    list.sort((a, b) => {
      const [first, second] = [values.get(a), values.get(b)];
      return first < second ? -sign : first > second ? sign : a - b;
    });
    for (const one of COLUMNS) {
      one.head.setAttribute("aria-sort", one !== column ? "none" : isDescending ? "descending" : "ascending");
    }
    this.list = list;
    this.active = 0;
    this.holder.scrollTop = 0;
    this.holder.firstElementChild.setAttribute("aria-rowcount", String(list.length + 1));
    byID("count").textContent = list.length === taskCount ? plural(taskCount, "transfer")
      : `${list.length.toLocaleString("en")} of ${plural(taskCount, "transfer")}`;
    this.drawn = null;
    this.draw();
    this.changed?.();
  }

  get isPhone() { return matchMedia("(max-width: 820px)").matches; }
  get rowHeight() { return this.isPhone ? 59 : 37; }
  get columnCount() { return this.isPhone ? COLUMNS.filter((column) => column.isMain).length : COLUMNS.length; }

  /// Draws the rows in view, and a few beyond them.
  draw() {
    const height = this.rowHeight, view = this.holder.clientHeight, top = this.holder.scrollTop;
    const first = Math.max(0, Math.floor(top / height) - 8);
    const last = Math.min(this.list.length, Math.ceil((top + view) / height) + 8);
    if (this.drawn === `${first} ${last} ${this.active}`) return;
    this.drawn = `${first} ${last} ${this.active}`;
    const space = (rows) => {
      const cell = element("td", {colSpan: this.columnCount});
      cell.style.height = rows * height + "px";
      return element("tr", {class: "space", "aria-hidden": "true"}, cell);
    };
    const rows = [];
    if (first > 0) rows.push(space(first));
    for (let index = first; index < last; index++) rows.push(this.row(index));
    if (last < this.list.length) rows.push(space(this.list.length - last));
    if (!this.list.length) {
      rows.push(element("tr", {class: "space"}, element("td", {colSpan: this.columnCount, class: "muted"},
        taskCount ? "No transfer matches the filters." : "There are no transfers.")));
    }
    this.body.replaceChildren(...rows);
    if (this.list.length) this.holder.setAttribute("aria-activedescendant", "row-active");
  }

  row(index) {
    const task = this.list[index];
    const row = element("tr", {"aria-rowindex": String(index + 2), "data-task": String(tasks.id[task])});
    if (index === this.active) { row.id = "row-active"; row.className = "active"; }
    for (const column of COLUMNS) {
      const cell = element("td", {class: (column.isNumber ? "number " : "") + (column.isMain ? "" : "wide")});
      if (column.key === "state") cell.append(stateBadge(task));
      else cell.append(column.text(task));
      if (column.key === "name") {
        cell.title = urlOf(task);
        cell.append(element("span", {class: "sub"}, remarkOf(task) || COLUMNS[2].text(task)));
      }
      if (column.key === "error") cell.title = column.text(task);
      row.append(cell);
    }
    row.addEventListener("click", () => {
      this.active = index;
      this.draw();
      this.open(task);
    });
    return row;
  }

  pressed(event) {
    if (event.target !== this.holder || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.holder.clientHeight / this.rowHeight) - 2);
    const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.key === "Enter" && this.list.length) {
      event.preventDefault();
      this.open(this.list[this.active]);
    } else if (event.key in moves) {
      event.preventDefault();
      this.active = Math.max(0, Math.min(this.list.length - 1, this.active + moves[event.key]));
      this.reveal();
    }
  }

  /// Scrolls to the chosen row.
  reveal() {
    const height = this.rowHeight, top = this.active * height, head = this.isPhone ? 0 : 39;
    const view = this.holder.clientHeight - head;
    if (top < this.holder.scrollTop) this.holder.scrollTop = top;
    else if (top + height > this.holder.scrollTop + view) this.holder.scrollTop = top + height - view;
    this.draw();
  }
}
