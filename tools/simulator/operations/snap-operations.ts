import { type BObject, isDict } from '../../../src/protocol/bpickle.ts';
import { findSnap, fullChannel, revisionIn } from '../catalogue/snaps.ts';
import type { InstalledSnap } from '../inventory/factory.ts';
import { failed, type Operation, type Outcome, succeeded } from './operation.ts';
import { renderPython } from './python-text.ts';

export type SnapAction = 'install' | 'remove' | 'refresh' | 'hold' | 'unhold';

/** With another argument the operation never gets a result. @see docs/agent-protocol.md#snaps */
const KNOWN_ARGUMENTS: Readonly<Record<SnapAction, readonly string[]>> = {
  install: ['revision', 'channel', 'classic'],
  refresh: ['revision', 'channel', 'classic'],
  remove: ['purge', 'terminate'],
  hold: ['hold_level', 'time'],
  unhold: [],
};

const BATCH = 'BATCH';

/** An error of the snap daemon; its message is part of the result. */
class SnapError extends Error {}

export function snapOperation(action: SnapAction): Operation {
  return (message, { machine }) => {
    const entries = entriesOf(message);
    if (!entries.every(({ args }) => Object.keys(args ?? {}).every((name) => KNOWN_ARGUMENTS[action].includes(name)))) {
      return { results: [] };
    }
    const before = machine.snaps;
    const single = entries.some(({ args }) => args !== undefined);
    const report = single ? oneByOne(action, entries, before) : asBatch(action, entries, before, message['args']);
    machine.changes.snaps = report.snaps;
    return outcomeOf(message, report);
  };
}

interface Entry {
  name: string;
  args?: BObject;
}

interface Report {
  snaps: InstalledSnap[];
  completed: string[];
  errors: Record<string, { message: string }>;
}

function entriesOf(message: BObject): Entry[] {
  const snaps = Array.isArray(message['snaps']) ? message['snaps'] : [];
  return snaps.filter(isDict).map((entry) => {
    const args = entry['args'];
    return { name: String(entry['name']), ...(isDict(args) ? { args } : {}) };
  });
}

function outcomeOf(message: BObject, { completed, errors }: Report): Outcome {
  const text = renderPython({ completed, errored: [], errors });
  const rejected = Object.keys(errors).length > 0;
  return {
    results: [rejected ? failed(message, text) : succeeded(message, text)],
    facts: completed.length > 0 ? ['snaps', 'snap-services'] : [],
  };
}

function oneByOne(action: SnapAction, entries: readonly Entry[], before: readonly InstalledSnap[]): Report {
  const report: Report = { snaps: [...before], completed: [], errors: {} };
  for (const { name, args } of entries) {
    try {
      report.snaps = apply(action, report.snaps, name, args ?? {});
      report.completed.push(name);
    } catch (error) {
      report.errors[name] = { message: reasonOf(error) };
    }
  }
  return report;
}

function asBatch(
  action: SnapAction,
  entries: readonly Entry[],
  before: readonly InstalledSnap[],
  shared: unknown,
): Report {
  const args = isDict(shared as BObject) ? (shared as BObject) : {};
  try {
    const snaps = entries.reduce((all, { name }) => apply(action, all, name, args), [...before]);
    return { snaps, completed: [BATCH], errors: {} };
  } catch (error) {
    return { snaps: [...before], completed: [], errors: { [BATCH]: { message: reasonOf(error) } } };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SnapError) return error.message;
  throw error;
}

function apply(action: SnapAction, snaps: readonly InstalledSnap[], name: string, args: BObject): InstalledSnap[] {
  const old = snaps.find((snap) => snap.name === name);
  const others = snaps.filter((snap) => snap.name !== name);
  if (action === 'install') return sorted([...others, old ?? fetchSnap('install', name, args)]);
  if (!old) throw new SnapError(`cannot ${action} "${name}": snap "${name}" is not installed`);
  if (action === 'remove') return others;
  if (action === 'refresh') return sorted([...others, { ...old, ...fetchSnap('refresh', name, args, old) }]);
  const { hold: _, ...free } = old;
  if (action === 'unhold') return sorted([...others, free]);
  return sorted([...others, { ...free, hold: typeof args['time'] === 'string' ? args['time'] : 'forever' }]);
}

function fetchSnap(verb: string, name: string, args: BObject, old?: InstalledSnap): InstalledSnap {
  const snap = findSnap(name);
  if (!snap) throw new SnapError(`cannot ${verb} "${name}": snap not found`);
  const channel =
    typeof args['channel'] === 'string' ? fullChannel(args['channel']) : (old?.channel ?? 'latest/stable');
  const newest = revisionIn(snap, channel);
  if (newest === null) throw new SnapError(`cannot ${verb} "${name}": no channel "${channel}"`);
  if (snap.confinement === 'classic' && !old && args['classic'] !== true) {
    throw new SnapError(`cannot ${verb} "${name}": requires classic or consider using devmode`);
  }
  const revision = args['revision'] === undefined ? String(newest) : String(args['revision']);
  return { name, version: snap.version, revision, channel, confinement: snap.confinement };
}

function sorted(snaps: InstalledSnap[]): InstalledSnap[] {
  return snaps.sort((a, b) => (a.name < b.name ? -1 : 1));
}
