import { setImmediate as turn } from 'node:timers/promises';
import { type BObject, type BValue, isDict } from '../../protocol/bpickle.ts';
import * as computer from './computer.ts';
import { type Facts, noFacts } from './facts.ts';
import { MalformedMessage, storable } from './fields.ts';
import { readAddPackages, readPackageSets, readUnknownHashes } from './packages.ts';
import { readProcesses } from './processes.ts';
import * as results from './results.ts';
import { readUsers } from './users.ts';

type Reader = (message: BObject, facts: Facts) => void;

/** Every type with a meaning. A reader throws before it changes anything, so that half a message is never taken. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['active-process-info', readProcesses],
  ['add-packages', readAddPackages],
  ['apt-preferences', computer.readAptPreferences],
  ['change-packages-result', results.readPackagesResult],
  ['cloud-init', computer.readCloudInit],
  ['cloud-instance-metadata', computer.readCloudInstance],
  ['computer-info', computer.readComputerInfo],
  ['computer-tags', computer.readTags],
  ['distribution-info', computer.readDistribution],
  ['fde-recovery-key', results.readRecoveryKey],
  ['hardware-info', computer.readHardware],
  ['livepatch', computer.readHotPatch],
  ['network-device', computer.readNetwork],
  ['operation-result', results.readOperationResult],
  ['package-reporter-result', computer.readPackageReport],
  ['packages', readPackageSets],
  ['processor-info', computer.readProcessors],
  ['reboot-required-info', computer.readRebootRequired],
  ['resynchronize', results.readResynchronize],
  ['snap-info', computer.readSnapDevice],
  ['snap-services', computer.readSnapServices],
  ['snaps', computer.readSnaps],
  ['ubuntu-pro-info', computer.readProInfo],
  ['ubuntu-pro-reboot-required', computer.readProReboot],
  ['unknown-package-hashes', readUnknownHashes],
  ['update-manager-info', computer.readUpdateManager],
  ['users', readUsers],
  ['usg-audit', results.readAuditReport],
]);

const MAX_TYPE_LENGTH = 100;

/**
 * Takes in messages in order. What is malformed is noted as rejected, what has no meaning as unknown; neither stops
 * the rest.
 *
 * @param openResync - id of the server's own `resynchronize` request that is not answered yet
 */
export function readMessages(messages: readonly BValue[], openResync: number | null): Facts {
  const facts = noFacts(openResync);
  for (const message of messages) readMessage(message, facts);
  return facts;
}

/** As {@link readMessages}; others get their turn after each message. */
export async function readMessagesInTurns(messages: readonly BValue[], openResync: number | null): Promise<Facts> {
  const facts = noFacts(openResync);
  for (const message of messages) {
    readMessage(message, facts);
    await turn();
  }
  return facts;
}

function readMessage(message: BValue, facts: Facts): void {
  const type = messageType(message);
  const reader = READERS.get(type);
  try {
    if (!isDict(message) || type === '') throw new MalformedMessage('not a message');
    if (reader) reader(message, facts);
    else facts.unknownTypes.push(type);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    facts.rejected.push({ type, reason: error.message });
  }
}

/** The type of a message, cleaned and cut; empty when it has none. */
export function messageType(message: BValue): string {
  const type = isDict(message) ? message['type'] : undefined;
  const text = type instanceof Uint8Array ? Buffer.from(type).toString('latin1') : type;
  return typeof text === 'string' ? storable(text.slice(0, MAX_TYPE_LENGTH)) : '';
}
