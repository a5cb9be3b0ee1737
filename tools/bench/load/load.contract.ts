import type { Latency } from '../harness/statistics.ts';

/** Ports to connect to; several are used in turn, connection by connection. */
export type Ports = number | readonly number[];

/** Command to a load process; each gets one reply. */
export type LoadCommand =
  | { kind: 'enrol'; port: Ports; account: string; count: number; prefix: string }
  /** The same requests again and again, `bodies` in turn. */
  | { kind: 'repeat'; port: Ports; request: RepeatRequest; connections: number; seconds: number }
  /** Repeats one request on one connection. */
  | { kind: 'times'; port: Ports; request: RepeatRequest; count: number }
  /** Empty exchanges of the enrolled agents in turn. */
  | { kind: 'exchange'; port: Ports; connections: number; seconds: number }
  /** Exchanges of the enrolled agents in turn, each with so many messages with new facts, of so many bytes each. */
  | { kind: 'report'; port: Ports; connections: number; seconds: number; messages: number; bytes: number }
  /** Exchanges of the enrolled agents in turn until they have reported success of so many operations. */
  | { kind: 'work'; port: Ports; connections: number; operations: number; limitSeconds: number }
  /** Requests for one operation of one enrolled agent each, which the agent fetches and reports. */
  | SingleCommand
  /** One request every `everyMs`, `bodies` in turn, until `stop`, independent of the responses. */
  | { kind: 'probe'; port: Ports; request: RepeatRequest; everyMs: number }
  /** One empty exchange of an enrolled agent every `everyMs`, each agent in turn, until `stop`. */
  | { kind: 'probe-exchange'; port: Ports; everyMs: number }
  | { kind: 'stop' };

/** Repeated requests for one computer, from POST to the agent's report, or until the activity shows its success. */
export interface SingleCommand {
  kind: 'single';
  /** Of the agents. */
  port: Ports;
  apiPort: Ports;
  /** Of the API. */
  path: string;
  headers: Record<string, string>;
  count: number;
  /** Participating agents, each with one operation at a time. */
  parallel: number;
  /** Pause between two pings of an agent that waits for its operation. */
  pingMs: number;
  until: 'reported' | 'visible';
}

export interface RepeatRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Sent in turn; one empty body for requests without a body. */
  bodies: string[];
}

/** Result of a command. */
export interface LoadResult {
  requests: number;
  /** Responses other than 200; a benchmark with any is void. */
  failures: number;
  seconds: number;
  latencyMs: Latency;
  ids: number[];
  /** Number of different bodies, or of agents that exchanged. */
  distinct: number;
  bodyBytes: number;
}

export type LoadReply = { result: LoadResult } | { error: string };
