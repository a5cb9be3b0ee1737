import { createHash } from 'node:crypto';
import {
  type IdRange,
  PACKAGE_SET_NAMES,
  type PackageDelta,
  type PackageDescription,
} from '../../domain/agents/deltas.ts';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import { type BObject, BTuple, type BValue, compareCodePoints, isDict } from '../../protocol/bpickle.ts';
import type { Facts } from './facts.ts';
import { describeItem, type ItemName, type MessageFaults } from './faults.ts';
import { MalformedMessage, sanitizeText, toInt, toList, toText } from './fields.ts';
import { lenientInt, lenientText, readItems, readOrSkip, shorten } from './lenient-fields.ts';

const MAX_HASHES = 2000;
/** What agents request at once by default, if they have as many. */
const FULL_REQUEST = 500;
const MAX_PACKAGES = 10_000;
const MAX_RELATIONS = 10_000;
const MAX_RELATION = 20_000;
const MAX_RANGES = 500_000;
const HASH_BYTES = 20;
/** @throws {MalformedMessage} when no hash is usable; single invalid ones are null */
export function readUnknownHashes(message: BObject, facts: Facts, faults: MessageFaults): void {
  const requestId = readRequestId(message);
  const hashes = readOrNulls(message['hashes'], 'hashes', MAX_HASHES, faults, (hash) => {
    if (!(hash instanceof Uint8Array) || hash.length !== HASH_BYTES)
      throw new MalformedMessage('hashes must be digests');
    return Buffer.from(hash);
  });
  faults.requireUsable(hashes.some((hash) => hash !== null));
  facts.packageRequests.push({ kind: 'hashes', requestId, hashes });
  facts.inventory.packages_requested = percentRequested(hashes);
}

/**
 * Agents request the digests that they have no id of in order, and digests are evenly distributed: the last one shows how
 * much is done. Null for a request that is not full: nothing is left.
 */
function percentRequested(hashes: ReadonlyArray<Buffer | null>): number | null {
  const isSorted = hashes.every((hash, i) => hash && (i === 0 || hash.compare(hashes[i - 1]!) >= 0));
  if (hashes.length < FULL_REQUEST || !isSorted) return null;
  return Math.floor((100 * hashes.at(-1)!.readUInt32BE()) / 2 ** 32);
}

/** @throws {MalformedMessage} when no package is usable; single invalid ones are null */
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

/** Appends a change; changes apply in the order of messages. @throws {MalformedMessage} when nothing is usable */
export function readPackageSets(message: BObject, facts: Facts, faults: MessageFaults): void {
  const change = Object.fromEntries(
    PACKAGE_SET_NAMES.map((set) => [
      set,
      { add: readRanges(message[set], set, faults), remove: readRanges(message[`not-${set}`], `not-${set}`, faults) },
    ]),
  ) as PackageDelta['changes'][number];
  faults.requireUsable(PACKAGE_SET_NAMES.some((set) => change[set].add.length + change[set].remove.length > 0));
  facts.packages ??= { restart: false, changes: [] };
  facts.packages.changes.push(change);
}

/** The next report replaces the sets. Until then the old ones stay, for up to half an hour. */
export function restartPackages(facts: Facts): void {
  facts.packages = { restart: true, changes: [] };
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
    .sort(([a, text], [b, other]) => a - b || compareCodePoints(text, other));
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
  return readItems(value, what, MAX_RANGES, faults, {
    name: (item) => describeItem('package', item instanceof BTuple ? item.items[0] : item),
    read: (item): IdRange => {
      if (!(item instanceof BTuple)) return [readId(item), readId(item)];
      const [first, last] = [readId(item.items[0]), readId(item.items[1])];
      if (item.items.length !== 2 || last < first) throw new MalformedMessage(`${what} has a malformed range`);
      return [first, last];
    },
  });
}

// The upper end of a stored range is exclusive, and must not exceed the column's type.
function readId(value: BValue | undefined): number {
  return toInt(value, 'package id', 1, MAX_INT4 - 1);
}
