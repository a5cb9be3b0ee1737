import { bodyFields, type DocumentedOperation, OPERATIONS, type Samples } from '../http/sample-requests.ts';
import { NEVER } from '../identity/rights-world.ts';

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
};

/** Texts of the query languages, and cursors: what they name is tested selector by selector. */
const QUERIES = ['query', 'search', 'after'];

/** Parameters and fields that name nothing of an account. */
const PLAIN = new Set(
  `action all_computers archived archived_only attachments audit_retention_period auto_register_new_computers available
  benchmark bind_to_email code comment computer_title days deliver_after deliver_after_window deliver_delay_window description detailed
  email end_date enforce_password_strength expires_at expiry_minutes force global_permissions held identity installed keep_access_keys key limit
  max_message_backlog mode name names new_password offset pass_rate_from pass_rate_to password permissions pids
  reboot_after registration_password restart_deliver_delay restart_deliver_delay_window root_only schedule script_type script_version_id searches setup_token
  secret_key security snaps start_date status tags tailoring_file time_limit timezone title token trigger upgrade username
  value with_alerts with_all_network with_annotations with_grouped_hardware with_hardware with_network with_profiles
  with_reboot_packages with_release_upgrades with_upgrades with_wsl_profiles wsl_children wsl_parents`.split(/\s+/),
);

/** The secret of an invitation is for whoever presents it first, and an access key is presented with its secret. */
const isSecret = (where: ObjectPlace['where'], name: string) =>
  name === 'secure_id' || (where === 'body' && (name === 'invitation_id' || name === 'access_key'));

/** A place of a request that names an object. */
export interface ObjectPlace {
  operation: DocumentedOperation;
  where: 'path' | 'query' | 'body';
  name: string;
  /** What stands there for the objects of a world. */
  read(objects: Samples): unknown;
}

/** Names that nobody has said yet whether they name objects. */
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
    return read && !isSecret(where, name) ? [{ operation, where, name, read }] : [];
  });
}

/** What stands in a place for an object that never was. */
export function neverAt({ read }: ObjectPlace): unknown {
  return read({ ...NEVER, account: 'never-was' });
}
