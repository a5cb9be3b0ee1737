/** Operations on a whole computer or on one of its processes. @see docs/agent-protocol.md#process-signals-and-power */

const POWER_ACTIONS = ['restart', 'shutdown'] as const;

export type PowerAction = (typeof POWER_ACTIONS)[number];

const PROCESS_SIGNALS = ['kill', 'terminate'] as const;

export type ProcessSignal = (typeof PROCESS_SIGNALS)[number];

export interface OperationDraft {
  type: string;
  summary: string;
  message: { type: string; fields: Record<string, unknown> };
}

export function powerOperation(action: PowerAction): OperationDraft {
  const restart = action === 'restart';
  return {
    type: restart ? 'RestartRequest' : 'ShutdownRequest',
    summary: restart ? 'Restart computer' : 'Shutdown computer',
    message: { type: 'shutdown', fields: { reboot: restart } },
  };
}

/** A process as reported by its computer. Without name and start time it is indistinguishable from a later process. */
export interface SignalTarget {
  pid: number;
  name: string | null;
  /** Seconds since the epoch. */
  startTime: number | null;
}

export function signalOperation(signal: ProcessSignal, target: SignalTarget): OperationDraft {
  const { pid, name, startTime } = target;
  return {
    type: 'SignalProcessRequest',
    summary: signalSummary(signal, [target]),
    message: {
      type: 'signal-process',
      fields: { pid, name: name ?? '', 'start-time': startTime ?? 0, signal: LABELS[signal] },
    },
  };
}

/** PID of a {@link signalOperation} message whose process was never reported; null for any other message. */
export function unreportedPid(message: { type: string; fields: Readonly<Record<string, unknown>> }): number | null {
  const { pid, name, 'start-time': startTime } = message.fields;
  const isUnnamed = message.type === 'signal-process' && name === '' && startTime === 0;
  return isUnnamed && typeof pid === 'number' ? pid : null;
}

/** Result text of an operation that fails unsent because its process was never reported. */
export function unreportedText(pid: number): string {
  return `The computer has reported no process with the number ${pid}.`;
}

/** For example "Signal process nginx (PID 812) with TERM" or "Signal 3 processes with KILL". */
export function signalSummary(signal: ProcessSignal, targets: readonly Pick<SignalTarget, 'pid' | 'name'>[]): string {
  const [first] = targets;
  if (targets.length !== 1) return `Signal ${targets.length} processes with ${LABELS[signal]}`;
  return `Signal process ${first!.name === null ? '' : `${first!.name} `}(PID ${first!.pid}) with ${LABELS[signal]}`;
}

const LABELS: Readonly<Record<ProcessSignal, string>> = { kill: 'KILL', terminate: 'TERM' };
