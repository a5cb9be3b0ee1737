import type { BObject } from '../../../src/protocol/bpickle.ts';
import { Machine } from '../../../tools/simulator/inventory/machine.ts';
import { findOperation, unsupported } from '../../../tools/simulator/operations/index.ts';
import type { Outcome } from '../../../tools/simulator/operations/operation.ts';
import { createRandom } from '../../../tools/simulator/random.ts';
import { DEFAULT_AUDIT_RULES } from '../../../tools/simulator/settings.ts';

export const EPOCH = 1_795_000_000;
/** Places in the pattern of 25. */
export const [SERVER, TPM_DESKTOP, PLAIN_DESKTOP, KIOSK, WINDOWS, WSL] = [0, 15, 18, 19, 20, 22];
export const OPERATION = 4711;
/** Package ids are catalogue positions plus this. */
export const ID_BASE = 1000;

/** A simulated computer in its initial state. */
export function machineAt(index: number): Machine {
  return new Machine({ seed: 1, index, epoch: EPOCH });
}

/** Runs a message of the server on a computer, without a network. */
export async function run(
  machine: Machine,
  message: BObject,
  attachments: Record<number, string> = {},
): Promise<Outcome> {
  const { blueprint } = machine;
  const operation = findOperation(String(message['type']), blueprint) ?? unsupported;
  return operation(
    { 'operation-id': OPERATION, ...message },
    {
      machine,
      random: createRandom(1, 'test'),
      packageIds: Int32Array.from(blueprint.catalogue?.packages ?? [], (_, index) => ID_BASE + index),
      nowSeconds: EPOCH,
      auditRules: DEFAULT_AUDIT_RULES,
      download: async (id) => (id in attachments ? Buffer.from(attachments[id]!) : null),
    },
  );
}
