import { stringify } from 'csv-stringify/sync';
import { passRate } from '../../../domain/compliance/profile.ts';
import { reportName } from '../../../domain/compliance/report.ts';
import type { ReportRow, ReportRule } from '../../../persistence/compliance/usg-report-rows.sql.ts';
import type { ChunkBuffer } from './chunk-buffer.ts';

export const SUMMARY_COLUMNS = [
  'Instance ID',
  'Instance Name',
  'Passed Rules',
  'Failed Rules',
  'Pass Rate',
  'Report Time',
] as const;

export const DETAILED_COLUMNS = [
  'Instance ID',
  'Report',
  'Rule ID',
  'Severity',
  'Identifiers and References',
  'Description',
  'Rationale',
  'Pass',
  'Report Time',
] as const;

const NOT_APPLICABLE = 'n/a';
/** The pass column by result letter; other results do not apply. */
const PASS: Readonly<Record<string, string>> = { p: 'true', x: 'true', f: 'false', e: 'false', u: 'false' };

/** Spreadsheets treat a cell that begins like this as a formula; some accept the full-width forms too. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** RFC 4180; an escaped cell is quoted as well. */
const FORMAT = { record_delimiter: 'windows', quoted_match: /^'/ } as const;

/** Lines of a CSV file. Text that spreadsheets would treat as a formula gets a leading apostrophe. */
export function toLines(records: ReadonlyArray<ReadonlyArray<string | number>>): string {
  const toCell = (cell: string | number) => (typeof cell === 'string' && FORMULA.test(cell) ? `'${cell}` : cell);
  const cells = records.map((record) => record.map(toCell));
  return stringify(cells, FORMAT);
}

const PLAIN = /^(?:\w[\w .:/()-]*)?$/;

function cellOf(text: string): string {
  return PLAIN.test(text) ? text : toLines([[text]]).slice(0, -2);
}

const timeOf = (moment: Date | null): string => (moment === null ? '' : `${moment.toISOString().slice(0, 19)}Z`);

export function summaryLine({ computer_id, title, passed, failed, reported_at }: ReportRow): string {
  const rate = passRate(passed, failed) ?? NOT_APPLICABLE;
  return `${computer_id},${cellOf(title ?? '')},${passed},${failed},${rate},${timeOf(reported_at)}\r\n`;
}

/** The cells of a rule in a detailed report, with the commas around them. */
export function ruleCells({ rule, severity, title, identifiers, description, rationale }: ReportRule): Buffer {
  const cells = toLines([[rule, severity, identifiers.join('; '), description || title, rationale]]);
  return Buffer.from(`,${cells.slice(0, -2)},`);
}

/** Writes a line for each rule of one computer in one run. @see docs/api-conventions.md#reports-and-files */
export function writeDetailedLines(
  chunks: ChunkBuffer,
  row: ReportRow,
  rules: RuleCells,
  { profileId, label }: { profileId: number; label: string },
): void {
  const head = Buffer.from(`${row.computer_id},${reportName(profileId, label)}`);
  const endOf = (pass: string) => Buffer.from(`${pass},${timeOf(row.reported_at)}\r\n`);
  const notApplicable = endOf(NOT_APPLICABLE);
  const ends = new Map(Object.entries(PASS).map(([letter, pass]) => [letter, endOf(pass)]));
  const longest = Math.max(notApplicable.length, ...[...ends.values()].map(({ length }) => length));
  chunks.reserve(rules.bytes + rules.cells.length * (head.length + longest));
  const letters = row.results ?? '';
  for (const [place, cells] of rules.cells.entries()) {
    chunks.add(head);
    chunks.add(cells);
    chunks.add(ends.get(letters[place] ?? '') ?? notApplicable);
  }
}

export interface RuleCells {
  cells: readonly Buffer[];
  bytes: number;
}
