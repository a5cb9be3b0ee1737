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
/** Ids of packages are their positions plus this. */
export const ID_BASE = 1000;

/** The simulated computer at a place of the pattern, as it enrols. */
export function machineAt(index: number): Machine {
  return new Machine({ seed: 1, index, epoch: EPOCH });
}

/** Has a computer carry out a message of the server, without the network between. */
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
