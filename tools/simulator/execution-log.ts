import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';

/** One execution of one operation on one computer. */
export interface Execution {
  /** Title, unique in the fleet. */
  computer: string;
  /** The computer's id at the server when it received the operation. */
  computerId: number | null;
  operationId: number;
  type: string;
}

/**
 * Counts executions, which shows whether the server sends each operation once.
 * @remarks An execution is on disk (a JSON line) before its result is queued, so a killed simulator loses none.
 */
export interface ExecutionLog {
  record(execution: Execution): void;
  count(computer: string, operationId: number): number;
  repeated(): { computer: string; operationId: number; count: number }[];
  readonly total: number;
  /** Nothing is recorded afterwards. */
  close(): void;
}

const CHUNK_BYTES = 2 ** 20;
const NEWLINE = 0x0a;

/** Opens a log, continuing an existing file. @param file - null to keep the log in memory */
export function openExecutionLog(file: string | null): ExecutionLog {
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

/** Skips a line that was cut off by a crash of the machine. */
export function readExecutionLog(file: string): Execution[] {
  return [...executionsIn(file)];
}

function* executionsIn(file: string): Generator<Execution> {
  for (const line of linesOf(file)) {
    const execution = parseLine(line);
    if (execution) yield execution;
  }
}

/** Reads in chunks: a long log exceeds the maximum length of a string. */
function* linesOf(file: string): Generator<string> {
  const descriptor = openSync(file, 'r');
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const decoder = new StringDecoder('utf8');
    let rest = '';
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
      const lines = (rest + decoder.write(chunk.subarray(0, read))).split('\n');
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

/** Terminates a last line that was cut off. */
function openToAppend(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  const descriptor = openSync(file, 'a+');
  const { size } = fstatSync(descriptor);
  const last = Buffer.alloc(1, NEWLINE);
  if (size > 0) readSync(descriptor, last, 0, 1, size - 1);
  if (last[0] !== NEWLINE) writeSync(descriptor, '\n');
  return descriptor;
}
