import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { commandLine, listProcesses, treeOf } from '../harness/proc.ts';
import type { Role, Usage } from '../harness/usage.ts';

/** The product's roles in the order of the table; in the embedded stack the API process includes the gateway. */
export const PRODUCT_ROLES = ['API', 'gateway', 'worker', 'Temporal', 'PostgreSQL', 'supervisor'] as const;
export type ProductRole = (typeof PRODUCT_ROLES)[number];

/** The roles that run our own code and grow with their load. */
export const OWN_ROLES = ['API', 'gateway', 'worker'] as const satisfies readonly ProductRole[];

/** Identifies the processes below a supervisor; the first match wins. */
const ROLE_COMMANDS: ReadonlyArray<{ name: ProductRole; command: RegExp }> = [
  { name: 'gateway', command: /\bsrc\/server\/main\.ts\b.* --gateway-only\b/ },
  { name: 'API', command: /\bsrc\/server\/main\.ts\b/ },
  { name: 'worker', command: /\bworkers\/main\.ts\b/ },
  { name: 'Temporal', command: /\bflotilla-temporal\b|\btemporal-server\b/ },
  { name: 'PostgreSQL', command: /\bbin\/postgres\b/ },
];

/** The roles below a supervisor, each with everything below it. */
export function productRoles(supervisor: ChildProcess, names: readonly ProductRole[]): Role[] {
  return names.map((name): Role => {
    if (name === 'supervisor') return { name, roots: () => [supervisor.pid!], alone: true };
    const roots = () => rolePids(supervisor.pid!).get(name) ?? [];
    return { name, roots, memory: name === 'PostgreSQL' ? 'proportional' : 'resident' };
  });
}

/** The roles that this kind of product has, in the order of the table. */
export function rolesIn(usage: Usage): ProductRole[] {
  return PRODUCT_ROLES.filter((role) => usage.roles[role] !== undefined);
}

function rolePids(supervisor: number): Map<string, number[]> {
  const tree = treeOf(listProcesses(), supervisor);
  const roleOf = new Map<number, string>();
  const found = new Map<string, number[]>();
  for (const { pid, parent } of tree) {
    const role = roleOf.get(parent) ?? ROLE_COMMANDS.find(({ command }) => command.test(commandLine(pid)))?.name;
    if (role === undefined || pid === supervisor) continue;
    if (!roleOf.has(parent)) found.set(role, [...(found.get(role) ?? []), pid]);
    roleOf.set(pid, role);
  }
  return found;
}

/** Settings that the supervisor passed to the API process. @throws when there is none */
export function environmentOf(supervisor: ChildProcess): Record<string, string> {
  const pid = rolePids(supervisor.pid!).get('API')?.[0];
  if (pid === undefined) throw new Error('the product has no API process');
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  const settings = entries.filter((entry) => entry.startsWith('FLOTILLA_'));
  return Object.fromEntries(settings.map((entry) => [entry.split('=', 1)[0]!, entry.slice(entry.indexOf('=') + 1)]));
}
