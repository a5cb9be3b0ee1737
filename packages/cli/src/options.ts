import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Cli } from './cli.ts';
import { CliError, EXIT } from './errors.ts';

const MAX_ID = 2_147_483_647;
const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads an id of the command line. */
export function parseId(text: string): number {
  const id = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0;
  if (id === 0 || id > MAX_ID) throw new InvalidArgumentError(`"${text}" is not an id, a positive whole number.`);
  return id;
}

/** Reads ids with commas between them. */
export function parseIds(text: string): number[] {
  return [...new Set(text.split(',').map((id) => parseId(id.trim())))];
}

/** Reads further ids of an argument with several values. */
export function collectIds(text: string, previous: number[] | undefined): number[] {
  return [...(previous ?? []), ...parseIds(text)];
}

export function parseCount(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError(`"${text}" is not a whole number.`);
  return Number(text);
}

/** Reads a duration such as `90s`, `10m`, `2h` or `3d`. @returns milliseconds */
export function parseDuration(text: string): number {
  const [, count, unit] = /^([0-9]{1,9})(s|m|h|d)$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError(`"${text}" is not a duration such as 90s, 10m, 2h or 3d.`);
  return Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

/** Reads a moment: ISO 8601, which the server checks, or a duration from now. @returns ISO 8601 */
export function parseMoment(text: string): string {
  if (!/^[0-9]+[a-z]$/.test(text)) return text;
  return new Date(Date.now() + parseDuration(text)).toISOString().replace(/\.[0-9]{3}Z$/, 'Z');
}

/** Reads a text with commas between its parts. */
export function parseNames(text: string): string[] {
  return text.split(',').map((name) => name.trim());
}

/** The content of a file, or of standard input for `-`. @throws {CliError} when the file cannot be read */
export async function readInput(cli: Cli, file: string): Promise<Buffer> {
  if (file === '-') return buffer(cli.runtime.stdin);
  try {
    return await readFile(file);
  } catch (error) {
    throw new CliError(EXIT.usage, `Cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`);
  }
}

export const LIMIT = new Option('--limit <count>', 'show at most this many').argParser(parseCount);

const WAIT = new Option('--wait', 'wait until all of it has ended');
const TIMEOUT = new Option('--timeout <duration>', 'wait at most this long, such as 10m; implies --wait').argParser(
  parseDuration,
);
const YES = new Option('-y, --yes', 'do not prompt for confirmation');
const AFTER = new Option('--after <activity>', 'only where this activity has succeeded').argParser(parseId);

/** A subcommand that starts an activity. */
export function activityCommand(group: Command, name: string) {
  return group.command(name).addOption(WAIT).addOption(TIMEOUT).addOption(AFTER);
}

/** A subcommand for computers that a query, ids or `--all` choose. */
export function computersCommand(group: Command, name: string) {
  return group
    .command(name)
    .option('-q, --query <query>', 'the computers that this query finds')
    .addOption(new Option('--id <ids>', 'the computers with these ids, separated by commas').argParser(parseIds))
    .option('--all', 'all computers')
    .addOption(YES);
}

/** A subcommand that starts activities on computers that a query, ids or `--all` choose, now or later. */
export function actionCommand(group: Command, name: string) {
  return computersCommand(group, name)
    .addOption(WAIT)
    .addOption(TIMEOUT)
    .addOption(
      new Option(
        '--deliver-after <time>',
        'not before: ISO 8601 (UTC without a zone), or from now, such as 2h',
      ).argParser(parseMoment),
    )
    .addOption(
      new Option('--spread <duration>', 'each computer at a random time within this, such as 30m').argParser(
        parseDuration,
      ),
    )
    .addOption(AFTER);
}

export interface DeliveryOptions {
  deliverAfter?: string | undefined;
  spread?: number | undefined;
  after?: number | undefined;
}

/** The fields of a request body for the time of delivery. */
export function deliveryOf({ deliverAfter, spread, after }: DeliveryOptions) {
  return {
    ...(deliverAfter === undefined ? {} : { deliver_after: deliverAfter }),
    ...(spread === undefined ? {} : { deliver_delay_window: Math.ceil(spread / UNITS_MS.m) }),
    ...(after === undefined ? {} : { after }),
  };
}
