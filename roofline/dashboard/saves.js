// Files of what is on the screen, made here: a figure as a picture or as its data, a table as its cells.
const SVG = 'http://www.w3.org/2000/svg';
const SCALE = 2;

const download = (name, type, body) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(body instanceof Blob ? body : new Blob([body], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

const cell = (value) => {
  const text = value === null || value === undefined ? '' : String(value);
  const harmless = /^[=+@\t\r-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text; // no formula in a spreadsheet
  return /[",\n\r]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};
const csv = (rows) => rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
const plain = (text) => new DOMParser().parseFromString(String(text ?? ''), 'text/html').body.textContent;

const drawing = (plot) => {
  const { width, height } = plot._fullLayout;
  const whole = document.createElementNS(SVG, 'svg');
  for (const [name, value] of Object.entries({ xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` })) {
    whole.setAttribute(name, value);
  }
  const ground = document.createElementNS(SVG, 'rect');
  ground.setAttribute('width', width);
  ground.setAttribute('height', height);
  ground.setAttribute('fill', getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor);
  whole.append(ground);
  for (const layer of plot.querySelectorAll('.main-svg')) {
    const copy = layer.cloneNode(true);
    copy.querySelectorAll('.hoverlayer, .zoomlayer, .draglayer').forEach((part) => part.remove());
    whole.append(...copy.childNodes);
  }
  return { text: new XMLSerializer().serializeToString(whole), width, height };
};

const picture = async (plot) => {
  const { text, width, height } = drawing(plot);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = width * SCALE;
  canvas.height = height * SCALE;
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, 'image/png'));
};

const axis = (plot, ref, kind) => { // a title at the axis, or written into the corner of its panel
  const own = plot.layout[`${kind}axis${(ref ?? kind).slice(1)}`] ?? {};
  const corner = (plot.layout.annotations ?? []).find((note) => note[`${kind}ref`] === `${ref ?? kind} domain`);
  return plain(own.title?.text ?? corner?.text);
};
const points = (trace) => {
  if (Array.isArray(trace.z)) {
    return trace.z.flatMap((row, j) => row.map((z, i) => [trace.x?.[i] ?? i, trace.y?.[j] ?? j, z, '']));
  }
  const x = trace.x ?? [], y = trace.y ?? [];
  const words = trace.text ?? trace.hovertext;
  return Array.from({ length: Math.max(x.length, y.length) }, (_, i) => {
    return [x[i], y[i], '', plain(Array.isArray(words) ? words[i] : words)];
  });
};
const rows = (plot) => plot.data.filter((trace) => trace.visible !== false).flatMap((trace) => {
  const named = [plain(trace.name), axis(plot, trace.xaxis, 'x'), axis(plot, trace.yaxis, 'y')];
  return points(trace).map((point) => [...named, ...point]);
});

const figureFile = async (plot, name, kind) => {
  if (kind === 'png') download(`${name}.png`, 'image/png', await picture(plot));
  if (kind === 'svg') download(`${name}.svg`, 'image/svg+xml', drawing(plot).text);
  if (kind === 'json') download(`${name}.json`, 'application/json', JSON.stringify({ data: plot.data, layout: plot.layout }));
  if (kind === 'csv') {
    download(`${name}.csv`, 'text/csv', csv([['series', 'x axis', 'y axis', 'x', 'y', 'z', 'words'], ...rows(plot)]));
  }
};
const tableRows = (table) => [...table.rows].map((row) => [...row.cells].map((one) => one.innerText.trim()));

const save = (event) => {
  const button = event.target.closest?.('button[data-save]');
  if (!button) return;
  const { save: kind, figure, name } = button.dataset;
  if (figure) figureFile(document.querySelector(`.st-key-${CSS.escape(figure)} .js-plotly-plot`), name, kind);
  else download(`${name}.csv`, 'text/csv', csv(tableRows(button.closest('.rf-tabled').querySelector('table'))));
};

export default function () {
  if (document.documentElement.dataset.saves) return; // once for all pages and runs: no click falls between two of them
  document.documentElement.dataset.saves = 'on';
  document.addEventListener('click', save);
}
