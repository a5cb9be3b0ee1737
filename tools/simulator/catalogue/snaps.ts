/** A snap in the simulated store. */
export interface StoreSnap {
  name: string;
  version: string;
  /** Revision in `latest/stable`; channels of higher risk are ahead of it. */
  revision: number;
  confinement: 'strict' | 'classic';
  publisher: string;
  summary: string;
  daemon?: string;
}

type Line = readonly [
  name: string,
  version: string,
  revision: number,
  publisher: string,
  summary: string,
  confinement?: 'classic',
  daemon?: string,
];

const LINES: readonly Line[] = [
  ['bare', '1.0', 5, 'canonical', 'Empty base'],
  ['core22', '20260817', 2411, 'canonical', 'Runtime of Ubuntu 22.04'],
  ['core24', '20260822', 1532, 'canonical', 'Runtime of Ubuntu 24.04'],
  ['snapd', '2.76', 26_382, 'canonical', 'Daemon and tooling for snaps'],
  ['lxd', '5.21.4', 38_331, 'canonical', 'System container and virtual machine manager', undefined, 'daemon'],
  ['firefox', '151.0.1-1', 8412, 'mozilla', 'Web browser'],
  ['gnome-46-2404', '0+git.d9f6d42', 153, 'canonical', 'Desktop platform'],
  ['gtk-common-themes', '0.1-81', 1535, 'canonical', 'Themes for desktop applications'],
  ['snap-store', '0+git.90575829', 1301, 'canonical', 'App centre'],
  ['thunderbird', '151.0-1', 921, 'canonical', 'Mail client'],
  ['hello', '2.12.1', 49, 'canonical', 'Says hello'],
  ['hello-world', '6.4', 29, 'canonical', 'Says hello to the world'],
  ['jq', '1.8.1', 61, 'mvo', 'JSON processor'],
  ['vlc', '3.0.22', 4510, 'videolan', 'Media player'],
  ['nextcloud', '33.0.2', 54_012, 'nextcloud', 'File sync and share', undefined, 'apache'],
  [
    'canonical-livepatch',
    '10.14.0',
    342,
    'canonical',
    'Kernel patching without a restart',
    undefined,
    'canonical-livepatchd',
  ],
  ['code', '1.121.0', 232, 'vscode', 'Code editor', 'classic'],
  ['kubectl', '1.36.2', 3921, 'canonical', 'Controls clusters', 'classic'],
  ['helm', '4.2.0', 512, 'snapcrafters', 'Package manager for clusters', 'classic'],
  ['go', '1.27.1', 11_218, 'canonical', 'Compiler', 'classic'],
  ['aws-cli', '2.36.4', 1933, 'aws', 'Command line for a cloud', 'classic'],
];

const STORE: ReadonlyMap<string, StoreSnap> = new Map(
  LINES.map(([name, version, revision, publisher, summary, confinement, daemon]): [string, StoreSnap] => [
    name,
    { name, version, revision, publisher, summary, confinement: confinement ?? 'strict', daemon },
  ]),
);

const RISKS: Readonly<Record<string, number>> = { stable: 0, candidate: 2, beta: 5, edge: 17 };
const WELL_FORMED = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

/** Every well-formed name exists, so that tests can use any, except names that start with `no-such`. */
export function findSnap(name: string): StoreSnap | null {
  const known = STORE.get(name);
  if (known) return known;
  if (!WELL_FORMED.test(name) || name.startsWith('no-such')) return null;
  const revision = 10 + ((name.length * 37) % 900);
  return { name, version: '1.0', revision, confinement: 'strict', publisher: 'example', summary: `${name} snap` };
}

/** Null if there is no such channel. */
export function revisionIn(snap: StoreSnap, channel: string): number | null {
  const risk = RISKS[channel.split('/').at(-1) ?? ''];
  return risk === undefined ? null : snap.revision + risk;
}

/** `edge` means `latest/edge`. */
export function fullChannel(channel: string): string {
  if (channel.includes('/')) return channel;
  return channel in RISKS ? `latest/${channel}` : `${channel}/stable`;
}
