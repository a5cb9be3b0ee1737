import { setImmediate as turn } from 'node:timers/promises';
import { type BObject, type BValue, emptyDict, isDict } from '../../protocol/bpickle.ts';
import * as computer from './computer.ts';
import * as devices from './devices.ts';
import { type Facts, noFacts, type OpenResync } from './facts.ts';
import { Notes } from './faults.ts';
import { MalformedMessage, storable } from './fields.ts';
import { readAddPackages, readPackageSets, readUnknownHashes } from './packages.ts';
import { readProcesses } from './processes.ts';
import * as results from './results.ts';
import * as snaps from './snaps.ts';
import * as tools from './tool-reports.ts';
import { readUsers } from './users.ts';

/** @throws {MalformedMessage} when the message is of no use */
type Reader = (message: BObject, facts: Facts, notes: Notes) => void;

/** Every type with a meaning. A reader throws before it changes anything. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['active-process-info', readProcesses],
  ['add-packages', readAddPackages],
  ['apt-preferences', computer.readAptPreferences],
  ['change-packages-result', results.readPackagesResult],
  ['cloud-init', tools.readCloudInit],
  ['cloud-instance-metadata', computer.readCloudInstance],
  ['computer-info', computer.readComputerInfo],
  ['computer-tags', computer.readTags],
  ['distribution-info', computer.readDistribution],
  ['fde-recovery-key', results.readRecoveryKey],
  ['hardware-info', devices.readHardware],
  ['livepatch', tools.readHotPatch],
  ['network-device', devices.readNetwork],
  ['operation-result', results.readOperationResult],
  ['package-reporter-result', computer.readPackageReport],
  ['packages', readPackageSets],
  ['processor-info', devices.readProcessors],
  ['reboot-required-info', computer.readRebootRequired],
  ['resynchronize', results.readResynchronize],
  ['snap-info', computer.readSnapDevice],
  ['snap-services', snaps.readSnapServices],
  ['snaps', snaps.readSnaps],
  ['ubuntu-pro-info', tools.readProInfo],
  ['ubuntu-pro-reboot-required', tools.readProReboot],
  ['unknown-package-hashes', readUnknownHashes],
  ['update-manager-info', computer.readUpdateManager],
  ['users', readUsers],
  ['usg-audit', results.readAuditReport],
]);

const MAX_TYPE_LENGTH = 100;

/** Stands for a message that is too large to be read. */
export const TOO_LARGE: BValue = emptyDict();

/**
 * Takes in messages in order. What is malformed is noted as rejected, what has no meaning as unknown; neither stops
 * the rest, and a part of a message that cannot be stored does not stop the rest of it.
 *
 * @param openResyncs - the server's own `resynchronize` requests that are not answered yet
 */
export function readMessages(messages: readonly BValue[], openResyncs: readonly OpenResync[]): Facts {
  const facts = noFacts(openResyncs);
  for (const message of messages) readMessage(message, facts);
  return facts;
}

/** As {@link readMessages}; others get their turn after each message. */
export async function readMessagesInTurns(
  messages: readonly BValue[],
  openResyncs: readonly OpenResync[],
): Promise<Facts> {
  const facts = noFacts(openResyncs);
  for (const message of messages) {
    readMessage(message, facts);
    await turn();
  }
  return facts;
}

function readMessage(message: BValue, facts: Facts): void {
  const type = messageType(message);
  const reader = READERS.get(type);
  const notes = new Notes(type);
  try {
    if (message === TOO_LARGE) throw new MalformedMessage('it is larger than the server takes, and is left out');
    if (!isDict(message) || type === '') throw new MalformedMessage('not a message');
    if (reader) reader(message, facts, notes);
    else facts.unknownTypes.push(type);
    for (const fault of notes.faults) facts.faults.add(fault);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    reject(facts, type, error.message, notes);
  }
}

/** Notes that a message has no effect, with the items that are to blame. */
export function reject(facts: Pick<Facts, 'rejected' | 'faults'>, type: string, reason: string, notes?: Notes): void {
  facts.rejected.push({ type, reason });
  const items = notes?.faults.flatMap((fault) => fault.items) ?? [];
  facts.faults.add({ type, outcome: 'refused', reason, items, count: 1 });
}

/** The type of a message, cleaned and cut; empty when it has none. */
export function messageType(message: BValue): string {
  const type = isDict(message) ? message['type'] : undefined;
  const text = type instanceof Uint8Array ? Buffer.from(type).toString('latin1') : type;
  return typeof text === 'string' ? storable(text.slice(0, MAX_TYPE_LENGTH)) : '';
}
