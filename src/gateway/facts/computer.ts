import { MAX_INT4 } from '../../domain/integers.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import { MAX_TAGS } from '../../services/computer-fields.ts';
import type { ComputerColumns, Facts, InstalledSnap, NetworkDevice } from './facts.ts';
import {
  shortTextOrNull,
  toBoolean,
  toDict,
  toDicts,
  toInt,
  toIntOrNull,
  toNumberOrNull,
  toText,
  toTextOrNull,
  toTexts,
} from './fields.ts';
import { readHardwareReport } from './hardware.ts';
import { isJsonObject, type Json, parseJson, wireToJson } from './json.ts';

const MAX_NAME = 1024;
const MAX_CONFIG = 100_000;
const MAX_REPORT_ERROR = 100_000;
const MAX_HARDWARE = 8 * 1024 * 1024;
const FLAG_UP = 1;

/** Reads `computer-info`; only what changed is in it. */
export function readComputerInfo(message: BObject, facts: Facts): void {
  const columns: ComputerColumns = {};
  if (message['hostname'] !== undefined) columns.hostname = toText(message['hostname'] ?? '', 'hostname', MAX_NAME);
  for (const [key, column] of [
    ['total-memory', 'total_memory'],
    ['total-swap', 'total_swap'],
  ] as const) {
    if (message[key] !== undefined) columns[column] = toIntOrNull(message[key], key, 0, MAX_INT4);
  }
  if (message['machine-id'] !== undefined) {
    columns.machine_id = toTextOrNull(message['machine-id'], 'machine-id', 256);
  }
  const annotations = message['annotations'] === undefined ? null : readAnnotations(message);
  Object.assign(facts.computer, columns);
  if (annotations) facts.annotations = annotations;
}

function readAnnotations(message: BObject): Record<string, string> | null {
  if (message['annotations'] === null) return null;
  const entries = Object.entries(toDict(message['annotations'], 'annotations')).map(([key, value]) => [
    toText(key, 'annotation', MAX_NAME),
    // Agents read annotations from files, with the newline that ends them.
    toText(value, 'annotation', 100_000).replace(/\n$/, ''),
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Reads `distribution-info`. */
export function readDistribution(message: BObject, facts: Facts): void {
  const release = toTextOrNull(message['release'], 'release', MAX_NAME);
  const info = {
    distributor: toTextOrNull(message['distributor-id'], 'distributor-id', MAX_NAME),
    description: toTextOrNull(message['description'], 'description', MAX_NAME),
    release,
    code_name: toTextOrNull(message['code-name'], 'code-name', MAX_NAME),
  };
  facts.computer.distribution = release;
  facts.computer.distribution_info = info;
}

/** Reads `cloud-instance-metadata`. */
export function readCloudInstance(message: BObject, facts: Facts): void {
  const metadata: { [key: string]: Json } = {};
  for (const key of ['instance-id', 'instance-type', 'ami-id']) {
    const value = toTextOrNull(message[key], key, MAX_NAME);
    if (value !== null) metadata[key] = value;
  }
  facts.computer.cloud_instance_metadata = metadata;
}

/** Reads `update-manager-info`. */
export function readUpdateManager(message: BObject, facts: Facts): void {
  facts.computer.update_manager_prompt = toTextOrNull(message['prompt'], 'prompt', 64);
}

/** Reads `reboot-required-info`; only what changed is in it. */
export function readRebootRequired(message: BObject, facts: Facts): void {
  const columns: ComputerColumns = {};
  if (message['flag'] !== undefined) columns.reboot_required = toBoolean(message['flag'], 'flag');
  if (message['packages'] !== undefined) {
    columns.reboot_packages = toTexts(message['packages'], 'packages', 10_000, MAX_NAME).sort();
  }
  Object.assign(facts.computer, columns);
}

/** Reads `computer-tags`: the tags configured on the machine itself. */
export function readTags(message: BObject, facts: Facts): void {
  facts.tags = splitTags(toTextOrNull(message['tags'], 'tags', 100_000));
}

/** As agents read it: words of any script. @see agent-protocol 6 */
const TAG = /^[\p{L}\p{N}_][\p{L}\p{N}_-]*$/u;

/** Tags of a comma-separated list; what is no tag is left out, and so is what administrators could not add either. */
export function splitTags(list: string | null): string[] {
  const tags = (list ?? '').split(',').map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => TAG.test(tag) && tag.length <= 255))].slice(0, MAX_TAGS);
}

/** Reads `network-device`. */
export function readNetwork(message: BObject, facts: Facts): void {
  const speeds = new Map(
    toDicts(message['device-speeds'], 'device-speeds', 10_000).map((item) => [
      toText(item['interface'], 'interface', 64),
      {
        speed: toIntOrNull(item['speed'], 'speed', -1, MAX_INT4),
        duplex: item['duplex'] === undefined || item['duplex'] === null ? null : toBoolean(item['duplex'], 'duplex'),
      },
    ]),
  );
  const devices = toDicts(message['devices'], 'devices', 10_000).map((device): NetworkDevice => {
    const name = toText(device['interface'], 'interface', 64);
    const ipAddress = toText(device['ip_address'], 'ip_address', 64);
    const flags = toInt(device['flags'], 'flags', 0, Number.MAX_SAFE_INTEGER);
    return {
      interface: name,
      ipAddress,
      macAddress: toText(device['mac_address'], 'mac_address', 64),
      broadcastAddress: toText(device['broadcast_address'], 'broadcast_address', 64),
      netmask: toText(device['netmask'], 'netmask', 64),
      flags,
      active: flags % 2 === FLAG_UP && ipAddress !== '0.0.0.0' && ipAddress !== '',
      speed: speeds.get(name)?.speed ?? null,
      duplex: speeds.get(name)?.duplex ?? null,
    };
  });
  facts.network = [...new Map(devices.map((device) => [device.interface, device])).values()];
}

/** Reads `hardware-info`; a report that cannot be read is kept as it is. */
export function readHardware(message: BObject, facts: Facts): void {
  const data = toText(message['data'], 'data', MAX_HARDWARE);
  facts.hardware = { data, ...(readHardwareReport(data) ?? { flat: null, grouped: null }) };
}

/** Reads `processor-info`. */
export function readProcessors(message: BObject, facts: Facts): void {
  facts.inventory.processors = toDicts(message['processors'], 'processors', 10_000).map((item) => ({
    id: toInt(item['processor-id'], 'processor-id', 0, MAX_INT4),
    model: toTextOrNull(item['model'], 'model', MAX_NAME),
    vendor: toTextOrNull(item['vendor'], 'vendor', MAX_NAME),
    cache_size: toIntOrNull(item['cache-size'], 'cache-size', -1, MAX_INT4),
  }));
}

/** Reads `snaps`. */
export function readSnaps(message: BObject, facts: Facts): void {
  const installed = toDicts(toDict(message['snaps'], 'snaps')['installed'], 'installed', 10_000).map(readSnap);
  facts.snaps = [...new Map(installed.map((snap) => [snap.name, snap])).values()];
}

function readSnap(snap: BObject): InstalledSnap {
  const publisher = snap['publisher'] ? toDict(snap['publisher'], 'publisher') : {};
  const optional = (value: BObject[string] | undefined, what: string) => toTextOrNull(value, what, 100_000);
  return {
    name: toText(snap['name'], 'name', 256),
    id: toTextOrNull(snap['id'], 'id', 256) ?? '',
    version: toTextOrNull(snap['version'], 'version', 256) ?? '',
    revision:
      typeof snap['revision'] === 'number' ? String(snap['revision']) : (optional(snap['revision'], 'revision') ?? ''),
    trackingChannel: optional(snap['tracking-channel'], 'tracking-channel'),
    confinement: optional(snap['confinement'], 'confinement'),
    heldUntil: optional(snap['hold'], 'hold'),
    publisherUsername: optional(publisher['username'], 'username'),
    publisherValidation: optional(publisher['validation'], 'validation'),
    summary: optional(snap['summary'], 'summary'),
    config: shortTextOrNull(snap['config'], 'config', MAX_CONFIG),
  };
}

/** Reads `snap-services`. */
export function readSnapServices(message: BObject, facts: Facts): void {
  const running = toDicts(toDict(message['services'], 'services')['running'], 'running', 100_000);
  facts.inventory.snap_services = running.map((service) => wireToJson(service));
}

/** Reads `snap-info`: the identity the device was given by its store. */
export function readSnapDevice(message: BObject, facts: Facts): void {
  const device: { [key: string]: Json } = {};
  for (const key of ['brand', 'model', 'serial']) {
    if (message[key] !== undefined) device[key] = toTextOrNull(message[key], key, MAX_NAME);
  }
  const earlier = facts.inventory.snap_device;
  facts.inventory.snap_device = { ...(isJsonObject(earlier) ? earlier : {}), ...device };
}

/** Reads `apt-preferences`. */
export function readAptPreferences(message: BObject, facts: Facts): void {
  const data = message['data'];
  facts.inventory.apt_preferences = data === undefined || data === null ? null : wireToJson(toDict(data, 'data'));
}

/** Reads `package-reporter-result`; its time is the computer's own and only ever shown. */
export function readPackageReport(message: BObject, facts: Facts): void {
  facts.inventory.package_report = {
    code: toInt(message['code'], 'code', -MAX_INT4, MAX_INT4),
    // Agents cut it themselves, and say so in what they add.
    err: [...(toTextOrNull(message['err'], 'err') ?? '')].slice(0, MAX_REPORT_ERROR).join(''),
    report_timestamp: toNumberOrNull(message['report-timestamp']),
  };
}

/** Reads `cloud-init`. */
export function readCloudInit(message: BObject, facts: Facts): void {
  const report = readToolReport(message, 'cloud-init', facts);
  if (report === undefined) return;
  const output = isJsonObject(report) ? report['output'] : null;
  facts.computer.cloud_init = isJsonObject(output) ? output : {};
}

/** Reads `livepatch`. */
export function readHotPatch(message: BObject, facts: Facts): void {
  const report = readToolReport(message, 'livepatch', facts);
  if (report !== undefined) facts.computer.hotpatch_info = objectOrNull(report);
}

/** Reads `ubuntu-pro-info`; an empty object means that the tool is absent. */
export function readProInfo(message: BObject, facts: Facts): void {
  const report = readToolReport(message, 'ubuntu-pro-info', facts);
  if (report === undefined) return;
  facts.computer.distro_pro_info = isJsonObject(report) && Object.keys(report).length > 0 ? report : null;
}

/** Reads `ubuntu-pro-reboot-required`. */
export function readProReboot(message: BObject, facts: Facts): void {
  const report = readToolReport(message, 'ubuntu-pro-reboot-required', facts);
  if (report !== undefined) facts.computer.distro_pro_reboot_required_info = objectOrNull(report);
}

/** Readers of these reports look for their keys. */
function objectOrNull(report: Json): Json {
  return isJsonObject(report) ? report : null;
}

/** Tools print JSON, mostly: what is none is kept as it is, beside the parsed facts. */
function readToolReport(message: BObject, key: string, facts: Facts): Json | undefined {
  const text = toText(message[key], key);
  const value = parseJson(text);
  if (value === undefined) facts.unparsed[key] = text;
  return value;
}
