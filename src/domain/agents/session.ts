import type { OperationResult } from './facts.ts';
import type { AgentIntervals, IntervalsState } from './intervals.ts';

export interface ControlMessage {
  position: number;
  /** As JSON: control messages have no byte strings. */
  message: Record<string, unknown>;
}

export interface SentOperation {
  activityId: number;
  payloadId: number;
  messageType: string;
  position: number;
}

export interface DueOperation {
  activityId: number;
  messageType: string;
  fields: Record<string, unknown>;
}

export interface Recipient {
  computerId: number;
  tags: string[];
}

export interface ResyncState {
  wantedScopes: readonly string[];
  requestedScopes: readonly string[];
  requestId: number | null;
  requestedAt: Date | null;
}

/** The state of one computer before an exchange. @see docs/agent-protocol.md#server-state-per-computer */
export interface Session extends Recipient, IntervalsState {
  accountId: number;
  title: string;
  approved: boolean;
  archived: boolean;
  accountDisabled: boolean;
  /** Maximum unacknowledged operations; null for no limit. */
  maxBacklog: number | null;
  /** The account's preference. */
  preferredIntervals: AgentIntervals | null;
  /** Incremented by every accepted exchange, so that only one of two concurrent ones is saved. */
  version: number;
  /** Next expected number from the agent; null before its first exchange. */
  inNext: number | null;
  lastSequence: number | null;
  lastAddress: string | null;
  /** The agent's number of the oldest unacknowledged message; null before its first exchange. */
  outBase: number | null;
  /** Next free position; positions only order messages and may have gaps. */
  outNext: number;
  token: string | null;
  requestDigest: Buffer | null;
  controls: ControlMessage[];
  /** Confirmed deliveries of the oldest unacknowledged message. */
  headTries: number;
  /** How often it was sent as the oldest. */
  headSends: number;
  clientTypesDigest: Buffer | null;
  servedApproved: boolean;
  resyncWanted: boolean;
  resyncId: number | null;
  resyncAt: Date | null;
  resync: ResyncState;
  sent: SentOperation[];
  /** Oldest first, regardless of `maxBacklog`. */
  due: DueOperation[];
}

export interface SessionChange
  extends Pick<
    Session,
    | 'outNext'
    | 'requestDigest'
    | 'controls'
    | 'headTries'
    | 'headSends'
    | 'clientTypesDigest'
    | 'servedApproved'
    | 'resyncWanted'
    | 'resyncId'
    | 'resyncAt'
    | 'lastSequence'
    | 'lastAddress'
  > {
  inNext: number;
  outBase: number;
  token: string;
  acked: readonly number[];
  sends: ReadonlyArray<{ activityId: number; position: number; messageType: string }>;
  resends: readonly number[];
  dropped: { activityId: number; text: string } | null;
  results: readonly OperationResult[];
}
