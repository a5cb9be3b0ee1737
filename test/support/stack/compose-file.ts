import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

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
