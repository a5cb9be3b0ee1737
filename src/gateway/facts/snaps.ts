import type { BObject } from '../../protocol/bpickle.ts';
import { isDict } from '../../protocol/bpickle.ts';
import type { Facts, InstalledSnap } from './facts.ts';
import { type Called, called, type Notes } from './faults.ts';
import { toDict, toText } from './fields.ts';
import { wireToJson } from './json.ts';
import { readDicts, shownText } from './shown.ts';

const MAX_SNAPS = 10_000;
const MAX_SERVICES = 100_000;
const MAX_NAME = 256;
const MAX_TEXT = 100_000;

/** Reads `snaps`. */
export function readSnaps(message: BObject, facts: Facts, notes: Notes): void {
  const { installed } = toDict(message['snaps'], 'snaps');
  const snaps = readDicts(
    installed,
    MAX_SNAPS,
    { what: 'installed', notes },
    {
      name: (snap) => called('snap', snap['name']),
      read: (snap, item) => readSnap(snap, item, notes),
    },
  );
  notes.requireUse(snaps.length > 0);
  facts.snaps = [...new Map(snaps.map((snap) => [snap.name, snap])).values()];
}

function readSnap(snap: BObject, item: Called, notes: Notes): InstalledSnap {
  const name = toText(snap['name'], 'the name of a snap', MAX_NAME);
  const shown = (from: BObject, key: string, max = MAX_TEXT) =>
    shownText(from[key], max, { what: `${key} of a snap`, notes, item });
  const publisher = isDict(snap['publisher']) ? snap['publisher'] : {};
  if (snap['publisher'] && !isDict(snap['publisher'])) notes.skipped('the publisher of a snap must be a dict', item);
  return {
    name,
    id: shown(snap, 'id', MAX_NAME) ?? '',
    version: shown(snap, 'version', MAX_NAME) ?? '',
    revision: typeof snap['revision'] === 'number' ? String(snap['revision']) : (shown(snap, 'revision') ?? ''),
    trackingChannel: shown(snap, 'tracking-channel'),
    confinement: shown(snap, 'confinement'),
    heldUntil: shown(snap, 'hold'),
    publisherUsername: shown(publisher, 'username'),
    publisherValidation: shown(publisher, 'validation'),
    summary: shown(snap, 'summary'),
    config: readConfig(snap['config'], item, notes),
  };
}

/** JSON, of which a part would be none. */
function readConfig(value: BObject[string] | undefined, item: Called, notes: Notes): string | null {
  if (typeof value === 'string' && value.length > MAX_TEXT) {
    notes.skipped(`config of a snap is longer than ${MAX_TEXT} characters`, item);
    return null;
  }
  return shownText(value, MAX_TEXT, { what: 'config of a snap', notes, item });
}

/** Reads `snap-services`. */
export function readSnapServices(message: BObject, facts: Facts, notes: Notes): void {
  const { running } = toDict(message['services'], 'services');
  const services = readDicts(
    running,
    MAX_SERVICES,
    { what: 'running', notes },
    {
      name: (service) => called('service', service['name']),
      read: (service) => wireToJson(service),
    },
  );
  notes.requireUse(services.length > 0);
  facts.inventory.snap_services = services;
}
