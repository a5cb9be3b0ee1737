/** An unacknowledged control message. */
export interface ControlMessage {
  position: number;
  /** As JSON: control messages have no byte strings. */
  message: Record<string, unknown>;
}

/** An unacknowledged operation. */
export interface SentOperation {
  activityId: number;
  payloadId: number;
  messageType: string;
  position: number;
}

/** An operation that may be sent now. */
export interface DueOperation {
  activityId: number;
  messageType: string;
  fields: Record<string, unknown>;
}

/** The computer that messages are sent to. */
export interface Recipient {
  computerId: number;
  tags: string[];
}

/** Which facts an agent is to report again, and for which it was last asked. */
export interface ResyncState {
  /** Scopes of messages that could not be used. */
  wantedScopes: readonly string[];
  requestedScopes: readonly string[];
  requestId: number | null;
  requestedAt: Date | null;
}

/** The state of one computer before an exchange. @see docs/agent-protocol.md#server-state-per-computer */
export interface Session extends Recipient {
  accountId: number;
  title: string;
  approved: boolean;
  archived: boolean;
  accountDisabled: boolean;
  /** Limit of unacknowledged operations; null for none. */
  maxBacklog: number | null;
  /** Incremented by every accepted exchange, so that of two at once only one is saved. */
  version: number;
  /** Number of the next message wanted from the agent; null before its first exchange. */
  inNext: number | null;
  /** First number of the last accepted payload. */
  lastSequence: number | null;
  /** Network of the last accepted payload. */
  lastAddress: string | null;
  /** The agent's number of the oldest unacknowledged message; null before its first exchange. */
  outBase: number | null;
  /** Next free position; positions only order messages and may have gaps. */
  outNext: number;
  token: string | null;
  requestDigest: Buffer | null;
  controls: ControlMessage[];
  /** How often the oldest unacknowledged message arrived for certain. */
  headTries: number;
  /** How often it was sent while it was the oldest. */
  headSends: number;
  clientTypesDigest: Buffer | null;
  /** Whether the last exchange treated the computer as approved. */
  servedApproved: boolean;
  resyncWanted: boolean;
  resyncId: number | null;
  resyncAt: Date | null;
  resync: ResyncState;
  sent: SentOperation[];
  /** Oldest first, regardless of `maxBacklog`. */
  due: DueOperation[];
}
