import { type Config, ConfigError, loadConfig } from '../config.ts';
import { readSecretFiles } from '../secret-files.ts';
import { localUrl } from './roles.ts';
import { createStack, type Stack, type StartedStack } from './stack.ts';
import { StackError } from './stack-error.ts';

/** `npm start`: the embedded stack, until a signal ends it. Exit code 0 after a signal, 1 when it cannot run. */
const STOP_BY_FORCE_MS = 15_000;
const began = performance.now() - process.uptime() * 1000;
let stack: Stack | null = null;
let isStopping = false;

// A terminal that goes away must not take the ordered stop with it.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0, 'stopping'));
process.on('uncaughtException', (error) => void end(1, `unexpected: ${error.stack ?? error.message}`));
process.on('unhandledRejection', (error) => void end(1, `unexpected: ${error instanceof Error ? error.stack : error}`));

await run();

async function run(): Promise<void> {
  try {
    const config = loadConfig(process.env, 'stack');
    say('Flotilla starts');
    stack = createStack({ config, env: readSecretFiles(process.env).env, report: (message) => say(`  ${message}`) });
    const started = await stack.start();
    announce(config, started);
    if (started.administrator?.generatedPassword) await started.administratorShown();
    await stack.failed;
  } catch (error) {
    if (isStopping) return;
    const known = error instanceof StackError || error instanceof ConfigError;
    await end(1, known ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

async function end(code: number, message: string): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  if (code === 0) say(`Flotilla: ${message}`);
  else process.stderr.write(`Flotilla cannot run: ${message}\n`);
  setTimeout(() => process.exit(1), STOP_BY_FORCE_MS);
  try {
    await stack?.stop();
    if (code === 0) say('Flotilla has stopped');
    process.exit(code);
  } catch (error) {
    process.stderr.write(
      `Flotilla could not stop in order: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exit(1);
  }
}

/** All in one write, so that whoever reads along finds the whole of it or nothing. */
function announce(config: Config, { dataDir, administrator }: StartedStack): void {
  const temporal = config.temporalAddress
    ? `  Temporal       ${config.temporalAddress}`
    : `  Temporal UI    http://127.0.0.1:${config.temporalUiPort}/namespaces/${config.temporalNamespace}/workflows`;
  const lines = [
    `Flotilla is ready (${((performance.now() - began) / 1000).toFixed(1)} s)`,
    `  API            ${config.publicUrl}/api/v2`,
    `  API reference  ${config.publicUrl}/docs`,
    temporal,
    `  Data and logs  ${dataDir}`,
    ...howToLogIn(`${localUrl(config)}/api/v2/login`, administrator),
    '  Ctrl-C stops everything.',
  ];
  say(lines.join('\n'));
}

function howToLogIn(url: string, administrator: StartedStack['administrator']): string[] {
  if (!administrator) return [`  Log in         with an existing person's email and password: POST ${url}`];
  const { email, generatedPassword } = administrator;
  return [
    `  Log in as      ${email}`,
    `  Password       ${generatedPassword ? `${generatedPassword}   (shown only now)` : 'as set by FLOTILLA_ADMIN_PASSWORD'}`,
    `  Try            curl ${url} -H 'Content-Type: application/json' -d '{"email":"${email}","password":"..."}'`,
  ];
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
