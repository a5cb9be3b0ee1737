import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';

/** One execution of one operation on one computer. */
export interface Execution {
  /** Title of the computer, unique in the fleet. */
  computer: string;
  /** Number under which the server knows the computer, as it gave it for pings. */
  computerId: number | null;
  operationId: number;
  type: string;
}

/**
 * Counts executions, by which tests prove that the server hands over each operation once.
 *
 * @remarks An execution is on disk (a JSON line) before its result is queued: a simulator that is killed loses none.
 */
export interface Ledger {
  record(execution: Execution): void;
  /** How often a computer executed an operation. */
  count(computer: string, operationId: number): number;
  /** Everything executed more than once, with its count. */
  repeated(): { computer: string; operationId: number; count: number }[];
  readonly total: number;
  /** Nothing is counted afterwards. */
  close(): void;
}

const PIECE_BYTES = 2 ** 20;
const NEWLINE = 0x0a;

/**
 * Opens the ledger; an existing file is read and carried on.
 *
 * @param file - null for a ledger in memory alone
 */
export function openLedger(file: string | null): Ledger {
  const counts = new Map<string, number>();
  let total = 0;
  const add = ({ computer, operationId }: Pick<Execution, 'computer' | 'operationId'>): number => {
    const key = `${computer}/${operationId}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    total++;
    return count;
  };
  if (file && existsSync(file)) for (const execution of executionsIn(file)) add(execution);
  const descriptor = file ? openToAppend(file) : null;
  let closed = false;
  return {
    record(execution) {
      if (closed) return;
      const count = add(execution);
      if (descriptor === null) return;
      writeSync(descriptor, `${JSON.stringify({ time: new Date().toISOString(), ...execution, count })}\n`);
    },
    count: (computer, operationId) => counts.get(`${computer}/${operationId}`) ?? 0,
    repeated: () =>
      [...counts].flatMap(([key, count]) => {
        const slash = key.lastIndexOf('/');
        return count > 1 ? [{ computer: key.slice(0, slash), operationId: Number(key.slice(slash + 1)), count }] : [];
      }),
    get total() {
      return total;
    },
    close() {
      if (descriptor !== null) closeSync(descriptor);
      closed = true;
    },
  };
}

/** Reads the executions of a ledger file; a line cut short by a crash of the machine is left out. */
export function readLedgerLines(file: string): Execution[] {
  return [...executionsIn(file)];
}

function* executionsIn(file: string): Generator<Execution> {
  for (const line of linesOf(file)) {
    const execution = parseLine(line);
    if (execution) yield execution;
  }
}

/** Reads in pieces: the ledger of a long run is longer than a string may be. */
function* linesOf(file: string): Generator<string> {
  const descriptor = openSync(file, 'r');
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    const decoder = new StringDecoder('utf8');
    let rest = '';
    for (let read = readSync(descriptor, piece); read > 0; read = readSync(descriptor, piece)) {
      const lines = (rest + decoder.write(piece.subarray(0, read))).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    yield rest;
  } finally {
    closeSync(descriptor);
  }
}

function parseLine(text: string): Execution | null {
  try {
    return JSON.parse(text) as Execution;
  } catch {
    return null;
  }
}

/** Ends a last line that was cut short, or the next one would be a part of it. */
function openToAppend(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  const descriptor = openSync(file, 'a+');
  const { size } = fstatSync(descriptor);
  const last = Buffer.alloc(1, NEWLINE);
  if (size > 0) readSync(descriptor, last, 0, 1, size - 1);
  if (last[0] !== NEWLINE) writeSync(descriptor, '\n');
  return descriptor;
}
