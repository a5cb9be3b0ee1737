import type { BObject } from '../../../src/protocol/bpickle.ts';
import type { Blueprint } from './blueprint.ts';

interface LocalUser {
  uid: number;
  username: string;
  name: string | null;
  enabled: boolean;
}

const SYSTEM: readonly LocalUser[] = [
  { uid: 0, username: 'root', name: 'root', enabled: false },
  { uid: 1, username: 'daemon', name: 'daemon', enabled: true },
  { uid: 33, username: 'www-data', name: 'www-data', enabled: true },
  { uid: 65_534, username: 'nobody', name: 'nobody', enabled: true },
  { uid: 998, username: 'landscape', name: null, enabled: false },
  { uid: 1000, username: 'ubuntu', name: 'Ubuntu', enabled: true },
];

const PEOPLE: readonly LocalUser[] = [
  { uid: 1001, username: 'alex', name: 'Alex Example', enabled: true },
  { uid: 1002, username: 'sam', name: 'Sam Example', enabled: true },
];

function localUsers({ kind, index }: Blueprint): readonly LocalUser[] {
  if (kind === 'windows') return [];
  return kind === 'desktop' ? [...SYSTEM, PEOPLE[index % 2]!] : SYSTEM;
}

export function hasUser(blueprint: Blueprint, username: string): boolean {
  return localUsers(blueprint).some((user) => user.username === username);
}

export function usersFact(blueprint: Blueprint): BObject {
  const users = localUsers(blueprint);
  return {
    type: 'users',
    'create-users': users.map(({ uid, username, name, enabled }) => ({
      uid,
      username,
      name,
      enabled,
      location: null,
      'home-phone': null,
      'work-phone': null,
      'primary-gid': uid,
    })),
    'create-groups': [...users.map(({ uid, username }) => ({ gid: uid, name: username })), { gid: 27, name: 'sudo' }],
    'create-group-members': { sudo: ['ubuntu'] },
  };
}
