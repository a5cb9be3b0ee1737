import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SessionRecord } from './agent/session.ts';
import type { MachineChanges } from './inventory/machine.ts';
import type { Intervals } from './settings.ts';

/** Stored state of an agent. */
export interface AgentRecord {
  session: Omit<SessionRecord, 'types'>;
  types: readonly string[];
  /** Queued messages in order: base64, or 0 for a fact, which can be reported again. */
  queue: (string | 0)[];
  operations: string[];
  machine: MachineChanges;
  packagesReported: boolean;
  bricked: boolean;
  intervals: Partial<Intervals>;
}

export interface FleetRecord {
  seed: number;
  /** First start of the fleet, in seconds. */
  epoch: number;
  packageIds: Record<string, number[]>;
}

export type AgentRecords = Iterable<readonly [index: number, record: AgentRecord]>;

/** The state of a fleet on disk. */
export interface StateFile {
  readonly fleet: FleetRecord;
  /** The agents of earlier runs by index. */
  readonly agents: ReadonlyMap<number, AgentRecord>;
  /** Stores a change of an agent; call it before the change becomes visible outside. */
  save(index: number, patch: Partial<AgentRecord>): void;
  saveFleet(patch: Partial<FleetRecord>): void;
  /** The file is large enough to be compacted. */
  readonly isBloated: boolean;
  compact(current: AgentRecords): void;
  close(current: AgentRecords): void;
}

type Line = { fleet: Partial<FleetRecord> } | ({ i: number } & Partial<AgentRecord>);

const BLOAT_BYTES = 32 * 2 ** 20;

/**
 * Opens the state of a fleet: JSON lines, of which later ones override parts of earlier ones. A line is written at
 * every step that a real agent would commit, so that a killed simulator resumes there; a torn line is dropped.
 * @param file - null keeps nothing
 * @throws when the file belongs to a fleet of another seed
 */
export function openStateFile(file: string | null, fresh: FleetRecord): StateFile {
  if (!file) return memoryState(fresh);
  const { fleet, agents } = readState(file, fresh);
  if (fleet.seed !== fresh.seed) {
    throw new Error(`${file} belongs to a fleet of seed ${fleet.seed}: use that seed, or another file`);
  }
  mkdirSync(dirname(file), { recursive: true });
  let descriptor = rewrite(file, fleet, agents);
  let appended = 0;
  let closed = false;
  const append = (line: Line): void => {
    if (closed) return;
    appended += writeSync(descriptor, `${JSON.stringify(line)}\n`);
  };
  const compact = (current: AgentRecords): void => {
    if (closed) return;
    closeSync(descriptor);
    descriptor = rewrite(file, fleet, new Map([...agents, ...current]));
    appended = 0;
  };
  return {
    fleet,
    agents,
    save: (index, patch) => append({ i: index, ...patch }),
    saveFleet(patch) {
      Object.assign(fleet, patch);
      append({ fleet: patch });
    },
    get isBloated() {
      return appended > BLOAT_BYTES;
    },
    compact,
    close(current) {
      compact(current);
      closeSync(descriptor);
      closed = true;
    },
  };
}

function memoryState(fleet: FleetRecord): StateFile {
  return { fleet, agents: new Map(), save() {}, saveFleet() {}, isBloated: false, compact() {}, close() {} };
}

function readState(file: string, fresh: FleetRecord): { fleet: FleetRecord; agents: Map<number, AgentRecord> } {
  const fleet: FleetRecord = { ...fresh };
  const agents = new Map<number, Partial<AgentRecord>>();
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  for (const line of lines.map(parseLine)) {
    if (!line) continue;
    if ('fleet' in line) Object.assign(fleet, line.fleet);
    else {
      const { i, ...patch } = line;
      agents.set(i, Object.assign(agents.get(i) ?? {}, patch));
    }
  }
  return { fleet, agents: new Map([...agents].flatMap(([i, record]) => complete(i, record))) };
}

/** An agent that was killed before its first response has no state worth keeping. */
function complete(index: number, record: Partial<AgentRecord>): [number, AgentRecord][] {
  const { session, types = [], queue = [], operations = [], machine = {} } = record;
  const { packagesReported = false, bricked = false, intervals = {} } = record;
  if (!session) return [];
  return [[index, { session, types, queue, operations, machine, packagesReported, bricked, intervals }]];
}

function parseLine(text: string): Line | null {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return null;
  }
}

/** Returns an appending descriptor of the new file, readable only by its owner because it holds identities. */
function rewrite(file: string, fleet: FleetRecord, agents: AgentRecords): number {
  const temporary = `${file}.new`;
  const descriptor = openSync(temporary, 'w', 0o600);
  writeSync(descriptor, `${JSON.stringify({ fleet })}\n`);
  for (const [i, record] of agents) writeSync(descriptor, `${JSON.stringify({ i, ...record })}\n`);
  renameSync(temporary, file);
  return descriptor;
}
