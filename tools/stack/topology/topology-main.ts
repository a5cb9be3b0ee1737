import { type Config, loadConfig, readSecretFiles } from '../../../src/process/config.ts';
import { print, supervise } from '../processes/supervise.ts';
import { describeTemporal } from '../stack.ts';
import { describeWebPage } from '../web/prepare-page.ts';
import { createTopology, type StartedTopology, TOPOLOGY_STOP_MS } from './topology.ts';
import { planTopology, TOPOLOGY_HELP } from './topology-plan.ts';

/** `npm run topology`: each part in its own process, until a signal stops it. */
if (process.argv.includes('--help')) print(TOPOLOGY_HELP);
else {
  await supervise({
    title: 'Flotilla',
    stopLimitMs: TOPOLOGY_STOP_MS + 5000,
    settings: () => readSettings(process.env, process.argv.slice(2)),
    create(settings) {
      print('Flotilla starts, every part apart');
      return createTopology({ ...settings, report: (message) => print(`  ${message}`) });
    },
    async announce(started, { config }) {
      print(describe(started, config));
      if (started.administrator?.generatedPassword) await started.administratorShown();
    },
  });
}

function readSettings(env: NodeJS.ProcessEnv, args: string[]) {
  const config = loadConfig(env, 'stack');
  return { config, plan: planTopology(args, config), env: readSecretFiles(env).env };
}

function describe(started: StartedTopology, config: Config): string {
  const { administrator } = started;
  const password = administrator?.generatedPassword
    ? `${administrator.generatedPassword}   (shown only now)`
    : 'as set by FLOTILLA_ADMIN_PASSWORD';
  return [
    'Flotilla is ready',
    ...started.apis.flatMap((url) => describeWebPage(config.webPage, url)),
    ...started.apis.map((url) => `  API            ${url}/api/v2`),
    ...started.gateways.map((url) => `  Gateway        ${url}`),
    `  Temporal       ${started.temporalAddress}`,
    ...(started.temporal ? describeTemporal(started.temporal, process.stdout.isTTY) : []),
    `  Data and logs  ${started.dataDir}`,
    ...(administrator
      ? [
          `  Log in as      ${administrator.email}`,
          `  Password       ${password}`,
          `  Forgotten?     FLOTILLA_DATA_DIR=${started.dataDir} npm run reset-password -- ${administrator.email}`,
        ]
      : []),
    '  Ctrl-C stops everything.',
  ].join('\n');
}
