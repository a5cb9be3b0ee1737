import type { Latency } from '../harness/statistics.ts';

/** Where to connect: several are taken in turn, connection by connection. */
export type Ports = number | readonly number[];

/** What a load process is asked to do; one answer per order. */
export type LoadOrder =
  | { kind: 'enrol'; port: Ports; account: string; count: number; prefix: string }
  /** Requests with the same bytes every time, `bodies` in turn. */
  | { kind: 'repeat'; port: Ports; request: RepeatRequest; connections: number; seconds: number }
  /** One request so many times, one after another on one connection. */
  | { kind: 'times'; port: Ports; request: RepeatRequest; count: number }
  /** Empty exchanges of the enrolled agents in turn. */
  | { kind: 'exchange'; port: Ports; connections: number; seconds: number }
  /** Exchanges of the enrolled agents in turn, each with so many messages with new facts, of so many bytes each. */
  | { kind: 'tell'; port: Ports; connections: number; seconds: number; messages: number; bytes: number }
  /** Exchanges of the enrolled agents in turn until they have reported success of so many operations. */
  | { kind: 'work'; port: Ports; connections: number; operations: number; limitSeconds: number }
  /** So many requests that order one operation of one enrolled agent each, which the agent asks for and reports. */
  | SingleOrder
  /** One request every `everyMs`, `bodies` in turn, until `stop`, whatever the answers take. */
  | { kind: 'probe'; port: Ports; request: RepeatRequest; everyMs: number }
  /** One empty exchange of an enrolled agent every `everyMs`, each agent in turn, until `stop`. */
  | { kind: 'probe-exchange'; port: Ports; everyMs: number }
  | { kind: 'stop' };

/** One request for one computer, from POST to the agent's report, again and again. */
export interface SingleOrder {
  kind: 'single';
  /** Of the agents. */
  port: Ports;
  apiPort: Ports;
  /** Of the API. */
  path: string;
  headers: Record<string, string>;
  count: number;
  /** Agents that take part, each with one operation at a time. */
  parallel: number;
}

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
