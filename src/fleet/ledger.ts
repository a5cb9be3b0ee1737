import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

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
  close(): void;
}

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
  if (file && existsSync(file)) for (const line of readLedgerLines(file)) add(line);
  if (file) mkdirSync(dirname(file), { recursive: true });
  const descriptor = file ? openSync(file, 'a') : null;
  return {
    record(execution) {
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
    },
  };
}

/** Reads the executions of a ledger file; a last line cut short by a crash of the machine is left out. */
export function readLedgerLines(file: string): Execution[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as Execution);
}
