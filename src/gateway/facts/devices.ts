import type { NetworkDevice } from '../../domain/agents/facts.ts';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import type { Facts } from './facts.ts';
import { describeItem, type MessageFaults } from './faults.ts';
import { toInt, toText } from './fields.ts';
import { readHardwareReport } from './hardware.ts';
import { lenientBoolean, lenientInt, lenientText, readDicts } from './lenient-fields.ts';

const MAX_DEVICES = 10_000;
const MAX_INTERFACE = 64;
const MAX_ADDRESS = 64;
const MAX_NAME = 1024;
const MAX_HARDWARE = 8 * 1024 * 1024;
const FLAG_UP = 1;

/** Replaces all devices. @throws {MalformedMessage} when none is usable */
export function readNetwork(message: BObject, facts: Facts, faults: MessageFaults): void {
  const speeds = new Map(readSpeeds(message, faults));
  const devices = readDicts(message['devices'], 'devices', MAX_DEVICES, faults, {
    name: nameOf,
    read: (device, item): NetworkDevice => {
      const name = interfaceOf(device);
      const address = (key: string) => lenientText(device[key], MAX_ADDRESS, { what: key, faults, item }) ?? '';
      const ipAddress = address('ip_address');
      const flags = lenientInt(device['flags'], [0, Number.MAX_SAFE_INTEGER], { what: 'flags', faults, item }) ?? 0;
      return {
        interface: name,
        ipAddress,
        macAddress: address('mac_address'),
        broadcastAddress: address('broadcast_address'),
        netmask: address('netmask'),
        flags,
        active: flags % 2 === FLAG_UP && ipAddress !== '0.0.0.0' && ipAddress !== '',
        speed: speeds.get(name)?.speed ?? null,
        duplex: speeds.get(name)?.duplex ?? null,
      };
    },
  });
  faults.requireUsable(devices.length > 0);
  facts.network = [...new Map(devices.map((device) => [device.interface, device])).values()];
}

function readSpeeds(message: BObject, faults: MessageFaults) {
  return readDicts(message['device-speeds'], 'device-speeds', MAX_DEVICES, faults, {
    name: nameOf,
    read: (speed, item) => {
      const place = { faults, item };
      const values = {
        speed: lenientInt(speed['speed'], [-1, MAX_INT4], { what: 'speed', ...place }),
        duplex: lenientBoolean(speed['duplex'], { what: 'duplex', ...place }),
      };
      return [interfaceOf(speed), values] as const;
    },
  });
}

function interfaceOf(device: BObject): string {
  return toText(device['interface'], 'the name of an interface', MAX_INTERFACE);
}

function nameOf(device: BObject): string {
  return describeItem('interface', device['interface']);
}

/** Reads `hardware-info`. The text of an unreadable report is stored unless a readable one exists. */
export function readHardware(message: BObject, facts: Facts, faults: MessageFaults): void {
  const whole = toText(message['data'], 'data', Number.POSITIVE_INFINITY);
  if (whole.length > MAX_HARDWARE) faults.shortened(`data is longer than ${MAX_HARDWARE} characters`);
  const data = whole.slice(0, MAX_HARDWARE).toWellFormed();
  const hardware = readHardwareReport(data);
  if (!hardware) faults.rejected('no hardware can be made out');
  facts.hardware = { data, ...(hardware ?? { flat: null, grouped: null }) };
}

/** Replaces all processors; `cache_size` in KiB. @throws {MalformedMessage} when none is usable */
export function readProcessors(message: BObject, facts: Facts, faults: MessageFaults): void {
  const processors = readDicts(message['processors'], 'processors', MAX_DEVICES, faults, {
    name: (processor) => describeItem('processor', processor['processor-id']),
    read: (processor, item) => ({
      id: toInt(processor['processor-id'], 'processor-id', 0, MAX_INT4),
      model: lenientText(processor['model'], MAX_NAME, { what: 'the model of a processor', faults, item }),
      vendor: lenientText(processor['vendor'], MAX_NAME, { what: 'the vendor of a processor', faults, item }),
      cache_size: lenientInt(processor['cache-size'], [-1, MAX_INT4], { what: 'cache-size', faults, item }),
    }),
  });
  faults.requireUsable(processors.length > 0);
  facts.inventory.processors = processors;
}
