import type { BObject } from '../../../src/protocol/bpickle.ts';
import type { FactType } from '../inventory/facts.ts';
import type { Machine } from '../inventory/machine.ts';
import type { PackageIds } from '../package-ids.ts';
import type { Random } from '../random.ts';

export interface Outcome {
  /** Result messages in order; none where a real agent would never respond. */
  results: BObject[];
  /** Changed facts, which are reported before the results. */
  facts?: readonly FactType[];
  packages?: boolean;
  /** What the machine does when the result is queued. */
  power?: 'reboot' | 'off';
  extraMs?: number;
  /** Messages after the results, such as a compliance report. */
  after?: BObject[];
}

export interface OperationContext {
  machine: Machine;
  random: Random;
  /** The server's ids of this machine's packages; 0 if unknown. */
  packageIds: PackageIds;
  nowSeconds: number;
  auditRules: number;
  /** Null if the server does not provide the attachment. */
  download(id: number): Promise<Buffer | null>;
}

export type Operation = (message: BObject, context: OperationContext) => Outcome | Promise<Outcome>;

const SUCCEEDED = 6;
const FAILED = 5;

/** @see docs/agent-protocol.md#operations */
const TEXT_LIMIT = 100_000;
const CUT_MARK = '\n...(output cut)';

export function succeeded(operation: BObject, text?: string): BObject {
  return result(operation, SUCCEEDED, text);
}

export function failed(operation: BObject, text: string, code?: number): BObject {
  return { ...result(operation, FAILED, text), ...(code === undefined ? {} : { 'result-code': code }) };
}

function result(operation: BObject, status: number, text?: string): BObject {
  const message: BObject = { type: 'operation-result', 'operation-id': operation['operation-id']!, status };
  if (text !== undefined) message['result-text'] = cut(text);
  return message;
}

function cut(text: string): string {
  return text.length > TEXT_LIMIT ? text.slice(0, TEXT_LIMIT - CUT_MARK.length) + CUT_MARK : text;
}
