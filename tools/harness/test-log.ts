import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger, type Logger } from '../../src/process/logger.ts';

/** Directory for the logs of a run; set by the global setup, absent outside of runs. */
const DIRECTORY = 'FLOTILLA_TEST_LOGS';
/** Passwords, keys and the like that tests use, in addition to values that look like secrets. */
export const KNOWN_SECRETS = [
  'correct horse',
  'Scenario-4711',
  'a secret of the tests that is long enough',
  Buffer.alloc(32, 7).toString('base64'),
];
const PATTERNS: ReadonlyArray<readonly [string, RegExp]> = [
  ['a token', /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{20,}/],
  ['the hash of a password', /\$argon2id\$[^"\s]{20,}/],
  ['a recovery key', /\b(\d{5}-){7}\d{5}\b/],
];

let logger: Logger | null = null;

/** Creates the directory for the logs of a run, and passes it on to every process started from now on. */
export function collectLogs(directory: string): void {
  mkdirSync(directory, { recursive: true });
  process.env[DIRECTORY] = directory;
}

/** Logs silently, down to `debug`, into a file that is searched for secrets at the end of the run. */
export function testLogger(): Logger {
  const directory = process.env[DIRECTORY];
  if (!directory) return createLogger({ level: 'silent', role: 'test' });
  logger ??= createLogger({ level: 'debug', role: 'test', file: join(directory, `${process.pid}.log`) });
  return logger;
}

/** The secrets in a text, by name. */
export function secretsIn(text: string, known: readonly string[] = KNOWN_SECRETS): string[] {
  return [
    ...known.filter((value) => text.includes(value)).map((value) => `"${value.slice(0, 4)}..."`),
    ...PATTERNS.filter(([, pattern]) => pattern.test(text)).map(([name]) => name),
  ];
}

/** Searches the logs of a stack's processes and stores the findings for the end of the run. */
export function searchStackLogs(
  stack: { root: string; dataDir: string; outputFile: string },
  settings: Readonly<Record<string, string>>,
): void {
  const directory = process.env[DIRECTORY];
  if (!directory) return;
  const generated = readJson(join(stack.dataDir, 'secrets.json'));
  // The first administrator's password is shown once where none was given.
  const { unshownPassword: _, ...kept } = generated;
  const given = ['FLOTILLA_ADMIN_PASSWORD', 'FLOTILLA_JWT_SECRET', 'FLOTILLA_ENCRYPTION_KEYS'].map((n) => settings[n]);
  const known = [...KNOWN_SECRETS, ...Object.values(kept), ...given].filter((v) => typeof v === 'string' && v !== '');
  const files = [join(stack.dataDir, 'logs'), join(stack.root, 'beside')].flatMap((path) =>
    existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name)) : [],
  );
  const found = [stack.outputFile, ...files.filter((name) => name.endsWith('.log'))].flatMap((file) =>
    secretsOfFile(file, known as string[]),
  );
  if (found.length > 0) writeFileSync(join(directory, `${process.pid}.found`), `${found.join('\n')}\n`, { flag: 'a' });
}

function readJson(file: string): Record<string, unknown> {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : {};
}

/** @throws with every line of the run's logs that shows a secret */
export function expectNoSecretLogged(directory: string): void {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  const found = names.flatMap((name) => {
    const file = join(directory, name);
    return name.endsWith('.found') ? [readFileSync(file, 'utf8').trim()] : secretsOfFile(file, KNOWN_SECRETS);
  });
  if (found.length > 0) throw new Error(`SECRET-leak: the logs of this run show secrets:\n${found.join('\n')}`);
}

function secretsOfFile(file: string, known: readonly string[]): string[] {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => secretsIn(line, known).map((secret) => `${secret} in ${file}: ${line.slice(0, 300)}`));
}
