import { BFloat, type BObject } from '../../../src/protocol/bpickle.ts';
import { createRandom } from '../random.ts';
import type { Blueprint } from './blueprint.ts';
import type { Machine } from './machine.ts';
import type { Kind } from './roles.ts';

export interface Process {
  pid: number;
  name: string;
  uid: number;
  gid: number;
  startTime: number;
  vmSizeKib: number;
}

const INIT_PID = 1;

const COMMON = ['systemd-journald', 'systemd-udevd', 'systemd-logind', 'dbus-daemon', 'cron', 'rsyslogd', 'snapd'];
const AGENT = ['landscape-broker', 'landscape-monitor', 'landscape-manager'];
const USER_UID = 1000;

const NAMES: Readonly<Record<Kind, readonly string[]>> = {
  server: [
    ...COMMON,
    'systemd-networkd',
    'systemd-resolved',
    'chronyd',
    'sshd',
    'polkitd',
    'agetty',
    'unattended-upgr',
    ...AGENT,
  ],
  desktop: [
    ...COMMON,
    'NetworkManager',
    'systemd-resolved',
    'gdm3',
    'cupsd',
    'polkitd',
    'upowerd',
    'udisksd',
    ...AGENT,
  ],
  wsl: ['systemd-journald', 'dbus-daemon', 'cron', 'snapd', ...AGENT],
  windows: [
    'wininit.exe',
    'services.exe',
    'lsass.exe',
    'svchost.exe',
    'dwm.exe',
    'explorer.exe',
    'MsMpEng.exe',
    'agent.exe',
  ],
};

/** Processes of the logged-in user, or of the role of a server. */
const PAYLOAD: Readonly<Record<string, readonly string[]>> = {
  desktop: ['gnome-shell', 'gnome-terminal-', 'firefox', 'pipewire', 'wireplumber', 'evolution-data', 'bash'],
  kiosk: ['gnome-shell', 'firefox', 'pipewire'],
  web: ['nginx', 'nginx', 'nginx', 'node'],
  api: ['node', 'node', 'nginx'],
  db: ['postgres', 'postgres', 'postgres', 'postgres', 'postgres'],
  cache: ['redis-server'],
  build: ['runner', 'make', 'gcc'],
  mail: ['master', 'qmgr', 'dovecot'],
  dns: ['named'],
  proxy: ['haproxy', 'haproxy'],
  monitor: ['prometheus', 'grafana', 'alertmanager'],
  backup: ['restic'],
  wsl: ['bash', 'node'],
};

/** The running processes, derived from seed and boot; ended ones are missing until the next boot. */
export function processesOf(machine: Machine, blueprint: Blueprint): Process[] {
  const { seed, index, kind, role } = blueprint;
  const random = createRandom(seed, 'processes', index, machine.boots);
  const bootedAt = machine.bootedAt;
  const init = kind === 'windows' ? 'System' : 'systemd';
  const table: Process[] = [{ pid: INIT_PID, name: init, uid: 0, gid: 0, startTime: bootedAt, vmSizeKib: 22_412 }];
  let [pid, startTime] = [random.int(200, 400), bootedAt];
  const add = (name: string, uid: number): void => {
    pid += random.int(1, 60);
    startTime += random.int(0, 2);
    table.push({ pid, name, uid, gid: uid, startTime, vmSizeKib: random.int(8, 400) * 1024 });
  };
  for (const name of NAMES[kind]) add(name, name.startsWith('landscape-') && name !== 'landscape-manager' ? 998 : 0);
  for (const name of PAYLOAD[role.prefix] ?? PAYLOAD[kind] ?? []) add(name, USER_UID);
  return table.filter((process) => !machine.endedPids.includes(process.pid));
}

/** Signals do not end init. */
export function isEndable(process: Process): boolean {
  return process.pid !== INIT_PID;
}

/** @param draw - a random number from 0 to 1 for load and state */
export function processFact(process: Process, draw: number): BObject {
  return {
    pid: process.pid,
    name: process.name,
    state: Buffer.from(draw < 0.1 ? 'R' : 'S'),
    uid: process.uid,
    gid: process.gid,
    'start-time': process.startTime,
    'vm-size': process.vmSizeKib,
    'percent-cpu': new BFloat(Math.round(draw * draw * 80) / 10),
  };
}
