import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/process/config.ts';
import { POSTGRES_SETTINGS } from '../../../tools/stack/database/postgres.ts';
import { API_COMMAND, WORKER_COMMAND } from '../../../tools/stack/topology/roles.ts';
import { SERVER_DYNAMIC_CONFIG } from '../../../tools/temporal-server/dynamic-config.ts';
import { TASK_QUEUES } from '../../../workflows/contracts/task-queues.ts';
import {
  compose,
  COMPOSE_FILE,
  composeText,
  networksOf,
  once,
  ours,
  PROXY_ADDRESS,
  resolved,
  running,
  scriptOf,
  services,
} from '../../support/stack/deploy-files.ts';

const example = await readFile(join(COMPOSE_FILE, '../.env.example'), 'utf8');

describe('docker-compose.yml', () => {
  it('has a worker service of its own for every task queue', () => {
    const queues = running.flatMap(([, { command }]) => {
      const at = command?.indexOf('--queues') ?? -1;
      return at < 0 ? [] : [command![at + 1]];
    });
    expect(queues.toSorted()).toEqual(Object.values(TASK_QUEUES).toSorted());
  });

  it('runs files that are there', async () => {
    for (const [, { command }] of ours) {
      expect(command?.[0]).toBe('node');
      await expect(readFile(join(COMPOSE_FILE, '..', scriptOf(command)!))).resolves.toBeDefined();
    }
  });

  it('starts every process as the stack and the npm scripts do', async () => {
    const expected = (command: readonly string[]) =>
      scriptOf(command) === 'workers/main.ts' ? WORKER_COMMAND : API_COMMAND;
    for (const [name, { command }] of running) {
      const known = expected(command!);
      expect(command!.slice(1, 1 + known.length), name).toEqual(known);
    }
    const { scripts } = JSON.parse(await readFile(join(COMPOSE_FILE, '../package.json'), 'utf8'));
    for (const name of ['api', 'gateway', 'worker']) {
      const words = scripts[name].split(' ');
      expect(words, name).toEqual(expect.arrayContaining([...expected(words)]));
    }
  });

  it('gives every process of ours all it needs, secrets by file alone', () => {
    const key = `k1:${Buffer.alloc(32).toString('base64')}`;
    for (const [name, { environment = {}, secrets = [] }] of ours) {
      const names = Object.keys(environment).filter((setting) => setting.endsWith('_FILE'));
      const files = names.map((setting) => environment[setting]);
      expect(files, name).toEqual(secrets.map((one) => `/run/secrets/${one}`));
      const load = (set: Record<string, string>) => {
        const values: Record<string, string> = { ...resolved(environment, set), ...SECRET_VALUES };
        for (const file of names) delete values[file];
        return loadConfig({ ...values, FLOTILLA_ENCRYPTION_KEYS: key }, 'process');
      };
      expect(load({}), name).toMatchObject({ port: 8080, metricsPort: 9464 });
      expect(load(EXAMPLE), name).toEqual(load({}));
      expect(Object.keys(environment)).not.toEqual(expect.arrayContaining(Object.keys(SECRET_VALUES)));
    }
    expect(composeText).not.toMatch(/(PASSWORD|PWD|SECRET): *\$\{/);
    for (const { file } of Object.values(compose.secrets)) expect(file).toMatch(/^\.\/secrets\//);
  });

  it('hands on every setting of .env.example that means something here, and the standard ones of traces', async () => {
    const { environment = {} } = compose.services['api']!;
    const settings = example.match(/^FLOTILLA_\w+/gm)!;
    const ofTheFile = (name: string) => composeText.includes(`\${${name}:-`);
    const missing = settings.filter((name) => !(name in environment) && !(name in WITHOUT_MEANING) && !ofTheFile(name));
    expect(missing).toEqual([]);
    expect(Object.keys(WITHOUT_MEANING).filter((name) => name in environment || !settings.includes(name))).toEqual([]);
    const sources = await Promise.all(
      ['src/process/tracing.ts', 'src/process/tracing-exporter.ts'].map((file) =>
        readFile(join(COMPOSE_FILE, '..', file), 'utf8'),
      ),
    );
    for (const name of sources.join().match(/\bOTEL_\w+/g)!) expect(environment).toHaveProperty(name, null);
  });

  it('hands on what is set, and nothing in place of what is not', () => {
    const { environment = {} } = compose.services['gateway']!;
    const set = { FLOTILLA_TRUSTED_PROXIES: '10.0.0.0/8', FLOTILLA_ENROLMENT_RATE_LIMIT: '50', FLOTILLA_HOST: '::1' };
    const { FLOTILLA_HOST: _ofTheImage, ...handedOn } = set;
    const ofItsOwn = { FLOTILLA_TRUSTED_PROXIES: `${PROXY_ADDRESS},10.0.0.0/8` };
    expect(resolved(environment, set)).toEqual({ ...resolved(environment, {}), ...handedOn, ...ofItsOwn });
    expect(resolved(environment, {})).not.toHaveProperty('FLOTILLA_ENROLMENT_RATE_LIMIT');
  });

  it('gives PostgreSQL the settings of the embedded one', () => {
    const { command = [] } = compose.services['postgres']!;
    const options = Object.entries(POSTGRES_SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    expect(command).toEqual(options);
  });

  it('has as many of each part as .env requests, one by default', () => {
    const numbers = running.map(([name, { deploy }]) => [name, deploy?.replicas]);
    expect(Object.fromEntries(numbers)).toEqual({
      api: `\${FLOTILLA_APIS:-1}`,
      gateway: `\${FLOTILLA_GATEWAYS:-1}`,
      'worker-activity': `\${FLOTILLA_ACTIVITY_WORKERS:-1}`,
      'worker-schedule': `\${FLOTILLA_SCHEDULE_WORKERS:-1}`,
      'worker-report': `\${FLOTILLA_REPORT_WORKERS:-1}`,
    });
  });

  it('lets in all connections of the processes that its first lines scale up to', () => {
    const numbers = composeText.matchAll(/^# .*\b(FLOTILLA_\w+)=(\d+) and (FLOTILLA_\w+)=(\d+) in \.env/gm);
    const set = new Map([...numbers].flatMap(([, a, of, b, ofIt]) => [[a, of] as const, [b, ofIt] as const]));
    const scale = new Map(
      running.map(([name, { deploy }]) => [name, Number(set.get(/\w+/.exec(deploy!.replicas)![0]) ?? 1)]),
    );
    expect(Object.fromEntries(scale)).toMatchObject({ 'worker-activity': 4, api: 2, gateway: 1 });
    const pool = loadConfig({}, 'stack').databasePoolSize;
    const flotilla = running.reduce((sum, [name, { command }]) => {
      const pools = scriptOf(command) === 'src/server/main.ts' ? 2 : 1;
      return sum + scale.get(name)! * pools * pool;
    }, 0);
    const { SQL_MAX_CONNS: workflows, SQL_VIS_MAX_CONNS: visibility } = compose.services['temporal']!.environment!;
    // Frontend, history, matching and worker have pools of their own.
    const temporal = 4 * (Number(workflows) + Number(visibility));
    expect({ flotilla, temporal }).toEqual({ flotilla: 120, temporal: 120 });
    expect(flotilla + temporal + SPARE_CONNECTIONS).toBeLessThanOrEqual(Number(POSTGRES_SETTINGS.max_connections));
  });

  it('has a health check for everything that keeps running', () => {
    for (const [name, { healthcheck }] of services) {
      if (once.some(([other]) => other === name) || ['temporal-schema', 'database-roles'].includes(name)) continue;
      expect(healthcheck?.test, name).toBeDefined();
    }
    for (const [name, { command, healthcheck }] of running) {
      expect(healthcheck?.test?.[2], name).toBe('src/process/health-check.ts');
      expect(healthcheck?.test?.includes('--ready'), name).toBe(scriptOf(command) === 'workers/main.ts');
    }
  });

  it('starts nothing before schema and namespace, and makes the build current once all workers poll', () => {
    for (const [name, { depends_on: needs }] of running) {
      expect(needs, name).toEqual({
        migrate: { condition: 'service_completed_successfully' },
        'temporal-bootstrap': { condition: 'service_completed_successfully' },
      });
    }
    const workers = running.map(([name]) => name).filter((name) => name.startsWith('worker-'));
    expect(Object.keys(compose.services['make-current']!.depends_on!).toSorted()).toEqual(workers.toSorted());
  });

  it.each([
    [{}, '8080', 'http://localhost:8080'],
    [{ FLOTILLA_PUBLIC_URL: '', FLOTILLA_API_PORT: '' }, '8080', 'http://localhost:8080'],
    [{ FLOTILLA_API_PORT: '9080' }, '9080', 'http://localhost:9080'],
    [{ FLOTILLA_PUBLIC_URL: 'https://fleet.example', FLOTILLA_API_PORT: '9080' }, '9080', 'https://fleet.example'],
  ])('with %j publishes the API at port %s, and links to it and its codec endpoint at %s', (set, port, url) => {
    const [published = ''] = compose.services['proxy']!.ports!;
    expect(resolved({ published }, set)).toEqual({ published: `127.0.0.1:${port}:8080` });
    for (const [name, { environment }] of ours) {
      expect(resolved(environment!, set)['FLOTILLA_PUBLIC_URL'], name).toBe(url);
    }
    const { environment } = compose.services['temporal-ui']!;
    expect(resolved(environment!, set)['TEMPORAL_CODEC_ENDPOINT']).toBe(`${url}/codec`);
  });

  it('publishes ports of this machine alone, unless .env opens them', () => {
    const published = services.flatMap(([, { ports = [] }]) => ports).map((port) => resolved({ port }, {})['port']);
    expect(published.toSorted()).toEqual(['127.0.0.1:8080:8080', '127.0.0.1:8090:8090', '127.0.0.1:8233:8080']);
    const [api = ''] = compose.services['proxy']!.ports!;
    expect(resolved({ api }, { FLOTILLA_BIND_ADDRESS: '0.0.0.0' })['api']).toBe('0.0.0.0:8080:8080');
  });

  it('takes from every container what it does not need', () => {
    for (const [name, service] of services) {
      expect(service, name).toMatchObject({
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        read_only: true,
        pids_limit: expect.any(Number),
        mem_limit: expect.stringMatching(/^\$\{FLOTILLA_(DATABASE_)?MEMORY:-\dg\}$/),
        cpus: expect.stringMatching(/^\$\{FLOTILLA_CPUS:-\d\}$/),
      });
      expect(service.tmpfs, name).toContain('/tmp');
    }
    const more = services.flatMap(([name, { cap_add: caps }]) => (caps ? [[name, caps]] : []));
    expect(more).toEqual([['postgres', ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID']]]);
  });

  it('lets each container reach only those that it works with', () => {
    const of = Object.fromEntries(services.map(([name, service]) => [name, networksOf(service).join()]));
    expect(of).toEqual({
      postgres: 'database',
      'database-roles': 'database',
      'temporal-schema': 'database,temporal',
      temporal: 'database,temporal',
      'temporal-ui': 'edge,temporal',
      migrate: 'database,outbound,temporal',
      'temporal-bootstrap': 'database,outbound,temporal',
      'make-current': 'database,outbound,temporal',
      api: 'database,front,temporal',
      gateway: 'database,front,temporal',
      proxy: 'edge,front',
      'worker-activity': 'database,outbound,temporal',
      'worker-schedule': 'database,outbound,temporal',
      'worker-report': 'database,outbound,temporal',
    });
    const inward = Object.entries(compose.networks).flatMap(([name, network]) => (network?.internal ? [name] : []));
    expect(inward).toEqual(['database', 'temporal']);
    for (const [name, { ports }] of services) if (ports) expect(of[name], name).toContain('edge');
  });

  it('gives Flotilla and Temporal roles of their own, and the superuser to nobody', async () => {
    const roles = await readFile(join(COMPOSE_FILE, '..', compose.configs['roles']!.file), 'utf8');
    for (const role of ['flotilla', 'temporal']) {
      expect(roles).toContain(`alter role ${role} login nosuperuser nocreatedb nocreaterole password`);
    }
    const holders = services.filter(([, { secrets = [] }]) => secrets.includes('postgres_password'));
    expect(holders.map(([name]) => name)).toEqual(['postgres', 'database-roles']);
    expect(compose.services['postgres']!.environment).toMatchObject({ POSTGRES_USER: 'postgres' });
    for (const name of ['temporal', 'temporal-schema']) {
      const { environment, secrets } = compose.services[name]!;
      expect(environment!['POSTGRES_USER'] ?? environment!['SQL_USER']).toBe('temporal');
      expect(secrets).toEqual(['temporal_password']);
    }
    expect(compose.configs['take-ownership']!.file).toBe('./tools/stack/database/take-ownership.sql');
  });

  it('has the first account made with a token of the log', () => {
    const { environment } = compose.services['api']!;
    expect(loadConfig({ FLOTILLA_HOST: '0.0.0.0' }, 'stack').identity.setupToken).toBe('generate');
    expect(resolved(environment!, {})).not.toHaveProperty('FLOTILLA_SETUP_TOKEN');
    expect(composeText).toContain("docker compose logs api | grep 'setup token'");
  });

  it('pins the version of every image', () => {
    const others = services.filter((service) => !ours.includes(service)).map(([, { image }]) => image);
    for (const image of others) expect(image).toMatch(/^[\w/-]+:\d+\.\d+(\.\d+)?(-alpine)?$/);
  });

  it('gives the Temporal server the settings that the one without containers has', () => {
    const content = parse(compose.configs['temporal-limits']!.content) as Record<string, [{ value: unknown }]>;
    const values = Object.fromEntries(Object.entries(content).map(([key, [{ value }]]) => [key, value]));
    expect(values).toEqual(SERVER_DYNAMIC_CONFIG);
  });
});

const SECRET_VALUES = {
  FLOTILLA_DATABASE_URL: 'postgres://flotilla:x@postgres:5432/flotilla',
  FLOTILLA_JWT_SECRET: 's'.repeat(40),
};

/** For administrators, the commands of a deploy, and old workers beside new ones. */
const SPARE_CONNECTIONS = 60;

/** An .env that is a copy of the example. */
const examples = [...example.matchAll(/^(FLOTILLA_\w+)=(.*)$/gm)];
const EXAMPLE = Object.fromEntries(examples.map(([, name, value]) => [name!, value!]));

const STACK = 'of the servers and the fleet that npm start brings along';
const CONTAINER = 'of the container, set by the image';
const FILES = 'a secret, taken from ./secrets';
const FIXED = 'the servers are those of the file, reached in the clear';
const MOUNT = 'a file has to be mounted for it, by a file of one\u2019s own beside this one';

/** Settings that mean nothing to a process of docker-compose.yml, and why. */
const WITHOUT_MEANING: Record<string, string> = {
  FLOTILLA_HOST: CONTAINER,
  FLOTILLA_METRICS_HOST: CONTAINER,
  FLOTILLA_DATA_DIR: STACK,
  FLOTILLA_DATABASE_URL: FILES,
  FLOTILLA_DATABASE_PORT: STACK,
  FLOTILLA_TEMPORAL_TLS: FIXED,
  FLOTILLA_TEMPORAL_TLS_CA: FIXED,
  FLOTILLA_TEMPORAL_TLS_CERT: FIXED,
  FLOTILLA_TEMPORAL_TLS_KEY: FIXED,
  FLOTILLA_TEMPORAL_TLS_SERVER_NAME: FIXED,
  FLOTILLA_TEMPORAL_API_KEY: FIXED,
  FLOTILLA_TEMPORAL_API_KEY_FILE: FIXED,
  FLOTILLA_TEMPORAL_PORT: STACK,
  FLOTILLA_TEMPORAL_UI_PORT: STACK,
  FLOTILLA_TEMPORAL_SERVER_DIR: STACK,
  FLOTILLA_TEST_SERVER_BIN: 'of npm test',
  FLOTILLA_ADMIN_EMAIL: STACK,
  FLOTILLA_ADMIN_PASSWORD: STACK,
  FLOTILLA_ADMIN_PASSWORD_FILE: STACK,
  FLOTILLA_JWT_SECRET: FILES,
  FLOTILLA_ENCRYPTION_KEYS: FILES,
  FLOTILLA_SMTP_URL_FILE: MOUNT,
  FLOTILLA_CODEC_TOKEN_FILE: MOUNT,
  FLOTILLA_SETUP_TOKEN_FILE: MOUNT,
  FLOTILLA_SIMULATED_COMPUTERS: STACK,
  FLOTILLA_EMBEDDED: STACK,
};
