import type { BObject } from '../../../src/protocol/bpickle.ts';
import type { Blueprint } from '../inventory/blueprint.ts';
import { changePackages, failedPackageChange } from './change-packages.ts';
import { executeScript, failedScript } from './execute-script.ts';
import { failedRecoveryKey, recoveryKey, shutdown, signalProcess } from './machine-operations.ts';
import { failed, type Operation, type Outcome } from './operation.ts';
import { snapOperation } from './snap-operations.ts';
import { usg } from './usg.ts';

const OPERATIONS: ReadonlyMap<string, Operation> = new Map([
  ['change-packages', changePackages],
  ['execute-script', executeScript],
  ['fde-recovery-key', recoveryKey],
  ['hold-snaps', snapOperation('hold')],
  ['install-snaps', snapOperation('install')],
  ['refresh-snaps', snapOperation('refresh')],
  ['remove-snaps', snapOperation('remove')],
  ['shutdown', shutdown],
  ['signal-process', signalProcess],
  ['unhold-snaps', snapOperation('unhold')],
  ['usg', usg],
]);

const CONTROL_TYPES = [
  'accepted-types',
  'package-ids',
  'registration',
  'resynchronize',
  'set-id',
  'set-intervals',
  'unknown-id',
] as const;

const WINDOWS_OPERATIONS: readonly string[] = ['shutdown', 'signal-process'];

/** The `client-accepted-types` of a computer. */
export function clientTypes({ catalogue, encryption }: Blueprint): string[] {
  const operations = [...OPERATIONS.keys()].filter((type) => {
    if (type === 'fde-recovery-key') return encryption !== 'absent';
    return catalogue !== null || WINDOWS_OPERATIONS.includes(type);
  });
  return [...CONTROL_TYPES, ...operations].sort();
}

/** Null for types that the agent does not handle. */
export function findOperation(type: string, blueprint: Blueprint): Operation | null {
  return clientTypes(blueprint).includes(type) ? (OPERATIONS.get(type) ?? null) : null;
}

/** The result of a type without a handler. @see docs/agent-protocol.md#message-types */
export const unsupported: Operation = (message) => ({
  results: [failed(message, `no handler for ${String(message['type'])}\n`)],
});

/** The outcome of a simulated failure. */
export function failedOutcome(message: BObject): Outcome {
  switch (message['type']) {
    case 'change-packages':
      return failedPackageChange(message);
    case 'execute-script':
      return failedScript(message);
    case 'fde-recovery-key':
      return failedRecoveryKey(message);
    default:
      return { results: [failed(message, `${String(message['type'])}: simulated failure`)] };
  }
}
