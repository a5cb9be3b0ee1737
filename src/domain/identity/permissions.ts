/** Permissions on access groups and their descendants. @see docs/api-conventions.md#roles-and-permissions */
export const GROUP_PERMISSIONS = [
  'ViewComputer',
  'ManageComputer',
  'ManagePendingComputer',
  'ViewScript',
  'ManageScript',
  'ExecuteScript',
  'ViewScriptProfile',
  'ManageScriptProfile',
  'ViewUsgProfile',
  'ManageUsgProfile',
] as const;

/** Permissions on the whole account. @see docs/api-conventions.md#roles-and-permissions */
export const GLOBAL_PERMISSIONS = ['ManageAccount', 'ViewRole', 'ManageRole', 'ViewEventLog', 'ManageSecrets'] as const;

export type GroupPermission = (typeof GROUP_PERMISSIONS)[number];
export type GlobalPermission = (typeof GLOBAL_PERMISSIONS)[number];
export type Permission = GroupPermission | GlobalPermission;

export interface SeedRole {
  name: string;
  description: string;
  readOnly: boolean;
  permissions: readonly GroupPermission[];
  globalPermissions: readonly GlobalPermission[];
}

/** The account created on first start; its administrators may be system operators. */
export const STANDALONE_ACCOUNT = 'standalone';

/** Has all permissions; every account keeps at least one administrator with this role. */
export const ADMINISTRATOR_ROLE = 'GlobalAdmin';

/** Initial roles of every account, all on access group `global`. @see docs/api-conventions.md#roles-and-permissions */
export const SEED_ROLES: readonly SeedRole[] = [
  {
    name: ADMINISTRATOR_ROLE,
    description: 'Everything',
    readOnly: true,
    permissions: GROUP_PERMISSIONS,
    globalPermissions: GLOBAL_PERMISSIONS,
  },
  {
    name: 'Auditor',
    description: 'Reads computers, scripts, profiles, roles and events',
    readOnly: false,
    permissions: ['ViewComputer', 'ViewScript', 'ViewScriptProfile', 'ViewUsgProfile'],
    globalPermissions: ['ViewRole', 'ViewEventLog'],
  },
  {
    name: 'SupportAnalyst',
    description: 'Acts on computers and runs scripts',
    readOnly: false,
    permissions: [
      'ViewComputer',
      'ManageComputer',
      'ViewScript',
      'ExecuteScript',
      'ViewScriptProfile',
      'ViewUsgProfile',
    ],
    globalPermissions: [],
  },
  {
    name: 'ServerAdmin',
    description: 'Everything in its access groups',
    readOnly: false,
    permissions: GROUP_PERMISSIONS,
    globalPermissions: [],
  },
  {
    name: 'DesktopAdmin',
    description: 'Everything in its access groups',
    readOnly: false,
    permissions: GROUP_PERMISSIONS,
    globalPermissions: [],
  },
];
