import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openPersistence } from '../../../src/persistence/orm/orm.ts';
import { createAccount } from '../../harness/accounts.ts';
import type { BenchContext } from '../bench.ts';
import { startChild } from '../harness/child.ts';
import { type Report, ReportBuilder } from '../harness/report.ts';
import { interleave } from '../harness/rounds.ts';
import { pairedRatios } from '../harness/statistics.ts';
import { cpuMsOf, measure, type Role, type Usage } from '../harness/usage.ts';
import { TARGETS } from '../harness/verdict.ts';
import type { LoadResult, RepeatRequest } from '../load/load.contract.ts';
import { type LoadClient, startLoad } from '../load/load-client.ts';
import { API_PREFIX, type Api, logIn } from '../product/api.ts';
import { startProduct } from '../product/product.ts';
import { PRODUCT_ROLES, rolesIn } from '../product/roles.ts';
import { ADMIN, type Stack } from '../product/stack.ts';

interface Round {
  usage: Usage;
  done: number;
  cpuUsEach: number;
  perCore: number;
  /** GET /person of another person meanwhile; null where that itself was measured. */
  bystander: LoadResult | null;
}

type Side = 'login' | 'argon2id' | 'person' | 'permitted' | 'open' | 'quiet';

/** More than may hash at once, fewer than may wait: every login succeeds. */
const CONNECTIONS = 16;
const BYSTANDER_EVERY_MS = 20;

/**
 * Logins over bare password hashes; the cost of a token on a trivial GET; the effect of many logins on others.
 * @see docs/reliability.md#the-benchmark-set
 */
export async function login(context: BenchContext): Promise<Report> {
  const { options, resources } = context;
  const stack = await startProduct(context);
  const api = await logIn(stack);
  // A login makes the process reload its own person, which must not slow down the probe.
  const other = await logInAsAnother(stack);
  const file = fileURLToPath(new URL('../baselines/bare-argon2.ts', import.meta.url));
  const bare = await startChild(resources, file, [], { BENCH_PASSWORD: ADMIN.password });
  const load = await startLoad(resources);
  const watcher = await startLoad(resources);
  const roles: Role[] = [
    ...stack.roles,
    { name: 'baseline', roots: () => [bare.pid!] },
    { name: 'load', roots: () => [load.pid, watcher.pid] },
    { name: 'bench', roots: () => [process.pid], alone: true },
  ];
  const { seconds } = options;
  const bearer = ({ token }: Api) => ({ Authorization: `Bearer ${token}` });
  const person = get('/person', bearer(other));
  const repeat = (request: RepeatRequest) => async () =>
    (await load.run({ kind: 'repeat', port: stack.port, connections: CONNECTIONS, seconds, request })).requests;
  const bystander = <T>(work: () => Promise<T>) => watched(watcher, { port: stack.port, request: person }, work);
  const product = (work: () => Promise<number>) => () => oneRound(roles, PRODUCT_ROLES, work);
  const sides = 6;
  const expected = Math.ceil(sides * (options.rounds + 1) * (seconds + 0.5));
  context.progress(`${sides} sides of ${seconds} s, ${options.rounds + 1} times: about ${expected} s`);
  const rounds = await interleave<Round, Record<Side, () => Promise<Round>>>(
    {
      login: () => bystander(product(repeat(LOGIN))),
      argon2id: () => oneRound(roles, ['baseline'], () => hashes(bare, seconds)),
      person: product(repeat(person)),
      permitted: product(repeat(get('/permissions?limit=1', bearer(api)))),
      open: product(repeat(get('/login/methods', {}))),
      quiet: () => bystander(product(() => sleep(seconds * 1000).then(() => 1))),
    },
    { rounds: options.rounds, warmUps: 1, onRound: context.progress },
  );
  return report(context, rounds);
}

async function logInAsAnother(stack: Stack): Promise<Api> {
  const url = stack.environment()['FLOTILLA_DATABASE_URL']!;
  const persistence = await openPersistence({ url, poolSize: 2, applicationName: 'generator' });
  try {
    return await logIn(stack, await createAccount(persistence.db, 'another'));
  } finally {
    await persistence.close();
  }
}

const LOGIN: RepeatRequest = {
  method: 'POST',
  path: `${API_PREFIX}/login`,
  headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
  bodies: [JSON.stringify(ADMIN)],
};

function get(path: string, headers: Record<string, string>): RepeatRequest {
  return { method: 'GET', path: API_PREFIX + path, headers: { Accept: 'application/json', ...headers }, bodies: [] };
}

async function oneRound(
  roles: readonly Role[],
  counted: readonly string[],
  work: () => Promise<number>,
): Promise<Round> {
  const { result: done, usage } = await measure(roles, work);
  const cpuMs = cpuMsOf(usage, counted);
  return { usage, done, cpuUsEach: (cpuMs * 1000) / done, perCore: done / (cpuMs / 1000), bystander: null };
}

async function watched<T>(
  watcher: LoadClient,
  at: { port: number; request: RepeatRequest },
  work: () => Promise<T>,
): Promise<T & { bystander: LoadResult }> {
  const stop = watcher.probe({ kind: 'probe', everyMs: BYSTANDER_EVERY_MS, ...at });
  const result = await work();
  return { ...result, bystander: await stop() };
}

function hashes(bare: ChildProcess, seconds: number): Promise<number> {
  return new Promise((resolve, reject) => {
    bare.once('exit', () => reject(new Error('the baseline ended')));
    bare.once('message', (response) => resolve((response as { count: number }).count));
    bare.send({ seconds });
  });
}

/** CPU of one login per round, less the idle processes and the other clients, which the quiet round includes. */
function loginCpuMs({ login, quiet }: Pick<Record<Side, Round[]>, 'login' | 'quiet'>, of: readonly string[]): number[] {
  return login.map(({ usage, done }, i) => {
    const idle = quiet[i]!.usage;
    return (cpuMsOf(usage, of) - (cpuMsOf(idle, of) * usage.wallMs) / idle.wallMs) / done;
  });
}

function report(context: BenchContext, rounds: Record<Side, Round[]>): Report {
  const builder = new ReportBuilder();
  for (const round of Object.values(rounds).flat()) builder.window(round.usage);
  assert.ok(rounds.login.every(({ done }) => done > 0));
  builder.asserted('no response but 200');
  const each = (side: Side, pick: (round: Round) => number) => rounds[side].map(pick);
  const perCore = (side: Side) => each(side, (r) => r.perCore);
  const cost = (side: Side) => each(side, (r) => r.cpuUsEach);
  const waits = (side: Side) => each(side, (r) => r.bystander!.latencyMs.p99);
  const loginsPerCore = loginCpuMs(rounds, PRODUCT_ROLES).map((ms) => 1000 / ms);
  const ratio = pairedRatios(loginsPerCore, perCore('argon2id'));
  builder.row('POST /login over bare argon2id, per core', 'x', ratio, TARGETS.loginRatio);
  builder.row('login: per core', '/s', loginsPerCore);
  builder.row('bare argon2id: per core', '/s', perCore('argon2id'));
  builder.row(
    'login: answered (wall)',
    '/s',
    each('login', (r) => (r.done * 1000) / r.usage.wallMs),
  );
  for (const role of rolesIn(rounds.login[0]!.usage)) {
    builder.row(`login: CPU each, ${role}`, 'ms', loginCpuMs(rounds, [role]));
  }
  const guarded = pairedRatios(cost('permitted'), cost('open'));
  builder.row('GET with token and permission over GET without, CPU', 'x', guarded);
  builder.row('GET /login/methods, no token: CPU per request', 'us', cost('open'));
  builder.row('GET /person, token: CPU per request', 'us', cost('person'));
  builder.row('GET /permissions, token and ViewRole: CPU per request', 'us', cost('permitted'));
  builder.row('others p99 in a storm of logins over none', 'x', pairedRatios(waits('login'), waits('quiet')));
  builder.row('others p99 in a storm of logins', 'ms', waits('login'));
  builder.row('others p99 without', 'ms', waits('quiet'));
  builder.note('GET /permissions also has query parameters to check');
  builder.note(
    `${CONNECTIONS} connections that log in; others: GET /person of another person every ${BYSTANDER_EVERY_MS} ms`,
  );
  builder.note('no GET here reads the database but for rights, every two seconds');
  builder.note('processor time of logins: what is used beyond the rounds without any, which have the others as well');
  return builder.finish('login', rounds, context.options.judgeAnyway);
}
