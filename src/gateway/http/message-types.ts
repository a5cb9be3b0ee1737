import { typeListDigest } from '../../protocol/type-digest.ts';

export interface TypeList {
  readonly types: readonly string[];
  readonly digest: Buffer;
}

function typeList(types: readonly string[]): TypeList {
  return { types, digest: typeListDigest(types) };
}

/** For unidentified, pending and archived computers. @see docs/agent-protocol.md#message-types */
export const REGISTER_ONLY = typeList(['register']);

/** What approved computers may send. @see docs/agent-protocol.md#what-the-server-accepts */
export const EVERYTHING = typeList([
  'active-process-info',
  'add-packages',
  'apt-preferences',
  'change-packages-result',
  'cloud-init',
  'cloud-instance-metadata',
  'computer-info',
  'computer-tags',
  'distribution-info',
  'fde-recovery-key',
  'hardware-info',
  'livepatch',
  'network-device',
  'operation-result',
  'package-reporter-result',
  'packages',
  'processor-info',
  'reboot-required-info',
  'resynchronize',
  'snap-info',
  'snap-services',
  'snaps',
  'ubuntu-pro-info',
  'ubuntu-pro-reboot-required',
  'unknown-package-hashes',
  'update-manager-info',
  'users',
  'usg-audit',
]);
