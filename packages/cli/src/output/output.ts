import { once } from 'node:events';
import { styleText } from 'node:util';
import type { Cell } from './table.ts';
import { toJson, visibleText } from './text.ts';

export const FORMATS = ['table', 'json', 'ndjson', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** What the columns of tables and CSV show of a row, by their names. JSON has the whole row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => unknown>>;

/** Data goes to standard output and nothing else does; messages for people go to standard error. */
export class Output {
  readonly format: Format;
  readonly #stdout: NodeJS.WriteStream;
  readonly #stderr: NodeJS.WriteStream;

  constructor(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream, format: Format) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.format = format;
  }

  /** Whether people read the output, rather than programs. */
  get isForPeople(): boolean {
    return this.format === 'table';
  }

  /** Shows a list. NDJSON and CSV begin before its end is known. */
  async rows<Row>(rows: AsyncIterable<Row> | Iterable<Row>, columns: Columns<Row>): Promise<void> {
    if (this.format === 'ndjson') {
      for await (const row of rows) await this.#write(`${toJson(row)}\n`);
    } else if (this.format === 'csv') {
      await this.#csv(rows, columns);
    } else {
      const all: Row[] = [];
      for await (const row of rows) all.push(row);
      if (this.format === 'json') await this.#write(`${toJson(all, 2)}\n`);
      else if (all.length === 0) this.note('Nothing found.');
      else await this.#table(Object.keys(columns).map(toTitle), cellsOf(all, columns));
    }
  }

  /** Shows a list that may never end, line by line: a table without a head, whose columns grow. JSON needs the end. */
  async stream<Row>(rows: AsyncIterable<Row>, columns: Columns<Row>): Promise<void> {
    if (this.format !== 'table') return this.rows(rows, columns);
    const { renderLine } = await import('./table.ts');
    const widths: number[] = [];
    for await (const row of rows) await this.#write(renderLine(cellsOf([row], columns)[0] ?? [], widths));
  }

  /** Shows a list of which only the ids are known. */
  async ids(ids: readonly number[]): Promise<void> {
    const rows = ids.map((id) => ({ id }));
    await this.rows(rows, { id: (row) => row.id });
  }

  /** Shows one object. */
  async item<Row>(item: Row, columns: Columns<Row>): Promise<void> {
    if (this.format === 'csv') await this.#csv([item], columns);
    else if (this.format !== 'table') await this.value(item);
    else {
      const { renderFields } = await import('./table.ts');
      const [cells = []] = cellsOf([item], columns);
      const fields = Object.keys(columns).map((name, i) => [toTitle(name), cells[i] ?? ''] as const);
      if (fields.every(([, value]) => value === '')) this.note('Nothing found.');
      else await this.#write(renderFields(fields));
    }
  }

  /** Shows any value as JSON, on one line where the format wants lines. */
  async value(value: unknown): Promise<void> {
    await this.#write(`${toJson(value, this.format === 'ndjson' ? 0 : 2)}\n`);
  }

  /** Shows a text of the server's, such as the output of a script: unchanged, except control characters on a terminal. */
  async text(text: string): Promise<void> {
    await this.#write(this.#stdout.isTTY ? visibleText(text) : text);
  }

  /** Writes a message for people to standard error. */
  note(message: string): void {
    this.#stderr.write(`${visibleText(message)}\n`);
  }

  error(lines: readonly string[]): void {
    const label = styleText('red', 'error:', { stream: this.#stderr });
    this.#stderr.write(`${label} ${visibleText(lines.join('\n'))}\n`);
  }

  async #csv<Row>(rows: AsyncIterable<Row> | Iterable<Row>, columns: Columns<Row>): Promise<void> {
    const { stringify } = await import('csv-stringify/sync');
    // As in reports of the server: a spreadsheet must not run what a computer calls itself.
    const toCsv = (cells: readonly unknown[]) => stringify([cells], { escape_formulas: true });
    const safe = this.#stdout.isTTY ? visibleText : (text: string) => text;
    await this.#write(toCsv(Object.keys(columns)));
    for await (const row of rows) await this.#write(safe(toCsv(cellsOf([row], columns)[0] ?? [])));
  }

  async #table(head: readonly string[], rows: readonly Cell[][]): Promise<void> {
    const { renderTable } = await import('./table.ts');
    const width = this.#stdout.isTTY ? this.#stdout.columns : null;
    await this.#write(renderTable(head, rows, { width, stream: this.#stdout }));
  }

  async #write(text: string): Promise<void> {
    if (!this.#stdout.write(text)) await once(this.#stdout, 'drain');
  }
}

function cellsOf<Row>(rows: readonly Row[], columns: Columns<Row>): Cell[][] {
  return rows.map((row) => Object.values(columns).map((read) => toCell(read(row))));
}

function toCell(value: unknown): Cell {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.map(String).join(',') : String(value);
}

function toTitle(name: string): string {
  return name.replaceAll('_', ' ').toUpperCase();
}
