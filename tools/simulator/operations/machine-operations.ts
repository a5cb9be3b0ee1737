import type { BObject } from '../../../src/protocol/bpickle.ts';
import { isEndable, processesOf } from '../inventory/processes.ts';
import { failed, type Operation, type Outcome, succeeded } from './operation.ts';

const START_TOLERANCE_SECONDS = 2;

/** Ends a process. @see docs/agent-protocol.md#process-signals-and-power */
export const signalProcess: Operation = (message, { machine }) => {
  const pid = Number(message['pid']);
  const process = processesOf(machine, machine.blueprint).find((running) => running.pid === pid);
  if (!process) return { results: [failed(message, `ProcessNotFoundError: no process ${pid}`)] };
  if (Math.abs(process.startTime - Number(message['start-time'])) > START_TOLERANCE_SECONDS) {
    return { results: [failed(message, 'ProcessMismatchError: start time differs')] };
  }
  if (message['signal'] !== 'KILL' && message['signal'] !== 'TERM') {
    return { results: [failed(message, `SignalProcessError: unknown signal ${String(message['signal'])}`)] };
  }
  if (isEndable(process)) machine.changes.endedPids = [...machine.endedPids, pid];
  return { results: [succeeded(message)], facts: ['active-process-info'] };
};

/** Restarts the machine or turns it off. @see docs/agent-protocol.md#process-signals-and-power */
export const shutdown: Operation = (message) => {
  const reboot = message['reboot'] === true;
  const text = reboot ? 'Shutdown scheduled: the machine restarts.\n' : 'Shutdown scheduled: the machine turns off.\n';
  return { results: [succeeded(message, text)], power: reboot ? 'reboot' : 'off' };
};

/** Generates a recovery key on machines with TPM disk encryption. @see docs/agent-protocol.md#recovery-keys */
export const recoveryKey: Operation = (message, { machine, random }) => {
  if (machine.blueprint.encryption !== 'tpm') return failedRecoveryKey(message);
  const key = Array.from({ length: 8 }, () => random.digits(5)).join('-');
  return { results: [{ ...keyResult(message, true, 'Generated FDE recovery key'), 'recovery-key': key }] };
};

export function failedRecoveryKey(message: BObject): Outcome {
  return { results: [keyResult(message, false, 'Unable to generate a recovery key: the TPM refused')] };
}

/** Recovery keys are never stored: when the agent's process ends, a result with one becomes a failure. */
export function withoutKey(message: BObject): BObject {
  const { 'recovery-key': key, ...rest } = message;
  return key === undefined ? message : { ...rest, successful: false, 'result-text': 'the agent restarted' };
}

function keyResult(message: BObject, successful: boolean, text: string): BObject {
  return { type: 'fde-recovery-key', 'operation-id': message['operation-id']!, successful, 'result-text': text };
}
