/** A control message waiting for acknowledgement, at its place among everything sent to the computer. */
export interface Control {
  position: number;
  /** As JSON; controls never carry byte strings. */
  message: Record<string, unknown>;
}

/** An operation that was put in an answer and is not acknowledged yet. */
export interface SentOperation {
  activityId: number;
  payloadId: number;
  messageType: string;
  position: number;
}

/** An operation that may be handed out now. */
export interface DueOperation {
  activityId: number;
  messageType: string;
  fields: Record<string, unknown>;
}

/** The computer that an answer is for, as its messages speak of it. */
export interface Addressee {
  computerId: number;
  tags: string[];
}

/** What an agent is to report afresh, and what it was last asked for. */
export interface ResyncState {
  /** Kinds of facts of which a message could not be used. */
  wantedScopes: readonly string[];
  askedScopes: readonly string[];
  askedId: number | null;
  askedAt: Date | null;
}

/** One computer as an exchange finds it. @see docs/agent-protocol.md#server-state-per-computer */
export interface Session extends Addressee {
  accountId: number;
  title: string;
  approved: boolean;
  archived: boolean;
  accountDisabled: boolean;
  /** Most operations that the computer may have without acknowledging them; null for no bound. */
  maxBacklog: number | null;
  /** Grows with every exchange that was accepted: two at once cannot both be. */
  version: number;
  /** Number of the next message wanted from the agent; null before its first exchange. */
  inNext: number | null;
  /** Number that the last accepted payload began with. */
  lastSequence: number | null;
  /** Network that the last accepted payload came from. */
  lastAddress: string | null;
  /** The agent's number of the oldest message sent and not acknowledged; null before its first exchange. */
  outBase: number | null;
  /** Next free position; positions only order messages, they may have gaps. */
  outNext: number;
  token: string | null;
  requestDigest: Buffer | null;
  controls: Control[];
  /** How often the oldest unacknowledged message certainly arrived without being worked off. */
  headTries: number;
  /** How often it was sent as the oldest. */
  headSends: number;
  clientTypesDigest: Buffer | null;
  /** Whether the last exchange treated the computer as approved. */
  servedApproved: boolean;
  resyncWanted: boolean;
  resyncId: number | null;
  resyncAt: Date | null;
  resync: ResyncState;
  sent: SentOperation[];
  /** What may be handed over, in the order of acceptance, without regard to `maxBacklog`. */
  due: DueOperation[];
}
