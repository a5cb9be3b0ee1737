import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eachOperation, loadDocument } from '../../../src/api/openapi/document.ts';
import { killStack } from '../../../tools/harness/stack-processes.ts';
import type { Report } from '../../../tools/temporal-server/binary-resolver.ts';
import { cacheDirectory, findInCache, findOnPath, makeInCache } from '../../../tools/temporal-server/program-cache.ts';
import { runTool } from '../../../tools/temporal-server/run-tool.ts';
import { FIELD_RULES } from '../../schemathesis/field-rules.ts';
import { startMailServer } from '../../support/http/servers.ts';
import { temporaryDirectory } from '../../support/common/process.ts';
import { stackSettings, startStack } from './npm-start.ts';

/** With the values at every bound of every schema, which take most of the time. */
const LONG = process.env['FLOTILLA_E2E_LONG'] === '1';
const EXAMPLES = Number(process.env['FLOTILLA_SCHEMATHESIS_EXAMPLES'] ?? (LONG ? 5 : 3));
/** Fixed by default: what another seed finds is new work, not a fault of the change under test. */
const SEED = Number(process.env['FLOTILLA_TEST_SEED'] ?? 1);
const ADMIN = { email: 'admin@example.com', password: 'Correct-horse-7' };
const HOOKS = join(import.meta.dirname, '../../schemathesis/hooks.py');
const SECOND_MS = 1000;
/** A run that takes so long hangs. More examples take longer. */
const LIMIT_MS = 1800 * SECOND_MS * Math.max(1, EXAMPLES / 5);

const print = (message: string): void => void process.stderr.write(`schemathesis: ${message}\n`);

describe('the interface of a running stack', () => {
  it('matches its document, by every check of schemathesis', { timeout: 2 * LIMIT_MS }, async (context) => {
    const program = await findSchemathesis(print).catch((error: unknown) => {
      if (!(error instanceof NoSchemathesis)) throw error;
      print(`skipped: ${error.message}`);
      return context.skip(error.message);
    });
    const directory = await temporaryDirectory();
    const baseUrl = await startWorld(join(directory, 'data'));
    const config = join(directory, 'schemathesis.toml');
    await writeFile(config, configOf());
    const { code, output } = await run(program, config, baseUrl);
    expect(code, `${output}\nAgain with FLOTILLA_TEST_SEED=${SEED}`).toBe(0);
    // A run that lost its rights, or was cut short, finds nothing either.
    const operations = eachOperation(loadDocument()).length;
    expect(output).toContain(`Tested: ${operations}`);
    await expectRights(baseUrl);
  });
});

/** A stack with a fleet and one of everything that an administrator makes. Resolves to its address. */
async function startWorld(dataDir: string): Promise<string> {
  const mail = await startMailServer();
  onTestFinished(() => mail.close());
  onTestFinished(() => killStack(dataDir));
  const stack = startStack(
    await stackSettings(dataDir, {
      FLOTILLA_ADMIN_EMAIL: ADMIN.email,
      FLOTILLA_ADMIN_PASSWORD: ADMIN.password,
      FLOTILLA_LOGIN_THROTTLE: 'false',
      FLOTILLA_SMTP_URL: mail.url,
    }),
  );
  await stack.ready();
  await seedForSchemathesis(stack.baseUrl, ADMIN);
  return stack.baseUrl;
}

/**
 * Every check is on for every operation. Where the document states that a request can be rejected for what is stored or
 * for a rule between fields, a rejection of valid data is let through here and held to those rules by the hooks.
 */
function configOf(): string {
  const ruled = eachOperation(loadDocument())
    .map(({ operation }) => operation)
    .filter(
      ({ operationId, 'x-errors': errors }) =>
        operationId in FIELD_RULES || errors?.['400']?.some((code) => code !== 'InvalidParameter'),
    );
  const mailing = eachOperation(loadDocument()).flatMap(({ operation: { operationId, 'x-errors': errors } }) =>
    errors?.['502'] ? [operationId] : [],
  );
  return `
seed = ${SEED}
workers = 1
continue-on-failure = true
request-timeout = 120
suppress-health-check = ["all"]
hooks = ${JSON.stringify(HOOKS)}

[generation]
max-examples = ${EXAMPLES}
database = "none"
no-shrink = true
# U+0000 is rejected in every string, which a schema can state for known fields only.
allow-x00 = false

[phases.coverage]
enabled = ${LONG}

[output.truncation]
enabled = false

# 431 among them, for a query that is longer than the server takes.
[checks.negative_data_rejection]
expected-statuses = ["4xx"]

# The mail server need not take an address that is drawn.
[[operations]]
include-operation-id = ${JSON.stringify(mailing)}
[operations.checks.not_a_server_error]
expected-statuses = ["2xx", "4xx", "502"]

[[operations]]
include-operation-id = ${JSON.stringify(ruled.map(({ operationId }) => operationId))}
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "401", "403", "404", "409", "429"]
`;
}

async function run(program: string, config: string, baseUrl: string): Promise<{ code: number; output: string }> {
  const args = ['--config-file', config, 'run', `${baseUrl}/openapi.json`, '--no-color'];
  const env = {
    ...process.env,
    FLOTILLA_LOGIN_URL: `${baseUrl}/api/v2/login`,
    FLOTILLA_LOGIN_IDENTITY: ADMIN.email,
    FLOTILLA_LOGIN_PASSWORD: ADMIN.password,
    FLOTILLA_FIELD_RULES: JSON.stringify(
      Object.fromEntries(Object.entries(FIELD_RULES).map(([id, rules]) => [id, Object.keys(rules)])),
    ),
  };
  const child = spawn(program, args, { env, cwd: join(config, '..'), stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  const progress = setInterval(() => print(lastLine(output)), 30 * SECOND_MS);
  const started = performance.now();
  const limit = setTimeout(() => {
    output += `\nended after ${LIMIT_MS / SECOND_MS} s, which is far more than it takes`;
    child.kill('SIGKILL');
  }, LIMIT_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(limit);
  clearInterval(progress);
  print(`took ${((performance.now() - started) / SECOND_MS).toFixed(0)} s with ${EXAMPLES} examples of each operation`);
  return { code: code ?? -1, output };
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1)?.trim() ?? '';
}

/** The administrator can still log in and do everything: the calls before were not rejected for lack of rights. */
async function expectRights(baseUrl: string): Promise<void> {
  const login = await fetch(`${baseUrl}/api/v2/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identity: ADMIN.email, password: ADMIN.password }),
  });
  expect(login.status).toBe(200);
  const { token } = (await login.json()) as { token: string };
  const response = await fetch(`${baseUrl}/api/v2/preferences`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
}

const REQUIREMENTS = join(import.meta.dirname, '../../schemathesis/requirements.txt');
/** The pinned wheels are for these. */
const PYTHON_NAMES = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];
const OLDEST_MINOR = 11;
const NEWEST_MINOR = 14;
const INSTALL_LIMIT_MS = 10 * 60_000;

/** An environment is moved when it is whole, so that nothing in it may name its own place. */
const LAUNCHER = `#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/venv/bin/python" -I -B -c 'from schemathesis.cli import schemathesis; schemathesis()' "$@"
`;

/** Schemathesis cannot be installed on this machine; the message has the reason. */
class NoSchemathesis extends Error {}

/**
 * The path of the pinned schemathesis, in a Python environment of its own in our cache, made when it is not there yet.
 * Its key is the digest of the requirements and the Python it was made with.
 *
 * @throws {NoSchemathesis} where there is no fitting Python, or no registry to get the pinned packages from
 * @throws when what the registry gives has not the pinned digest
 */
async function findSchemathesis(report: Report): Promise<string> {
  const python = await findPython();
  const requirements = readFileSync(REQUIREMENTS);
  const key = createHash('sha256').update(requirements).update(python.identity).update(LAUNCHER).digest('hex');
  const program = { directory: `schemathesis-${key.slice(0, 16)}`, file: 'schemathesis' };
  const cache = cacheDirectory(process.env);
  const found = await findInCache(cache, program);
  return found ?? makeInCache(cache, program, report, (directory) => install(python.path, directory, report));
}

async function findPython(): Promise<{ path: string; identity: string }> {
  const reasons: string[] = [];
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) {
    throw new NoSchemathesis(
      `the pinned packages are for Linux on x64 and arm64, not ${process.platform} ${process.arch}`,
    );
  }
  for (const name of PYTHON_NAMES) {
    const path = await findOnPath(name, process.env);
    if (!path) continue;
    const code = 'import sys, venv, ensurepip; print(sys.version_info[1], sys.version, sys.base_prefix)';
    const response = await runTool(path, ['-I', '-c', code], { env: process.env, limitMs: 60_000 }).catch(
      (error: Error) => error,
    );
    if (response instanceof Error) {
      reasons.push(`${name}: ${response.message}`);
      continue;
    }
    const minor = Number(response.split(' ')[0]);
    if (minor >= OLDEST_MINOR && minor <= NEWEST_MINOR) return { path, identity: response };
    reasons.push(`${name} is 3.${minor}`);
  }
  const wanted = `Python 3.${OLDEST_MINOR} to 3.${NEWEST_MINOR} with venv is needed`;
  throw new NoSchemathesis(reasons.length > 0 ? `${wanted}; ${reasons.join('; ')}` : `${wanted}; there is no python3`);
}

async function install(python: string, directory: string, report: Report): Promise<void> {
  report('making a Python environment with schemathesis, once');
  const environment = join(directory, 'venv');
  await runTool(python, ['-I', '-m', 'venv', environment], { env: process.env, limitMs: INSTALL_LIMIT_MS });
  const startedAt = performance.now();
  const progress = setInterval(() => {
    report(`getting the pinned Python packages: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }, 10_000);
  let printed = '';
  const options = ['--require-hashes', '--only-binary', ':all:', '--no-deps', '--no-input', '--no-cache-dir'];
  try {
    await runTool(join(environment, 'bin/python'), ['-m', 'pip', 'install', ...options, '-r', REQUIREMENTS], {
      env: process.env,
      limitMs: INSTALL_LIMIT_MS,
      onError: (text) => {
        printed += text;
      },
    });
  } catch (error) {
    if (!UNREACHABLE.test(printed)) throw error;
    throw new NoSchemathesis(`the package registry cannot be reached: ${(error as Error).message}`);
  } finally {
    clearInterval(progress);
  }
  await writeFile(join(directory, 'schemathesis'), LAUNCHER, { mode: 0o755 });
}

const UNREACHABLE =
  /NewConnectionError|ConnectTimeout|ReadTimeout|Read timed out|ProxyError|NameResolution|Connection (refused|reset|aborted)|Could not fetch URL/;

const ENROLMENT_LIMIT_MS = 300_000;
const COMPUTERS = 25;

/**
 * Makes one of everything that an administrator makes, so that the first id of every kind is there, and waits for the
 * simulated fleet.
 *
 * @throws when anything is rejected
 */
async function seedForSchemathesis(baseUrl: string, admin: { email: string; password: string }): Promise<void> {
  const { token } = await post(baseUrl, null, '/login', admin);
  await waitForComputers(baseUrl, token);
  const trigger = { trigger_type: 'one_time', timestamp: '2090-01-01T00:00:00Z' };
  const script = await post(baseUrl, token, '/scripts', { title: 'Report', code: '#!/bin/sh\nuname -r\n' });
  const run = { all_computers: false, tags: ['lab'], time_limit: 60, username: 'root' };
  await post(baseUrl, token, '/script-profiles', { title: 'Later', script_id: script.id, trigger, ...run });
  await post(baseUrl, token, '/usg-profiles', {
    title: 'Baseline',
    benchmark: 'cis_level1_server',
    mode: 'audit',
    schedule: 'FREQ=WEEKLY',
    start_date: '2090-01-01',
  });
  await post(baseUrl, token, '/access-groups', { title: 'Servers' });
  await post(baseUrl, token, '/roles', { name: 'Reader' });
  await post(baseUrl, token, '/saved-searches', { name: 'lab', search: 'tag:lab' });
  await post(baseUrl, token, '/invitations', { name: 'Guest', email: 'guest@example.com', roles: ['Auditor'] });
  await post(baseUrl, token, '/snaps', { action: 'install', computer_ids: [1, 2], snaps: [{ name: 'hello' }] });
}

async function waitForComputers(baseUrl: string, token: string): Promise<void> {
  const enrolled = async () => {
    const response = await fetch(`${baseUrl}/api/v2/computers?limit=1`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return ((await response.json()) as { count: number }).count;
  };
  await expect.poll(enrolled, { timeout: ENROLMENT_LIMIT_MS, interval: 500 }).toBeGreaterThanOrEqual(COMPUTERS / 2);
}

async function post(baseUrl: string, token: string | null, path: string, body: object) {
  const response = await fetch(`${baseUrl}/api/v2${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { token: string; id: number };
}
