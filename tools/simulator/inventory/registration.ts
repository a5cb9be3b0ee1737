import type { BObject } from '../../../src/protocol/bpickle.ts';
import type { Blueprint } from './blueprint.ts';
import { proStatus } from './subscription.ts';

/**
 * Makes the fields of a `register` message.
 * @param key - the account's registration key
 * @see docs/agent-protocol.md#registration-and-identity
 */
export function registrationOf(blueprint: Blueprint, account: string, key: string | null): BObject {
  const fields: BObject = {
    account_name: account,
    registration_password: key,
    computer_title: blueprint.title,
    hostname: blueprint.hostname,
    tags: blueprint.tags.join(','),
    'vm-info': Buffer.from(blueprint.vmInfo),
    'container-info': blueprint.containerInfo,
    ubuntu_pro_info: JSON.stringify(proStatus(blueprint)),
  };
  if (blueprint.hostagentUid !== null) fields['hostagent_uid'] = blueprint.hostagentUid;
  return fields;
}
