import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { buildWithGo, findGo } from '../../../tools/temporal-server/go-build.ts';
import { cacheDirectory, findInCache, makeInCache } from '../../../tools/temporal-server/program-cache.ts';

/** Null: handed on when the user has set it. */
type Environment = Record<string, string | null>;

interface Service {
  image: string;
  build?: string;
  command?: string[];
  environment?: Environment;
  secrets?: string[];
  ports?: string[];
  networks?: string[] | Record<string, { ipv4_address?: string } | null>;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  read_only?: boolean;
  tmpfs?: string[];
  volumes?: string[];
  mem_limit?: string;
  cpus?: string;
  pids_limit?: number;
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
  stop_grace_period?: string;
  deploy?: { replicas: string };
}

export const COMPOSE_FILE = join(import.meta.dirname, '../../../docker-compose.yml');
export const composeText = readFileSync(COMPOSE_FILE, 'utf8');
export const compose = parse(composeText, { merge: true }) as {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  configs: Record<string, { content: string; file: string }>;
  networks: Record<string, { internal?: boolean; ipam?: { config: [{ subnet: string; ip_range: string }] } } | null>;
};

/** The address that is believed about clients. */
export const PROXY_ADDRESS = (compose.services['proxy']!.networks as Record<string, { ipv4_address?: string } | null>)[
  'front'
]!.ipv4_address!;
export const services = Object.entries(compose.services);
/** What runs our image. */
export const ours = services.filter(([, { image }]) => image.startsWith('flotilla:'));
/** Those of them that end. */
export const once = ours.filter(([name]) => ['migrate', 'temporal-bootstrap', 'make-current'].includes(name));
export const running = ours.filter((one) => !once.includes(one));

/** Names of the networks that a service is in. */
export const networksOf = ({ networks = [] }: Service): string[] =>
  (Array.isArray(networks) ? networks : Object.keys(networks)).toSorted();

export const scriptOf = (command: readonly string[] | undefined) => command?.findLast((word) => word.endsWith('.ts'));

/** What a container gets when the user has set this; only where the file has a default does it replace the empty value. */
export function resolved(environment: Environment, set: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => {
      const found = value === null ? set[name] : filled(String(value), set);
      return found === undefined ? [] : [[name, found] as const];
    }),
  );
}

/** A variable in whose default there is none. */
const INNERMOST = /\$\{(\w+):-([^${}]*)\}/g;

/** Defaults may be made of variables too: from within. */
function filled(text: string, set: Record<string, string>): string {
  const next = text.replace(INNERMOST, (_all, name, fallback) => set[name] || fallback);
  return next === text ? text : filled(next, set);
}

/** Checks a compose file; rejects with what is wrong. */
type ComposeCheck = (file: string) => Promise<void>;

const run = promisify(execFile);
const PROGRAM = { directory: 'compose-check-2.16.2', file: 'compose-check' };
const BUILD = {
  title: 'the check of compose files',
  module: 'test/compose-check',
  programs: { [PROGRAM.file]: '.' },
  ldflags: '-s -w',
  trimPaths: true,
};

/**
 * `docker compose config` where Docker has it, else a program on the same loader, built once with Go and kept.
 *
 * @throws with the reason when this machine has neither
 */
export async function findComposeCheck(): Promise<ComposeCheck> {
  if (await hasDockerCompose()) {
    return async (file) => void (await run('docker', ['compose', '-f', file, 'config', '--quiet']));
  }
  const cache = cacheDirectory(process.env);
  const report = (message: string): void => console.log(`[compose] ${message}`);
  const program =
    (await findInCache(cache, PROGRAM)) ??
    (await makeInCache(cache, PROGRAM, report, async (directory) => {
      await buildWithGo(await findGo(process.env), BUILD, directory, { report, env: process.env });
    }));
  return async (file) => void (await run(program, [file], { cwd: join(import.meta.dirname, '../../..') }));
}

async function hasDockerCompose(): Promise<boolean> {
  return run('docker', ['compose', 'version']).then(
    () => true,
    () => false,
  );
}

interface AlertRule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}

export const RULES_FILE = 'deploy/prometheus/alerts.yml';
export const CASES_FILE = 'deploy/prometheus/alerts.test.yml';
const DASHBOARD_FILE = 'deploy/grafana/flotilla.json';

/** Every alert rule that is shipped. */
export function readAlertRules(): AlertRule[] {
  const { groups } = parse(readFileSync(RULES_FILE, 'utf8')) as { groups: Array<{ rules: AlertRule[] }> };
  return groups.flatMap(({ rules }) => rules);
}

interface Panel {
  title: string;
  type: string;
  datasource?: { uid: string };
  targets?: Array<{ expr: string }>;
}

/** The panels of the dashboard that is shipped, rows left out. */
export function readPanels(): Panel[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8')) as { panels: Panel[] };
  return panels.filter(({ type }) => type !== 'row');
}

/** Names of metrics in a PromQL expression: words that are no function, label, keyword or text. */
export function metricsIn(expr: string): string[] {
  const bare = expr
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}/g, ' ')
    .replace(/\[[^\]]*\]/g, ' ')
    .replace(/\boffset +\w+/g, ' ')
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right) *\([^)]*\)/g, ' ');
  const words = bare.matchAll(/[a-zA-Z_:][\w:]*(?! *[\w(]|\w)/g);
  return [...new Set([...words].map(([word]) => word))].filter((word) => !KEYWORDS.has(word));
}

const KEYWORDS = new Set(['and', 'or', 'unless', 'bool', 'by']);
