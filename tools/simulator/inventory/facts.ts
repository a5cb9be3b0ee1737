import type { BObject } from '../../../src/protocol/bpickle.ts';
import { RELEASES } from '../catalogue/releases.ts';
import { findSnap } from '../catalogue/snaps.ts';
import { createRandom } from '../random.ts';
import { usersFact } from './accounts.ts';
import type { Blueprint } from './blueprint.ts';
import { hardwareXml } from './hardware-xml.ts';
import type { Machine } from './machine.ts';
import { processesOf, processFact } from './processes.ts';
import { hotPatchReport, proRebootRequired, proStatus } from './subscription.ts';

type FactBuilder = (machine: Machine, blueprint: Blueprint) => BObject | null;

/** Facts that are reported in full, in the order of the first inventory. Packages are reported separately. */
const BUILDERS = {
  users: (_machine, blueprint) => (blueprint.catalogue ? usersFact(blueprint) : null),
  'computer-info': (_machine, { hostname, memoryMib, swapMib, machineId, annotations }) => ({
    hostname,
    'total-memory': memoryMib,
    'total-swap': swapMib,
    'machine-id': machineId,
    annotations: { ...annotations },
  }),
  'snap-info': (_machine, { catalogue, serial }) => catalogue && { brand: 'generic', model: 'generic-classic', serial },
  'processor-info': (_machine, { cpu }) => ({
    processors: Array.from({ length: cpu.count }, (_, id) => ({
      'processor-id': id,
      model: cpu.model,
      vendor: cpu.vendor,
      'cache-size': cpu.cacheKib,
    })),
  }),
  'distribution-info': (_machine, { distribution }) => ({
    'distributor-id': distribution.distributor,
    description: distribution.description,
    release: distribution.release,
    'code-name': distribution.codeName,
  }),
  'cloud-instance-metadata': (_machine, { cloud }) =>
    cloud && { 'instance-id': cloud.instanceId, 'ami-id': cloud.imageId, 'instance-type': cloud.instanceType },
  'cloud-init': (_machine, { cloud }) =>
    cloud && { 'cloud-init': JSON.stringify({ error: '', output: { availability_zone: cloud.zone }, return_code: 0 }) },
  'network-device': (_machine, { network }) => ({
    devices: network.map((card) => ({
      interface: Buffer.from(card.interface),
      ip_address: Buffer.from(card.address),
      mac_address: Buffer.from(card.mac),
      broadcast_address: Buffer.from(card.broadcast),
      netmask: Buffer.from(card.netmask),
      flags: card.flags,
    })),
    'device-speeds': network.map((card) => ({
      interface: Buffer.from(card.interface),
      speed: card.speedMbit,
      duplex: card.duplex,
    })),
  }),
  'active-process-info': (machine, blueprint) => {
    const random = createRandom(blueprint.seed, 'load', blueprint.index);
    const processes = processesOf(machine, blueprint).map((process) => processFact(process, random.next()));
    return { 'kill-all-processes': true, 'add-processes': processes };
  },
  'computer-tags': (_machine, { tags }) => ({ tags: tags.join(',') }),
  'snap-services': (machine, { catalogue }) =>
    catalogue && {
      services: {
        running: machine.snaps.flatMap(({ name: snap }) => {
          const name = findSnap(snap)?.daemon;
          return name ? [{ name, snap, daemon: 'simple', 'daemon-scope': 'system', enabled: true, active: true }] : [];
        }),
      },
    },
  livepatch: (machine, blueprint) =>
    blueprint.catalogue && { livepatch: JSON.stringify(hotPatchReport(machine, blueprint)) },
  'ubuntu-pro-reboot-required': (machine, blueprint) =>
    blueprint.catalogue && { 'ubuntu-pro-reboot-required': JSON.stringify(proRebootRequired(machine, blueprint)) },
  'ubuntu-pro-info': (_machine, blueprint) => ({ 'ubuntu-pro-info': JSON.stringify(proStatus(blueprint)) }),
  'update-manager-info': (_machine, { catalogue }) => catalogue && { prompt: RELEASES[catalogue.release].prompt },
  'reboot-required-info': (machine) => ({
    flag: machine.rebootPackages.length > 0,
    packages: [...machine.rebootPackages],
  }),
  'apt-preferences': (_machine, { catalogue }) => catalogue && { data: null },
  snaps: (machine, { catalogue }) => catalogue && { snaps: { installed: machine.snaps.map(snapFact) } },
  'hardware-info': (_machine, blueprint) => ({ data: hardwareXml(blueprint) }),
} satisfies Record<string, FactBuilder>;

export type FactType = keyof typeof BUILDERS;

function snapFact(snap: Machine['snaps'][number]): BObject {
  const store = findSnap(snap.name);
  const fact: BObject = {
    id: `id-${snap.name}`,
    name: snap.name,
    version: snap.version,
    revision: snap.revision,
    confinement: snap.confinement,
    config: '{}',
    'tracking-channel': snap.channel,
    publisher: { username: store?.publisher ?? 'example', validation: 'verified' },
    summary: store?.summary ?? '',
  };
  if (snap.hold) fact['hold'] = snap.hold;
  return fact;
}

export function isFactType(type: string): type is FactType {
  return type in BUILDERS;
}

/** Null if the machine has no such fact. */
export function factOf(type: FactType, machine: Machine): BObject | null {
  const builder: FactBuilder = BUILDERS[type];
  const fields = builder(machine, machine.blueprint);
  return fields && { type, ...fields };
}

/** Facts that are not reported again on resynchronization. @see docs/agent-protocol.md#facts */
const NOT_REPEATED: ReadonlySet<FactType> = new Set(['snaps', 'processor-info', 'cloud-instance-metadata']);

const SCOPES: Readonly<Record<string, readonly FactType[]>> = {
  computer: ['computer-info', 'distribution-info', 'snap-info', 'reboot-required-info', 'update-manager-info'],
  package: ['update-manager-info', 'apt-preferences', 'reboot-required-info'],
  process: ['active-process-info'],
  network: ['network-device'],
  users: ['users'],
  snaps: ['snap-services'],
  'cloud-init': ['cloud-init'],
  livepatch: ['livepatch'],
  'ubuntu-pro': ['ubuntu-pro-info', 'ubuntu-pro-reboot-required'],
};

/** Facts to report again; null means all scopes. @see docs/agent-protocol.md#control-messages */
export function factsInScopes(scopes: readonly string[] | null): FactType[] {
  const all = Object.keys(BUILDERS).filter(isFactType);
  if (!scopes) return all.filter((type) => !NOT_REPEATED.has(type));
  return all.filter((type) => scopes.some((scope) => SCOPES[scope]?.includes(type)));
}
