/** Seconds. An urgent exchange is one with a result, or after a ping that found messages. */
export interface AgentIntervals {
  ping: number;
  urgent_exchange: number;
  exchange: number;
}

/** The shortest intervals: with less an agent stops exchanging permanently. */
export const FAST_SECONDS = 10;

/** What a computer was sent. @see docs/agent-protocol.md#intervals */
export interface IntervalsState {
  /** Its normal values; null while the server has set none. */
  intervals: AgentIntervals | null;
  /** Whether the fast values were sent last. */
  pollsFast: boolean;
  /** Since when it has one of the slots of computers that may poll fast; null for none. */
  fastAt: Date | null;
}
