import { MalformedMessage } from './fields.ts';
import { type HardwareNode, parseHardwareXml } from './hardware-xml.ts';

export interface Hardware {
  flat: FlatDevice[];
  grouped: GroupedHardware;
}

type Described = 'class' | 'description' | 'vendor' | 'product' | 'version' | 'serial' | 'size' | 'capacity' | 'units';

interface FlatDevice extends Pick<HardwareNode, Described> {
  id: number;
  parent_id: number | null;
}

interface Titled {
  code: string;
  title: string;
}

interface Device {
  description: string;
  model: string;
  vendor: string;
}

export interface GroupedHardware {
  cpu: Array<{
    architecture: string;
    cache: Record<string, string>;
    clock_speed: string;
    flags: Titled[];
    model: string;
    vendor: string;
  }>;
  display: { model: string; vendor: string };
  memory: { size: string };
  multimedia: { model: string; vendor: string };
  network: Array<{ description: string; ip: string; mac: string; product: string; vendor: string }>;
  pci: Array<Device & { attached_devices: Device[] }>;
  scsi: Device[];
  storage: Array<{
    description: string;
    product: string;
    size: string;
    vendor: string;
    partitions: Array<{ description: string; filesystem: string; size: string }>;
  }>;
  system: {
    bios_capabilities: Titled[];
    bios_date: string;
    bios_vendor: string;
    bios_version: string;
    chassis: string;
    model: string;
    serial: string;
    vendor: string;
  };
  usb: Device[];
}

const UNKNOWN = 'Not available';

/** Typical reports have some ten kilobytes. Parsing blocks the event loop, so only the start of larger ones is read. */
const MAX_READ = 1024 * 1024;

/** Null if nothing can be read. */
export function readHardwareReport(xml: string): Hardware | null {
  try {
    const nodes = parseHardwareXml(xml.slice(0, MAX_READ));
    return nodes.length === 0 ? null : { flat: flatten(nodes), grouped: group(nodes) };
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    return null;
  }
}

function flatten(nodes: readonly HardwareNode[]): FlatDevice[] {
  const places = new Map(nodes.map((node, index) => [node, index + 1]));
  return nodes.map((node, index) => ({
    id: index + 1,
    parent_id: node.parent && places.get(node.parent)!,
    class: node.class,
    description: node.description,
    vendor: node.vendor,
    product: node.product,
    version: node.version,
    serial: node.serial,
    size: node.size,
    capacity: node.capacity,
    units: node.units,
  }));
}

function group(nodes: readonly HardwareNode[]): GroupedHardware {
  const ofClass = (name: string) => nodes.filter((node) => node.class === name);
  const product = (node: HardwareNode | undefined) => ({ model: text(node?.product), vendor: text(node?.vendor) });
  const disks = ofClass('disk').filter((disk) => disk.parent?.class !== 'disk');
  return {
    cpu: ofClass('processor').filter(isProcessor).map(processor),
    display: product(ofClass('display')[0]),
    memory: { size: memorySize(ofClass('memory')) },
    multimedia: product(ofClass('multimedia')[0]),
    network: ofClass('network').map((card) => ({
      description: text(card.description),
      ip: text(card.settings.get('ip')),
      mac: text(card.serial),
      product: text(card.product),
      vendor: text(card.vendor),
    })),
    pci: ofClass('bridge').map((bridge) => ({
      ...device(bridge),
      attached_devices: bridge.children.filter((child) => child.class !== 'bridge').map(device),
    })),
    scsi: nodes.filter(isScsiController).map(device),
    storage: disks.map(disk),
    system: system(nodes),
    usb: nodes.filter((node) => named(node, 'usb') || named(node, 'usbhost')).map(device),
  };
}

function text(value: string | null | undefined): string {
  return value ? value : UNKNOWN;
}

function device(node: HardwareNode): Device {
  return { description: text(node.description), model: text(node.product), vendor: text(node.vendor) };
}

function named(node: HardwareNode, name: string): boolean {
  return node.id === name || node.id.startsWith(`${name}:`);
}

function isScsiController(node: HardwareNode): boolean {
  return named(node, 'scsi') || (node.class === 'storage' && /\bscsi\b/i.test(node.description ?? ''));
}

/** Excludes threads of other processors and empty sockets. */
function isProcessor(node: HardwareNode): boolean {
  return !node.disabled && !named(node, 'logicalcpu') && !/^logical cpu\b/i.test(node.description ?? '');
}

function processor(node: HardwareNode): GroupedHardware['cpu'][number] {
  const caches = node.children.filter((child) => named(child, 'cache'));
  return {
    architecture: architecture(node),
    cache: Object.fromEntries(caches.map((cache) => [text(cache.description), amount(cache.size, 'bytes')])),
    clock_speed: amount(node.size ?? node.capacity, node.units ?? 'Hz'),
    flags: node.capabilities,
    model: text(node.product),
    vendor: text(node.vendor),
  };
}

function architecture({ capabilities, width }: HardwareNode): string {
  const has = (code: string) => capabilities.some((capability) => capability.code === code);
  if (has('x86-64')) return 'x86_64';
  if (has('asimd')) return 'aarch64';
  return width === null ? UNKNOWN : `${width}-bit`;
}

/** Some machines report the total, others only the size of each bank. */
function memorySize(nodes: readonly HardwareNode[]): string {
  const banks = nodes.filter((node) => named(node, 'bank') && !node.disabled && !isWithin(node, isSizedMemory));
  const wholes = nodes.filter((node) => isSizedMemory(node) && !isWithin(node, isSizedMemory));
  const size = [...wholes, ...banks].reduce((sum, node) => sum + (node.size ?? 0), 0);
  return size === 0 ? UNKNOWN : amount(size, 'bytes');
}

function isSizedMemory(node: HardwareNode): boolean {
  return named(node, 'memory') && !node.disabled && (node.size ?? 0) > 0;
}

function isWithin({ parent }: HardwareNode, test: (node: HardwareNode) => boolean): boolean {
  return parent !== null && (test(parent) || isWithin(parent, test));
}

function disk(node: HardwareNode): GroupedHardware['storage'][number] {
  return {
    description: text(node.description),
    product: text(node.product),
    size: amount(node.size ?? node.capacity, 'bytes'),
    vendor: text(node.vendor),
    partitions: descendants(node, 'volume').map((volume) => ({
      description: text(volume.description),
      filesystem: text(volume.settings.get('filesystem')),
      size: amount(volume.size ?? volume.capacity, 'bytes'),
    })),
  };
}

function descendants(node: HardwareNode, name: string): HardwareNode[] {
  return node.children.flatMap((child) => [...(child.class === name ? [child] : []), ...descendants(child, name)]);
}

function system(nodes: readonly HardwareNode[]): GroupedHardware['system'] {
  const root = nodes[0]!;
  const firmware = nodes.find((node) => named(node, 'firmware'));
  return {
    bios_capabilities: firmware?.capabilities ?? [],
    bios_date: text(firmware?.date),
    bios_vendor: text(firmware?.vendor),
    bios_version: text(firmware?.version),
    chassis: text(root.settings.get('chassis')),
    model: text(root.product),
    serial: text(root.serial),
    vendor: text(root.vendor),
  };
}

const BINARY = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const DECIMAL = ['Hz', 'kHz', 'MHz', 'GHz'];

function amount(value: number | null, units: string): string {
  if (value === null) return UNKNOWN;
  const [steps, base] = units === 'Hz' ? [DECIMAL, 1000] : units === 'bytes' ? [BINARY, 1024] : [[units], 1];
  let step = 0;
  let rest = value;
  for (; rest >= base && step < steps.length - 1; step++) rest /= base;
  return `${Number(rest.toFixed(2))} ${steps[step]}`;
}
