import type { BObject } from '../../../src/protocol/bpickle.ts';
import type { FactType } from '../inventory/facts.ts';
import type { Machine } from '../inventory/machine.ts';
import type { PackageIds } from '../package-ids.ts';
import type { Random } from '../random.ts';

/** What carrying out an operation led to. */
export interface Outcome {
  /** Messages of result, in order; none when a real agent would never answer. */
  results: BObject[];
  /** Facts that changed and are reported before the results. */
  facts?: readonly FactType[];
  /** The package sets changed. */
  packages?: boolean;
  /** What the machine does once the result is queued. */
  power?: 'reboot' | 'off';
  /** Time the work takes beyond the usual. */
  extraMs?: number;
  /** Facts that follow the results, as a compliance report does. */
  after?: BObject[];
}

/** What an operation can reach. */
export interface Workplace {
  machine: Machine;
  /** Draws of this operation on this computer. */
  random: Random;
  /** The server's ids of this machine's packages; zero where unknown. */
  packageIds: PackageIds;
  nowSeconds: number;
  /** Rules of the benchmark that audits look at. */
  auditRules: number;
  /** Fetches an attachment; null when the server does not give it. */
  download(id: number): Promise<Buffer | null>;
}

export type Operation = (message: BObject, workplace: Workplace) => Outcome | Promise<Outcome>;

const SUCCEEDED = 6;
const FAILED = 5;

/** Longest result text; what follows is cut. @see docs/agent-protocol.md#operations */
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
