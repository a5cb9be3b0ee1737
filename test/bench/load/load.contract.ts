import type { Latency } from '../harness/statistics.ts';

/** What a load process is asked to do; one answer per order. */
export type LoadOrder =
  | { kind: 'enrol'; port: number; account: string; count: number; prefix: string }
  /** Requests with the same bytes every time, `bodies` in turn. */
  | { kind: 'repeat'; port: number; request: RepeatRequest; connections: number; seconds: number }
  /** One request so many times, one after another on one connection. */
  | { kind: 'times'; port: number; request: RepeatRequest; count: number }
  /** Empty exchanges of the enrolled agents in turn. */
  | { kind: 'exchange'; port: number; connections: number; seconds: number }
  /** One request every `everyMs`, `bodies` in turn, until `stop`, whatever the answers take. */
  | { kind: 'probe'; port: number; request: RepeatRequest; everyMs: number }
  /** One empty exchange of an enrolled agent every `everyMs`, each agent in turn, until `stop`. */
  | { kind: 'probe-exchange'; port: number; everyMs: number }
  | { kind: 'stop' };

export interface RepeatRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Sent in turn; one empty body when there is none to send. */
  bodies: string[];
}

/** What happened. */
export interface LoadResult {
  requests: number;
  /** Answers other than 200; a benchmark with any is void. */
  failures: number;
  seconds: number;
  latencyMs: Latency;
  /** Ids of enrolled agents. */
  ids: number[];
  /** How many different bodies were sent, or agents exchanged. */
  distinct: number;
  /** Length of the last body in bytes. */
  bodyBytes: number;
}

export type LoadReply = { result: LoadResult } | { error: string };
