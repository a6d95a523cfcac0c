/** A line of points; both axes are logarithmic. */
export type Curve = { name: string; points: readonly (readonly [x: number, y: number])[] };
type Axes = { title: string; x: string; y: string };
type Scale = ReturnType<typeof scaleOf>;

const [WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM] = [760, 420, 80, 48, 190, 56];
const [END_X, END_Y] = [WIDTH - RIGHT, HEIGHT - BOTTOM];
const COLOURS = ['#1d6fb8', '#c2410c', '#15803d', '#7c3aed', '#b91c1c'];

/** Curves as an SVG that needs nothing else: a grid, lines and a legend. */
export function drawCurves({ title, x, y }: Axes, curves: readonly Curve[]): string {
  const points = curves.flatMap((curve) => curve.points).filter(([, value]) => Number.isFinite(value));
  const toX = scaleOf(
    points.map(([at]) => at),
    LEFT,
    END_X,
  );
  const toY = scaleOf(
    points.map(([, value]) => value),
    END_Y,
    TOP,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<title>${title}</title>
<style>.grid{stroke:#cbd5e1;stroke-width:1}</style>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>
<text x="${LEFT}" y="24" font-size="15" font-weight="bold">${title}</text>
${[...gridOf(toX, toY), ...curves.map((curve, index) => lineOf(curve, index, { toX, toY }))].join('\n')}
<text x="${(LEFT + END_X) / 2}" y="${HEIGHT - 14}" text-anchor="middle">${x}</text>
<text transform="translate(18 ${(TOP + END_Y) / 2}) rotate(-90)" text-anchor="middle">${y}</text>
</svg>
`;
}

function gridOf(toX: Scale, toY: Scale): string[] {
  const line = (x1: number, y1: number, x2: number, y2: number) =>
    `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" class="grid"/>`;
  const text = (at: number, x: number, y: number, anchor: string) =>
    `<text x="${x}" y="${y}" text-anchor="${anchor}">${at.toLocaleString('en')}</text>`;
  return [
    ...toX.ticks.map((at) => {
      const x = toX.at(at);
      return line(x, TOP, x, END_Y) + text(at, x, END_Y + 18, 'middle');
    }),
    ...toY.ticks.map((at) => {
      const y = toY.at(at);
      return line(LEFT, y, END_X, y) + text(at, LEFT - 8, y + 4, 'end');
    }),
  ];
}

function lineOf({ name, points }: Curve, index: number, { toX, toY }: { toX: Scale; toY: Scale }): string {
  const colour = COLOURS[index % COLOURS.length];
  const path = points
    .filter(([, value]) => Number.isFinite(value))
    .map(([at, value]) => `${toX.at(at)},${toY.at(value)}`);
  return (
    `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>` +
    `<text x="${END_X + 14}" y="${TOP + 14 + index * 20}" fill="${colour}">${name}</text>`
  );
}

/** Whole decades from the least to the most value. */
function scaleOf(values: readonly number[], from: number, to: number) {
  const [low, high] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
  const ticks = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  const at = (value: number) => Math.round(from + ((Math.log10(value) - low) / Math.max(1, high - low)) * (to - from));
  return { ticks, at };
}
