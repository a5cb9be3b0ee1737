import { type Config, loadConfig, readSecretFiles } from '../../src/process/config.ts';
import { print, supervise } from './processes/supervise.ts';
import { createStack, describeTemporal, type StartedStack } from './stack.ts';
import { StackError } from './stack-error.ts';
import { localUrl } from './topology/roles.ts';
import { describeWebPage } from './web/prepare-page.ts';

/**
 * `npm start`: the embedded stack, until a signal stops it. Exit code 0 after a signal, 1 when it cannot run. `npm
 * start -- --after-restore` first does what `npm run after-restore` does, for a data directory that was copied back.
 */
const STOP_BY_FORCE_MS = 15_000;
const AFTER_RESTORE = '--after-restore';
const startedAt = performance.now() - process.uptime() * 1000;

await supervise({
  title: 'Flotilla',
  stopLimitMs: STOP_BY_FORCE_MS,
  settings: () => readSettings(process.env, process.argv.slice(2)),
  create(settings) {
    print('Flotilla starts');
    return createStack({ ...settings, report: (message) => print(`  ${message}`) });
  },
  async announce(started, { config }) {
    announce(config, started);
    if (started.administrator?.generatedPassword) await started.administratorShown();
  },
});

function readSettings(env: NodeJS.ProcessEnv, args: readonly string[]) {
  const afterRestore = parseAfterRestore(args);
  return { config: loadConfig(env, 'stack'), env: readSecretFiles(env).env, afterRestore };
}

function parseAfterRestore(args: readonly string[]): boolean {
  if (args.some((arg) => arg !== AFTER_RESTORE)) throw new StackError(`Usage: npm start [-- ${AFTER_RESTORE}]`);
  return args.length > 0;
}

function announce(config: Config, { dataDir, temporal, administrator }: StartedStack): void {
  const temporalLines = temporal
    ? describeTemporal(temporal, process.stdout.isTTY)
    : [`  Temporal       ${config.temporalAddress}`];
  const lines = [
    `Flotilla is ready (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`,
    ...describeWebPage(config.webPage, config.publicUrl),
    `  API            ${config.publicUrl}/api/v2`,
    `  API reference  ${config.publicUrl}/docs`,
    ...temporalLines,
    `  Data and logs  ${dataDir}`,
    ...howToLogIn(`${localUrl(config)}/api/v2`, config, administrator),
    '  Ctrl-C stops everything.',
  ];
  print(lines.join('\n'));
}

function withToken({ identity }: Config): string {
  return identity.setupToken === 'generate' ? ' with the setup token from logs/api.log' : '';
}

function howToLogIn(api: string, config: Config, administrator: StartedStack['administrator']): string[] {
  if (!administrator) {
    const withoutAccount = config.adminEmail === '' && config.deployment === 'standalone';
    return [
      `  Log in         with an existing person's email and password: POST ${api}/login`,
      ...(withoutAccount
        ? [`  First account  where there is none yet: POST ${api}/standalone-account${withToken(config)}`]
        : []),
    ];
  }
  const { email, generatedPassword } = administrator;
  return [
    `  Log in as      ${email}`,
    `  Password       ${generatedPassword ? `${generatedPassword}   (shown only now)` : 'as set by FLOTILLA_ADMIN_PASSWORD'}`,
    `  Forgotten?     npm run reset-password -- ${email}`,
    `  Try            npx flotilla login ${api} --email ${email}`,
  ];
}
