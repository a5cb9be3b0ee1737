import { appendFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isMainThread } from 'node:worker_threads';
import pg from 'pg';
import { shiftClock } from './clock.ts';
import { FAULT_DIRECTORY, FAULT_PROXIES, type FaultCommand, type Strike } from './fault-commands.ts';
import { type FailPoint, follow, type Marks, WITH_ROWS } from './points.ts';

/** Preloaded by tests into the API and the worker to inject the driver's faults. The product never loads it. */
type Role = 'api' | 'worker';
type Enabled = { point: FailPoint; strike: Strike; skip: number };
type Result = { rowCount?: number | null } | undefined;
type Callback = (error: Error | null, result?: Result) => void;
type Client = pg.PoolClient & { connection?: { stream: { destroy(): void } } };

const directory = process.env[FAULT_DIRECTORY];
// Among the arguments: the first processes of a stack prepare its servers before they serve.
const runs = (main: string) =>
  process.argv.some((argument) => `/${argument.replace(/\.js$/, '')}`.endsWith(`/${main}`));
const role: Role | null = runs('src/server/main.ts') ? 'api' : runs('workers/main.ts') ? 'worker' : null;

let enabled: Enabled[] = [];
const pools = new Set<pg.Pool>();
const marks = new WeakMap<object, Marks>();

if (directory && role && isMainThread) {
  useProxies(role);
  watchStatements();
  acceptCommands(directory, role);
}

function useProxies(of: Role): void {
  for (const proxy of (process.env[FAULT_PROXIES] ?? '').split(',')) {
    const [, owner, server, port] = /^(\w+):(\w+)=(\d+)$/.exec(proxy) ?? [];
    if (owner !== of) continue;
    if (server === 'temporal') process.env['FLOTILLA_TEMPORAL_ADDRESS'] = `127.0.0.1:${port}`;
    if (server === 'database') {
      const url = new URL(process.env['FLOTILLA_DATABASE_URL'] ?? '');
      url.port = port ?? '';
      process.env['FLOTILLA_DATABASE_URL'] = url.href;
    }
  }
}

function watchStatements(): void {
  const connect = pg.Pool.prototype.connect;
  pg.Pool.prototype.connect = function (this: pg.Pool, ...args: unknown[]) {
    pools.add(this);
    return Reflect.apply(connect, this, args);
  } as typeof connect;
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: Client, ...args: unknown[]): unknown {
    const given = args[0] as string | { text?: unknown } | undefined;
    const text = typeof given === 'string' ? given : given?.text;
    if (typeof text !== 'string') return Reflect.apply(query, this, args);
    const { marks: next, passed } = follow(marks.get(this) ?? null, text);
    marks.set(this, next);
    if (!passed || enabled.length === 0) return Reflect.apply(query, this, args);
    const sqlState = passed.before && pass(passed.before, this);
    const sent = sqlState ? failing(args, sqlState) : args;
    return afterwards(
      sent,
      (all) => Reflect.apply(query, this, all),
      (result) => {
        if (!passed.after || (WITH_ROWS.has(passed.after) && !result?.rowCount)) return;
        pass(passed.after, this);
      },
    );
  } as typeof pg.Client.prototype.query;
}

/** Supports callbacks and promises, and inspects the result before the caller does. */
function afterwards(args: unknown[], call: (args: unknown[]) => unknown, look: (result: Result) => void): unknown {
  const last = args.at(-1);
  if (typeof last === 'function') {
    const callback: Callback = (error, result) => {
      if (!error) look(result);
      (last as Callback)(error, result);
    };
    return call([...args.slice(0, -1), callback]);
  }
  const sent = call(args);
  if (!(sent instanceof Promise)) return sent;
  return sent.then((result: Result) => {
    look(result);
    return result;
  });
}

function failing(args: unknown[], sqlState: string): unknown[] {
  const text = `do $$ begin raise exception 'made by a test' using errcode = '${sqlState}'; end $$`;
  const last = args.at(-1);
  return typeof last === 'function' ? [text, last] : [text];
}

/** @returns the error code for rejecting the statement, if any */
function pass(point: FailPoint, client: Client): string | null {
  const found = enabled.find((candidate) => candidate.point === point);
  if (!found) return null;
  if (found.skip-- > 0) return null;
  enabled = enabled.filter((candidate) => candidate !== found);
  report(point);
  const { strike } = found;
  if ('kill' in strike) process.kill(process.pid, 'SIGKILL');
  if ('blockMs' in strike) block(strike.blockMs);
  if ('dropConnection' in strike) client.connection?.stream.destroy();
  return 'sqlState' in strike ? strike.sqlState : null;
}

/** Reports a point to the driver, which counts those that were reached. */
function report(point: FailPoint): void {
  appendFileSync(join(directory ?? '', 'struck.log'), `${role} ${point}\n`);
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function execute(command: FaultCommand): void {
  if (command.do === 'enable') enabled.push(command);
  if (command.do === 'disable') enabled = [];
  if (command.do === 'clock') shiftClock(command.offsetMs);
  if (command.do === 'block') setImmediate(() => block(command.ms));
  if (command.do === 'exhaust') for (const pool of pools) exhaust(pool, command.ms);
}

function exhaust(pool: pg.Pool, ms: number): void {
  for (let i = 0; i < (pool.options.max ?? 10); i += 1) {
    pool.connect().then(
      (client) => setTimeout(() => client.release(), ms),
      () => undefined,
    );
  }
}

function acceptCommands(below: string, of: Role): void {
  const path = join(below, `${of}-${process.pid}.sock`);
  rmSync(path, { force: true });
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    createInterface(socket).on('line', (line) => {
      execute(JSON.parse(line) as FaultCommand);
      socket.write('ok\n');
    });
  });
  server.listen(path);
  server.unref();
}
