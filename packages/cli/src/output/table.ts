import { styleText } from 'node:util';
import Table from 'cli-table3';
import stringWidth from 'string-width';
import { visibleLine } from './text.ts';

export type Cell = string | number;

const GAP = 2;
/** Columns are not cut below this; a narrower terminal wraps lines. */
const MIN_WIDTH = 6;
/** Texts that are useless when cut. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:]+Z$/;
const NO_BORDERS = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
    .map((name) => [name, '']),
);
const STATUS_STYLES: Readonly<Record<string, 'green' | 'red' | 'yellow'>> = {
  succeeded: 'green',
  failed: 'red',
  canceled: 'yellow',
  unapproved: 'yellow',
  danger: 'red',
  warning: 'yellow',
};

export interface TableOptions {
  /** Characters of a line; null for as many as needed. */
  width: number | null;
  /** Colours are used as far as this stream takes them. */
  stream: NodeJS.WritableStream;
}

/** Lines of a table without borders. Numbers are right-aligned, and the widest texts are cut until a line fits. */
export function renderTable(head: readonly string[], rows: readonly Cell[][], options: TableOptions): string {
  const texts = rows.map((row) => row.map((cell) => visibleLine(String(cell))));
  const natural = head.map((title, i) => Math.max(...[title, ...texts.map((row) => row[i] ?? '')].map(stringWidth)));
  const cuttable = head.map((_, i) => !isNumeric(rows, i) && !texts.some((row) => TIME.test(row[i] ?? '')));
  const widths = options.width === null ? natural : fit(natural, cuttable, options.width);
  const style = (text: string, format: Parameters<typeof styleText>[0]) =>
    styleText(format, text, { stream: options.stream as NodeJS.WriteStream });
  const table = new Table({
    head: head.map((title) => style(title, 'bold')),
    colWidths: widths.map((width) => width + GAP),
    colAligns: head.map((_, i) => (isNumeric(rows, i) ? 'right' : 'left')),
    chars: NO_BORDERS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
  });
  table.push(...texts.map((row) => row.map((text) => (STATUS_STYLES[text] ? style(text, STATUS_STYLES[text]) : text))));
  return table
    .toString()
    .split('\n')
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** A line of a table whose rows come one by one. `widths` are those of the columns so far, which it extends. */
export function renderLine(cells: readonly Cell[], widths: number[]): string {
  const texts = cells.map((cell) => visibleLine(String(cell)));
  for (const [i, text] of texts.entries()) widths[i] = Math.max(widths[i] ?? 0, stringWidth(text));
  const padded = texts.map((text, i) => text.padEnd((widths[i] ?? 0) + text.length - stringWidth(text) + GAP));
  return `${padded.join('').trimEnd()}\n`;
}

/** Lines with a name and a value each; those without a value are left out. */
export function renderFields(fields: ReadonlyArray<readonly [name: string, value: Cell]>): string {
  const width = Math.max(...fields.map(([name]) => name.length)) + GAP;
  return fields
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name.padEnd(width)}${visibleLine(String(value))}`.trimEnd())
    .join('\n')
    .concat('\n');
}

function isNumeric(rows: readonly Cell[][], column: number): boolean {
  const cells = rows.map((row) => row[column]).filter((cell) => cell !== '');
  return cells.length > 0 && cells.every((cell) => typeof cell === 'number');
}

function fit(natural: readonly number[], cuttable: readonly boolean[], available: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width + GAP, -GAP) - available;
  for (; excess > 0; excess -= 1) {
    const widest = Math.max(...widths.filter((_, i) => cuttable[i]));
    if (widest <= MIN_WIDTH) break;
    widths[widths.findIndex((width, i) => cuttable[i] && width === widest)] = widest - 1;
  }
  return widths;
}
