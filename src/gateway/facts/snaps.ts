import type { InstalledSnap } from '../../domain/agents/facts.ts';
import { type BObject, isDict } from '../../protocol/bpickle.ts';
import type { Facts } from './facts.ts';
import { describeItem, type ItemName, type MessageFaults } from './faults.ts';
import { toDict, toText } from './fields.ts';
import { toJson } from './json.ts';
import { lenientText, readDicts } from './lenient-fields.ts';

const MAX_SNAPS = 10_000;
const MAX_SERVICES = 100_000;
const MAX_NAME = 256;
const MAX_TEXT = 100_000;

/** Replaces all snaps; of several with one name the last counts. @throws {MalformedMessage} when none is usable */
export function readSnaps(message: BObject, facts: Facts, faults: MessageFaults): void {
  const { installed } = toDict(message['snaps'], 'snaps');
  const snaps = readDicts(installed, 'installed', MAX_SNAPS, faults, {
    name: (snap) => describeItem('snap', snap['name']),
    read: (snap, item) => readSnap(snap, item, faults),
  });
  faults.requireUsable(snaps.length > 0);
  facts.snaps = [...new Map(snaps.map((snap) => [snap.name, snap])).values()];
}

function readSnap(snap: BObject, item: ItemName, faults: MessageFaults): InstalledSnap {
  const name = toText(snap['name'], 'the name of a snap', MAX_NAME);
  const shown = (from: BObject, key: string, max = MAX_TEXT) =>
    lenientText(from[key], max, { what: `${key} of a snap`, faults, item });
  const publisher = isDict(snap['publisher']) ? snap['publisher'] : {};
  if (snap['publisher'] && !isDict(snap['publisher'])) faults.skipped('the publisher of a snap must be a dict', item);
  return {
    name,
    snapId: shown(snap, 'id', MAX_NAME) ?? '',
    version: shown(snap, 'version', MAX_NAME) ?? '',
    revision: typeof snap['revision'] === 'number' ? String(snap['revision']) : (shown(snap, 'revision') ?? ''),
    trackingChannel: shown(snap, 'tracking-channel'),
    confinement: shown(snap, 'confinement'),
    heldUntil: shown(snap, 'hold'),
    publisherUsername: shown(publisher, 'username'),
    publisherValidation: shown(publisher, 'validation'),
    summary: shown(snap, 'summary'),
    config: readConfig(snap['config'], item, faults),
  };
}

/** Never truncated, as it is JSON. */
function readConfig(value: BObject[string] | undefined, item: ItemName, faults: MessageFaults): string | null {
  if (typeof value === 'string' && value.length > MAX_TEXT) {
    faults.skipped(`config of a snap is longer than ${MAX_TEXT} characters`, item);
    return null;
  }
  return lenientText(value, MAX_TEXT, { what: 'config of a snap', faults, item });
}

/** Stored as reported. @throws {MalformedMessage} when none is usable */
export function readSnapServices(message: BObject, facts: Facts, faults: MessageFaults): void {
  const { running } = toDict(message['services'], 'services');
  const services = readDicts(running, 'running', MAX_SERVICES, faults, {
    name: (service) => describeItem('service', service['name']),
    read: (service) => toJson(service),
  });
  faults.requireUsable(services.length > 0);
  facts.inventory.snap_services = services;
}
