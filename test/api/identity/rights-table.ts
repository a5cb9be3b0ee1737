import { bodyFields, type DocumentedOperation, OPERATIONS, type Samples } from '../../support/http/sample-requests.ts';
import { NEVER } from '../../support/identity/rights-world.ts';

/** Which operations, what they need, which seeded roles may call them. */
interface Row {
  operations: RegExp;
  needs: DocumentedOperation['access'];
  /** G GlobalAdmin, A Auditor, S SupportAnalyst, D ServerAdmin and DesktopAdmin. */
  roles: 'GASD' | 'GSD' | 'GD' | 'GA' | 'G' | 'everybody';
}

/** Path parameters and body fields that name objects of an account. */
export const ACCOUNT_OBJECTS = [
  'computer_id',
  'activity_id',
  'alert_id',
  'invitation_id',
  'person_id',
  'role_name',
  'access_group_name',
  'saved_search_name',
  'webhook_id',
  'usg_profile_id',
  'script_id',
  'path',
  'script_profile_id',
];

/** Those of them that are seen through access groups, and the body fields that do. */
export const SCOPED_OBJECTS = [
  'computer_id',
  'activity_id',
  'usg_profile_id',
  'script_id',
  'path',
  'script_profile_id',
  'computer_ids',
  'activity_ids',
];

/** What a token from an access key may not do: leave its account, make ways in, change the person. */
export const NEEDS_LOGIN =
  /^\w+ \/(credentials(\/\{access_key\})?|person(:confirm-email)?|administrators\/\{person_id\}:confirm-email|password|switch-account|accounts|(accept|reject)-invitation|tokens\/invalidate-(me|system)(\/.*)?)$/;

/**
 * The decided matrix, first match first. The document's `x-permission` is what the server holds; this table is what it
 * is checked with, so that neither can be wrong alone.
 */
export const RIGHTS_TABLE: readonly Row[] = [
  { operations: /^(POST \/login(\/access-key)?|GET \/login\/methods)$/, needs: 'none', roles: 'everybody' },
  { operations: /^(GET|POST) \/standalone-account$/, needs: 'none', roles: 'everybody' },
  { operations: /^GET \/invitations\/\{secure_id\}\/summary$/, needs: 'none', roles: 'everybody' },
  { operations: /^POST \/tokens\/invalidate-account$/, needs: ['ManageAccount'], roles: 'G' },
  {
    operations:
      /^\w+ \/(person(:(test|confirm)-email)?|me|logout|password|credentials(\/\{access_key\})?|switch-account|server|accept-invitation|reject-invitation|tokens\/.*)$/,
    needs: 'token',
    roles: 'everybody',
  },
  { operations: /^GET \/me\/permissions$/, needs: 'account', roles: 'GASD' },
  { operations: /^POST \/accounts$/, needs: 'token', roles: 'everybody' },
  {
    operations: /^GET \/(access-groups|activity-types|features|message-backlog-settings)(\/|$)/,
    needs: 'account',
    roles: 'GASD',
  },
  { operations: /^\w+ \/saved-searches(\/|$)/, needs: 'account', roles: 'GASD' },
  { operations: /^GET \/(administrators|invitations|roles|permissions)(\/|$)/, needs: ['ViewRole'], roles: 'GA' },
  { operations: /^\w+ \/(administrators|invitations|roles|access-groups)(\/|$)/, needs: ['ManageRole'], roles: 'G' },
  { operations: /^(PUT|DELETE) \/message-backlog-settings$/, needs: ['ManageAccount'], roles: 'G' },
  { operations: /^(GET|PATCH) \/preferences$/, needs: ['ManageAccount'], roles: 'G' },
  { operations: /^\w+ \/webhooks([/:]|$)/, needs: ['ManageAccount'], roles: 'G' },
  { operations: /^GET \/events(:stream)?$/, needs: 'account', roles: 'GASD' },
  { operations: /^\w+ \/pending-computers(:|$)/, needs: ['ManagePendingComputer'], roles: 'GD' },
  { operations: /^POST \/alerts\//, needs: ['ViewComputer'], roles: 'GASD' },
  { operations: /^GET \/tags$/, needs: ['ViewComputer'], roles: 'GASD' },
  { operations: /^GET \/usg-profiles(\/|$)/, needs: ['ViewUsgProfile'], roles: 'GASD' },
  { operations: /^\w+ \/usg-profiles([/:]|$)/, needs: ['ManageUsgProfile'], roles: 'GD' },
  { operations: /^GET \/script-profile(s|-limits)(\/|$)/, needs: ['ViewScriptProfile'], roles: 'GASD' },
  { operations: /^\w+ \/script-profiles([/:]|$)/, needs: ['ManageScriptProfile', 'ExecuteScript'], roles: 'GD' },
  {
    operations: /^GET \/scripts\/\{script_id\}\/script-profiles$/,
    needs: ['ViewScript', 'ViewScriptProfile'],
    roles: 'GASD',
  },
  { operations: /^GET \/scripts(\/|$)/, needs: ['ViewScript'], roles: 'GASD' },
  { operations: /^POST \/scripts\/\{script_id\}:execute$/, needs: ['ExecuteScript'], roles: 'GSD' },
  { operations: /^\w+ \/scripts([/:]|$)/, needs: ['ManageScript'], roles: 'GD' },
  { operations: /\/usg-audits$/, needs: ['ViewComputer', 'ViewUsgProfile'], roles: 'GASD' },
  { operations: /\/recovery-key/, needs: ['ManageComputer', 'ManageSecrets'], roles: 'G' },
  { operations: /^GET \/(computers|activities|alerts|packages)(\/|$)/, needs: ['ViewComputer'], roles: 'GASD' },
  {
    operations: /^\w+ \/(computers|activities|snaps|processes|packages)([/:]|$)/,
    needs: ['ManageComputer'],
    roles: 'GSD',
  },
];

/**
 * Parameters and fields of the document that name something an account has, each with where its value is among the
 * samples of a world. A name that is here or in {@link PLAIN} has been thought about; a new one has not.
 */
const NAMING: Readonly<Record<string, (objects: Samples) => unknown>> = {
  ...Object.fromEntries(
    [
      'access_group_name',
      'access_key',
      'activity_id',
      'activity_ids',
      'alert_id',
      'computer_id',
      'computer_ids',
      'package_ids',
      'path',
      'person_id',
      'role_name',
      'saved_search_name',
      'webhook_id',
      'script_attachment_id',
      'script_id',
      'script_profile_id',
      'usg_profile_id',
    ].map((name) => [name, (objects: Samples) => objects[name]]),
  ),
  access_group: (objects) => objects['access_group_name'],
  access_groups: (objects) => [objects['access_group_name']],
  parent: (objects) => objects['access_group_name'],
  roles: (objects) => [objects['role_name']],
  // The catalogue is common; a computer of the caller has what a computer of another account reported, or has not.
  kernel_package_id: (objects) => [objects['package_ids']].flat()[0],
  account: (objects) => objects['account'],
  account_name: (objects) => objects['account'],
  preferred_account: (objects) => objects['account'],
  invitation_id: (objects) => objects['invitation_id'],
  color: (objects) => `activity:${objects['activity_id']}`,
  delivery_ids: (objects) => objects['delivery_ids'],
};

/** Texts of the query languages, and cursors: what they name is tested selector by selector. */
const QUERIES = ['query', 'search', 'after', 'before'];

/** Parameters and fields that name nothing of an account. */
const PLAIN = new Set(
  `action agent_intervals all_computers archived archived_only attachments audit_retention_period auto_register_new_computers available benchmark
  bind_to_email code comment computer computer_title days deliver_after deliver_after_window deliver_delay_window description detailed email end_date
  enforce_password_strength expires_at expiry_minutes failure force global_permissions group held identity installed keep_access_keys key limit
  max_message_backlog mode name names new_password offset open operations_only ordered pass_rate_from pass_rate_to password permissions pids points
  reason reboot_after registration_password restart_deliver_delay restart_deliver_delay_window result root_only schedule script_type script_version_id
  searches secret_key security session setup_token snaps start_date status tags tailoring_file time_limit timezone title token trigger types until
  upgrade url username value wait with_alerts with_all_network with_annotations with_grouped_hardware with_hardware with_network with_profiles
  with_reboot_packages with_release_upgrades with_upgrades with_wsl_profiles wsl_children wsl_parents`.split(/\s+/),
);

/** The secret of an invitation is for whoever presents it first, and an access key is presented with its secret. */
const isSecret = (where: ObjectPlace['where'], name: string) =>
  name === 'secure_id' || (where === 'body' && (name === 'invitation_id' || name === 'access_key'));

/** In bodies `after` names an activity. */
const isCursor = (where: ObjectPlace['where'], name: string) => where === 'query' && name === 'after';

/** A place of a request that names an object. */
export interface ObjectPlace {
  operation: DocumentedOperation;
  where: 'path' | 'query' | 'body';
  name: string;
  /** What stands there for the objects of a world. */
  read(objects: Samples): unknown;
}

/** Names of which nobody has declared yet whether they name objects. */
export function unknownPlaces(): string[] {
  const known = (name: string) => name in NAMING || PLAIN.has(name) || QUERIES.includes(name) || name === 'secure_id';
  return OPERATIONS.flatMap((operation) =>
    [...operation.pathParameters, ...operation.allQueryParameters, ...bodyFields(operation)]
      .filter((name) => !known(name))
      .map((name) => `${operation.title}: ${name}`),
  );
}

/** Every place of every operation that names an object. */
export const OBJECT_PLACES: readonly ObjectPlace[] = OPERATIONS.flatMap((operation) => [
  ...placesOf(operation, 'path', operation.pathParameters),
  ...placesOf(operation, 'query', operation.allQueryParameters),
  ...placesOf(operation, 'body', bodyFields(operation)),
]);

function placesOf(operation: DocumentedOperation, where: ObjectPlace['where'], names: string[]): ObjectPlace[] {
  return names.flatMap((name) => {
    const read = NAMING[name];
    return read && !isSecret(where, name) && !isCursor(where, name) ? [{ operation, where, name, read }] : [];
  });
}

/** What stands in a place for an object that never was. */
export function neverAt({ read }: ObjectPlace): unknown {
  return read({ ...NEVER, account: 'never-was' });
}
