import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eachOperation, loadDocument } from '../../../src/api/openapi/document.ts';
import { signalProcess } from '../../../tools/stack/processes/processes.ts';
import { FIELD_RULES } from '../../schemathesis/field-rules.ts';
import { findSchemathesis, NoSchemathesis, seedForSchemathesis } from '../../support/http/schemathesis.ts';
import { startMailServer } from '../../support/identity/mail-server.ts';
import { processesOfStack, stackSettings, startStack } from '../../support/stack/npm-start.ts';
import { temporaryDirectory } from '../../support/stack/temporary.ts';

const EXAMPLES = Number(process.env['FLOTILLA_SCHEMATHESIS_EXAMPLES'] ?? 5);
const SEED = Number(process.env['FLOTILLA_SCHEMATHESIS_SEED'] ?? 1);
const ADMIN = { email: 'admin@example.com', password: 'Correct-horse-7' };
const HOOKS = join(import.meta.dirname, '../../schemathesis/hooks.py');
const SECOND_MS = 1000;
/** Two minutes here, with the machine busy; a run that takes many times that hangs. More examples take longer. */
const LIMIT_MS = 1800 * SECOND_MS * Math.max(1, EXAMPLES / 5);

const tell = (message: string): void => void process.stderr.write(`schemathesis: ${message}\n`);

describe('the interface of a running stack', () => {
  it('is what its document says, by every check of schemathesis', { timeout: 2 * LIMIT_MS }, async (context) => {
    const program = await findSchemathesis(tell).catch((error: unknown) => {
      if (!(error instanceof NoSchemathesis)) throw error;
      tell(`skipped: ${error.message}`);
      return context.skip(error.message);
    });
    const directory = await temporaryDirectory();
    const baseUrl = await startWorld(join(directory, 'data'));
    const config = join(directory, 'schemathesis.toml');
    await writeFile(config, configOf());
    const { code, output } = await run(program, config, baseUrl);
    expect(code, `${output}\nAgain with FLOTILLA_SCHEMATHESIS_SEED=${SEED}`).toBe(0);
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
  onTestFinished(() => {
    for (const line of processesOfStack(dataDir)) signalProcess(Number(line.split(' ')[0]), 'SIGKILL');
  });
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
 * Every check is on for every operation. Where the document says that a request can be rejected for what is stored or
 * for a rule between fields, a rejection of valid data is let through here and held to those rules by the hooks.
 */
function configOf(): string {
  const ruled = eachOperation(loadDocument())
    .map(({ operation }) => operation)
    .filter(
      ({ operationId, 'x-errors': errors }) =>
        operationId in FIELD_RULES || errors?.['400']?.some((code) => code !== 'InvalidParameter'),
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
# U+0000 is refused in every string, which a schema can say of known fields only.
allow-x00 = false

[output.truncation]
enabled = false

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
  const progress = setInterval(() => tell(lastLine(output)), 30 * SECOND_MS);
  const started = performance.now();
  const limit = setTimeout(() => {
    output += `\nended after ${LIMIT_MS / SECOND_MS} s, which is far more than it takes`;
    child.kill('SIGKILL');
  }, LIMIT_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(limit);
  clearInterval(progress);
  tell(`took ${((performance.now() - started) / SECOND_MS).toFixed(0)} s with ${EXAMPLES} examples of each operation`);
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
