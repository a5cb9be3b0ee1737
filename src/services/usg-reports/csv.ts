import { stringify } from 'csv-stringify/sync';
import { reportName } from '../../domain/usg/report.ts';
import type { ReportRow, ReportRule } from '../../persistence/repositories/usg-report-rows.ts';

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
/** Letters of results that count as passed and as failed; the others do not apply. */
const PASS: Readonly<Record<string, string>> = { p: 'true', x: 'true', f: 'false', e: 'false', u: 'false' };

/** Spreadsheets take a cell that begins like this for a formula. @see perf-reliability B3 "CSV-formula" */
const FORMULA = /^[=+\-@\t\r\n]/;

/** RFC 4180; a cell that was made harmless is quoted as well. */
const FORMAT = { record_delimiter: 'windows', quoted_match: /^'/ } as const;

/** Lines of a CSV file. A text that spreadsheets would take for a formula gets an apostrophe in front. */
export function toLines(records: ReadonlyArray<ReadonlyArray<string | number>>): string {
  return stringify(
    records.map((record) => record.map((cell) => (typeof cell === 'string' ? harmless(cell) : cell))),
    FORMAT,
  );
}

function harmless(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

const timeOf = (moment: Date | null): string => (moment === null ? '' : `${moment.toISOString().slice(0, 19)}Z`);

/** One computer in one run. @see api-decisions 5.5 "Summary CSV" */
export function summaryRecord({ computer_id, title, passed, failed, reported_at }: ReportRow): Array<string | number> {
  const judged = passed + failed;
  const rate = judged === 0 ? NOT_APPLICABLE : Math.round((100 * passed) / judged);
  return [computer_id, title ?? '', passed, failed, rate, timeOf(reported_at)];
}

/** A rule as its cells in every line of a detailed report that is about it, with the commas around them. */
export function ruleCells({ rule, severity, title, identifiers, description, rationale }: ReportRule): string {
  const cells = toLines([[rule, severity, identifiers.join('; '), description || title, rationale]]);
  return `,${cells.slice(0, -2)},`;
}

/**
 * The lines of one computer in one run, one for each rule.
 *
 * @param rules - cells of the rules of its set, in order
 * @see api-decisions 5.5 "Detailed CSV"
 */
export function detailedLines(profileId: number, row: ReportRow, rules: readonly string[], label: string): string {
  const head = `${row.computer_id},${reportName(profileId, label)}`;
  const tail = `,${timeOf(row.reported_at)}\r\n`;
  const letters = row.results ?? '';
  let lines = '';
  for (const [place, cells] of rules.entries()) {
    lines += head + cells + (PASS[letters[place] ?? ''] ?? NOT_APPLICABLE) + tail;
  }
  return lines;
}
