import { createHash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { type BObject, BTuple, type BValue, compareCodePoints, isDict } from '../../protocol/bpickle.ts';
import type { IdRange, PackageDelta, PackageDescription, PackageSet } from './deltas.ts';
import type { Facts } from './facts.ts';
import { describeItem, type ItemName, type MessageFaults } from './faults.ts';
import { MalformedMessage, sanitizeText, toInt, toList, toText } from './fields.ts';
import { lenientInt, lenientText, readItems, readOrSkip, shorten } from './lenient-fields.ts';
import { computerIds, type PerComputer } from './saving/per-computer.ts';

/** Sets of package ids that agents keep, by wire name and column. */
const SETS = {
  installed: 'installed',
  available: 'available',
  'available-upgrades': 'available_upgrades',
  locked: 'locked',
  autoremovable: 'autoremovable',
  security: 'security',
} as const satisfies Record<PackageSet, string>;

const SET_NAMES = Object.keys(SETS) as PackageSet[];

const MAX_HASHES = 2000;
const MAX_PACKAGES = 10_000;
const MAX_RELATIONS = 10_000;
const MAX_RELATION = 20_000;
const MAX_RANGES = 500_000;
const HASH_BYTES = 20;
/** Ranges per turn of the event loop: some milliseconds of work. */
const TURN_RANGES = 20_000;

export function readUnknownHashes(message: BObject, facts: Facts, faults: MessageFaults): void {
  const requestId = readRequestId(message);
  const hashes = readOrNulls(message['hashes'], 'hashes', MAX_HASHES, faults, (hash) => {
    if (!(hash instanceof Uint8Array) || hash.length !== HASH_BYTES)
      throw new MalformedMessage('hashes must be digests');
    return Buffer.from(hash);
  });
  faults.requireUsable(hashes.some((hash) => hash !== null));
  facts.packageRequests.push({ kind: 'hashes', requestId, hashes });
}

export function readAddPackages(message: BObject, facts: Facts, faults: MessageFaults): void {
  const requestId = readRequestId(message);
  const packages = readOrNulls(message['packages'], 'packages', MAX_PACKAGES, faults, (item, itemName) => {
    if (!isDict(item)) throw new MalformedMessage('packages must be dicts');
    return readPackage(item, itemName, faults);
  });
  faults.requireUsable(packages.some((description) => description !== null));
  facts.packageRequests.push({ kind: 'packages', requestId, packages });
}

/** The items of a request with null in place of invalid ones: agents match the response by position. */
function readOrNulls<T>(
  value: BValue | undefined,
  what: string,
  max: number,
  faults: MessageFaults,
  read: (item: BValue, itemName: ItemName) => T,
): Array<T | null> {
  const all = toList(value, what, Number.POSITIVE_INFINITY);
  if (all.length > max) faults.skipped(`${what} has more than ${max} items`);
  return all.slice(0, max).map((item) => {
    const itemName = () => describeItem('package', isDict(item) ? item['name'] : undefined);
    return readOrSkip(() => read(item, itemName), faults, itemName);
  });
}

export function readPackageSets(message: BObject, facts: Facts, faults: MessageFaults): void {
  const step = Object.fromEntries(
    SET_NAMES.map((set) => [
      set,
      { add: readRanges(message[set], set, faults), remove: readRanges(message[`not-${set}`], `not-${set}`, faults) },
    ]),
  ) as PackageDelta['steps'][number];
  faults.requireUsable(SET_NAMES.some((set) => step[set].add.length + step[set].remove.length > 0));
  facts.packages ??= { restart: false, steps: [] };
  facts.packages.steps.push(step);
}

/** The next report replaces the sets. Until then the old ones stay, for up to half an hour. */
export function restartPackages(facts: Facts): void {
  facts.packages = { restart: true, steps: [] };
}

function readRequestId(message: BObject): number {
  return toInt(message['request-id'], 'request-id', 0, Number.MAX_SAFE_INTEGER);
}

/** The digest covers the fields as received, whatever is stored of them. */
function readPackage(fields: BObject, item: ItemName, faults: MessageFaults): PackageDescription {
  const type = toInt(fields['type'], 'type', 0, MAX_INT4);
  const name = toWord(fields['name'], 'name');
  const version = toWord(fields['version'], 'version');
  const relations = toList(fields['relations'], 'relations', Number.POSITIVE_INFINITY)
    .map(readRelation)
    .sort(byTypeAndText);
  const shown = (key: string, max: number) =>
    lenientText(fields[key], max, { what: `${key} of a package`, faults, item });
  const size = (key: string) =>
    lenientInt(fields[key], [0, Number.MAX_SAFE_INTEGER], { what: `${key} of a package`, faults, item });
  return {
    hash: packageHash(type, name, version, relations),
    type,
    name,
    version,
    section: shown('section', 512),
    summary: shown('summary', 10_000),
    description: shown('description', 100_000),
    size: size('size'),
    installedSize: size('installed-size'),
    relations: storableRelations(relations, item, faults),
  };
}

function storableRelations(
  relations: ReadonlyArray<[number, string]>,
  item: ItemName,
  faults: MessageFaults,
): Array<[number, string]> {
  if (relations.length > MAX_RELATIONS) faults.skipped(`a package has more than ${MAX_RELATIONS} relations`, item);
  return relations.slice(0, MAX_RELATIONS).map(([type, text]) => {
    if (text.length > MAX_RELATION) faults.shortened(`a relation is longer than ${MAX_RELATION} characters`, item);
    return [type, shorten(sanitizeText(text), MAX_RELATION)];
  });
}

/** A word of the text of {@link packageHash}, without separators: they would make different packages equal. */
function toWord(value: BValue | undefined, what: string): string {
  const text = toText(value, what, 512);
  if (/[\s[\]]/.test(text)) throw new MalformedMessage(`${what} must be one word without brackets`);
  return text;
}

function readRelation(value: BValue): [number, string] {
  const items = value instanceof BTuple ? value.items : value;
  if (!Array.isArray(items) || items.length !== 2) throw new MalformedMessage('relations must be pairs');
  const [type, text] = [toInt(items[0], 'relation type', 0, MAX_INT4), items[1]];
  if (text instanceof Uint8Array) return [type, Buffer.from(text).toString('utf8')];
  if (typeof text !== 'string') throw new MalformedMessage('relations must be text');
  return [type, text];
}

function byTypeAndText(a: [number, string], b: [number, string]): number {
  return a[0] - b[0] || compareCodePoints(a[1], b[1]);
}

/** The digest that identifies a package. `relations` must be sorted. */
export function packageHash(
  type: number,
  name: string,
  version: string,
  relations: ReadonlyArray<readonly [number, string]>,
): Buffer {
  const digest = createHash('sha1').update(`[${type} ${name} ${version}]`);
  for (const [kind, text] of relations) digest.update(`[${kind} ${text}]`);
  return digest.digest();
}

function readRanges(value: BValue | undefined, what: string, faults: MessageFaults): IdRange[] {
  return readItems(
    value,
    MAX_RANGES,
    { what, faults },
    {
      name: (item) => describeItem('package', item instanceof BTuple ? item.items[0] : item),
      read: (item): IdRange => {
        if (!(item instanceof BTuple)) return [readId(item), readId(item)];
        const [first, last] = [readId(item.items[0]), readId(item.items[1])];
        if (item.items.length !== 2 || last < first) throw new MalformedMessage(`${what} has a malformed range`);
        return [first, last];
      },
    },
  );
}

// The upper end of a stored range is exclusive, and must not exceed the column's type.
function readId(value: BValue | undefined): number {
  return toInt(value, 'package id', 1, MAX_INT4 - 1);
}

/**
 * Applies the deltas of different computers: the first step of each in one statement, then the second, and so on.
 * @returns computers with inconsistent sets: a removal named packages outside the set, or an addition named packages
 * that are unknown to the account, which are omitted
 * @remarks Idempotent.
 */
export async function savePackages(
  tx: Sql,
  reports: ReadonlyArray<PerComputer<PackageDelta>>,
  now: Date,
): Promise<Set<number>> {
  const inconsistent = new Set<number>();
  const restarted = reports.filter(({ value }) => value.restart);
  if (restarted.length > 0) await tx.query(RESTART, [computerIds(restarted), now]);
  for (let i = 0; ; i++) {
    const steps = reports.flatMap(({ computerId, value }) => {
      const step = value.steps[i];
      return step ? [{ computerId, step }] : [];
    });
    if (steps.length === 0) return inconsistent;
    const values: unknown[] = [steps.map(({ computerId }) => computerId), now];
    for (const set of SET_NAMES) {
      values.push(await multiranges(steps.map(({ step }) => step[set].add)));
      values.push(await multiranges(steps.map(({ step }) => step[set].remove)));
    }
    const rows = await tx.query<{ computer_id: number }>(APPLY, values, 'gateway-save-packages');
    for (const { computer_id } of rows) inconsistent.add(computer_id);
  }
}

async function multiranges(lists: ReadonlyArray<readonly IdRange[]>): Promise<string[]> {
  const texts: string[] = [];
  for (const ranges of lists) texts.push(await multirange(ranges));
  return texts;
}

/** Writes a PostgreSQL multirange and yields to the event loop in between. */
export async function multirange(ranges: readonly IdRange[]): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < ranges.length; from += TURN_RANGES) {
    if (from > 0) await yieldToEventLoop();
    const part = ranges.slice(from, from + TURN_RANGES);
    parts.push(part.map(([first, last]) => `[${first},${last}]`).join(','));
  }
  return `{${parts.join(',')}}`;
}

const RESTART = `
  insert into computer_packages (computer_id, restart, updated_at) select id, true, $2 from unnest($1::int[]) id
  on conflict (computer_id) do update set restart = true`;

const COLUMNS = SET_NAMES.map((set) => SETS[set]);
const each = (text: (column: string, index: number) => string, between = ', '): string =>
  COLUMNS.map(text).join(between);

// A computer may name what it had before, as older gateways did not record ids. Removals from sets that are reported
// again are ignored: agents keep some sets when they start over, and empty them with their next report.
const APPLY = `
  with step as (
    select s.*, ${each((column) => `s.${column}`, ' + ')} as named
    from unnest($1::int[], ${each((_, i) => `$${3 + i * 2}::int4multirange[], $${4 + i * 2}::int4multirange[]`)})
      s(computer_id, ${each((column) => `${column}, not_${column}`)})
  ), before as (
    select p.computer_id, p.restart,
      ${each((column) => `case when p.restart then '{}' else p.${column} end as ${column}`)}
    from step s join computer_packages p using (computer_id) for update of p
  ), allowed as (
    select s.computer_id, case when k.known @> s.named then s.named
      else s.named * (coalesce(k.known, '{}') + coalesce(${each((column) => `b.${column}`, ' + ')}, '{}')) end as named
    from step s join computer c on c.id = s.computer_id
    left join account_packages k on k.account_id = c.account_id left join before b on b.computer_id = s.computer_id
  ), after as (
    insert into computer_packages (computer_id, updated_at, ${each((column) => column)})
    select s.computer_id, $2,
      ${each((column) => `coalesce(b.${column}, '{}') - s.not_${column} + s.${column} * a.named`)}
    from step s join allowed a using (computer_id) left join before b using (computer_id)
    on conflict (computer_id) do update set restart = false, updated_at = excluded.updated_at,
      ${each((column) => `${column} = excluded.${column}`)}
  )
  select s.computer_id from step s join allowed a using (computer_id) left join before b using (computer_id)
  where s.named <> a.named
    or b.restart is not true and not (${each((column) => `coalesce(b.${column}, '{}') @> s.not_${column}`, ' and ')})`;
