import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eachOperation, loadDocument } from '../../../src/api/openapi/document.ts';
import { killStack } from '../../../tools/harness/stack-processes.ts';
import { FIELD_RULES } from '../../schemathesis/field-rules.ts';
import { findSchemathesis, NoSchemathesis } from '../../schemathesis/find-schemathesis.ts';
import { startMailServer } from '../../support/http/servers.ts';
import { temporaryDirectory } from '../../support/common/process.ts';
import { seedOr } from '../../support/common/random.ts';
import { stackSettings, startStack } from './npm-start.ts';

/** With the values at every bound of every schema, which take most of the time. */
const LONG = process.env['FLOTILLA_E2E_LONG'] === '1';
const EXAMPLES = Number(process.env['FLOTILLA_SCHEMATHESIS_EXAMPLES'] ?? (LONG ? 5 : 3));
const SEED = seedOr(1);
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
  const operations = eachOperation(loadDocument()).map(({ operation }) => operation);
  const ruled = operations.filter(
    ({ operationId, 'x-errors': errors }) =>
      operationId in FIELD_RULES || errors?.['400']?.some((code) => code !== 'InvalidParameter'),
  );
  const mailing = operations.filter(({ 'x-errors': errors }) => errors?.['502']);
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

# The default, with 431 for a query that is longer than the server takes.
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "415", "422", "428", "429", "431"]

# The mail server need not take an address that is drawn.
[[operations]]
include-operation-id = ${idsOf(mailing)}
[operations.checks.not_a_server_error]
expected-statuses = ["2xx", "4xx", "502"]

[[operations]]
include-operation-id = ${idsOf(ruled)}
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "401", "403", "404", "409", "429"]
`;
}

const idsOf = (operations: ReadonlyArray<{ operationId: string }>): string =>
  JSON.stringify(operations.map(({ operationId }) => operationId));

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
