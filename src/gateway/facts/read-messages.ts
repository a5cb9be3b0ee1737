import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { OpenResync } from '../../domain/agents/facts.ts';
import { type BObject, type BValue, emptyDict, isDict } from '../../protocol/bpickle.ts';
import * as computer from './computer.ts';
import * as devices from './devices.ts';
import { emptyFacts, type Facts } from './facts.ts';
import { MessageFaults } from './faults.ts';
import { MalformedMessage, sanitizeText } from './fields.ts';
import { readAddPackages, readPackageSets, readUnknownHashes } from './packages.ts';
import { readProcesses } from './processes.ts';
import * as results from './results.ts';
import * as snaps from './snaps.ts';
import * as tools from './tool-reports.ts';
import { readUsers } from './users.ts';

type Reader = (message: BObject, facts: Facts, faults: MessageFaults) => void;

/** By message type. A reader throws before it changes anything. */
export const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
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

export const TOO_LARGE: BValue = emptyDict();

/** Reads messages in order. Malformed or unknown messages and invalid parts do not affect the others. */
export function readMessages(messages: readonly BValue[], openResyncs: readonly OpenResync[]): Facts {
  const facts = emptyFacts(openResyncs);
  for (const message of messages) readMessage(message, facts);
  return facts;
}

/** As {@link readMessages}; yields to the event loop after each message. */
export async function readMessagesInTurns(
  messages: readonly BValue[],
  openResyncs: readonly OpenResync[],
): Promise<Facts> {
  const facts = emptyFacts(openResyncs);
  for (const message of messages) {
    readMessage(message, facts);
    await yieldToEventLoop();
  }
  return facts;
}

function readMessage(message: BValue, facts: Facts): void {
  const type = messageType(message);
  const reader = READERS.get(type);
  const faults = new MessageFaults(type);
  try {
    if (message === TOO_LARGE) throw new MalformedMessage('it is larger than the server takes, and is left out');
    if (!isDict(message) || type === '') throw new MalformedMessage('not a message');
    if (reader) reader(message, facts, faults);
    else facts.unknownTypes.push(type);
    for (const fault of faults.all) facts.faults.add(fault);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    rejectMessage(facts, type, error.message, faults);
  }
}

/** Records that a message has no effect, and the responsible items. */
export function rejectMessage(
  facts: Pick<Facts, 'rejected' | 'faults'>,
  type: string,
  reason: string,
  faults?: MessageFaults,
): void {
  facts.rejected.push({ type, reason });
  const items = faults?.all.flatMap((fault) => fault.items) ?? [];
  facts.faults.add({ type, outcome: 'refused', reason, items, count: 1 });
}

/** The sanitized and truncated type of a message; empty when it has none. */
export function messageType(message: BValue): string {
  const type = isDict(message) ? message['type'] : undefined;
  const text = type instanceof Uint8Array ? Buffer.from(type).toString('latin1') : type;
  return typeof text === 'string' ? sanitizeText(text.slice(0, MAX_TYPE_LENGTH)) : '';
}
