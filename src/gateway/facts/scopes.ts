/** By message type. Types without a scope are reported in full every day or at each change. */
const SCOPES: ReadonlyMap<string, string> = new Map([
  ['active-process-info', 'process'],
  ['add-packages', 'package'],
  ['apt-preferences', 'package'],
  ['cloud-init', 'cloud-init'],
  ['cloud-instance-metadata', 'computer'],
  ['computer-info', 'computer'],
  ['distribution-info', 'computer'],
  ['livepatch', 'livepatch'],
  ['network-device', 'network'],
  ['package-reporter-result', 'package'],
  ['packages', 'package'],
  ['processor-info', 'cpu'],
  ['reboot-required-info', 'package'],
  ['snap-info', 'computer'],
  ['snap-services', 'snaps'],
  ['snaps', 'snaps'],
  ['ubuntu-pro-info', 'ubuntu-pro'],
  ['ubuntu-pro-reboot-required', 'ubuntu-pro'],
  ['unknown-package-hashes', 'package'],
  ['update-manager-info', 'package'],
  ['users', 'users'],
]);

/** Null if agents cannot be made to report this type again. */
export function scopeOf(type: string): string | null {
  return SCOPES.get(type) ?? null;
}

/** The distinct scopes of some types, without types that have none. */
export function scopesOf(types: readonly string[]): string[] {
  return [...new Set(types.flatMap((type) => scopeOf(type) ?? []))];
}
