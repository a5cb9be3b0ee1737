import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import type { Facts, NetworkDevice } from './facts.ts';
import { called, type Notes } from './faults.ts';
import { toInt, toText } from './fields.ts';
import { readHardwareReport } from './hardware.ts';
import { readDicts, shownBoolean, shownInt, shownText } from './shown.ts';

const MAX_DEVICES = 10_000;
const MAX_INTERFACE = 64;
const MAX_ADDRESS = 64;
const MAX_NAME = 1024;
const MAX_HARDWARE = 8 * 1024 * 1024;
const FLAG_UP = 1;

/** Reads `network-device`. */
export function readNetwork(message: BObject, facts: Facts, notes: Notes): void {
  const speeds = new Map(readSpeeds(message, notes));
  const devices = readDicts(
    message['devices'],
    MAX_DEVICES,
    { what: 'devices', notes },
    {
      name: nameOf,
      read: (device, item): NetworkDevice => {
        const name = interfaceOf(device);
        const address = (key: string) => shownText(device[key], MAX_ADDRESS, { what: key, notes, item }) ?? '';
        const ipAddress = address('ip_address');
        const flags = shownInt(device['flags'], [0, Number.MAX_SAFE_INTEGER], { what: 'flags', notes, item }) ?? 0;
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
    },
  );
  notes.requireUse(devices.length > 0);
  facts.network = [...new Map(devices.map((device) => [device.interface, device])).values()];
}

function readSpeeds(message: BObject, notes: Notes) {
  return readDicts(
    message['device-speeds'],
    MAX_DEVICES,
    { what: 'device-speeds', notes },
    {
      name: nameOf,
      read: (speed, item) => {
        const place = { notes, item };
        const values = {
          speed: shownInt(speed['speed'], [-1, MAX_INT4], { what: 'speed', ...place }),
          duplex: shownBoolean(speed['duplex'], { what: 'duplex', ...place }),
        };
        return [interfaceOf(speed), values] as const;
      },
    },
  );
}

function interfaceOf(device: BObject): string {
  return toText(device['interface'], 'the name of an interface', MAX_INTERFACE);
}

function nameOf(device: BObject): string {
  return called('interface', device['interface']);
}

/** Reads `hardware-info`; of a report that cannot be read the text is kept, unless there is a better one. */
export function readHardware(message: BObject, facts: Facts, notes: Notes): void {
  const whole = toText(message['data'], 'data', Number.POSITIVE_INFINITY);
  if (whole.length > MAX_HARDWARE) notes.shortened(`data is longer than ${MAX_HARDWARE} characters`);
  const data = whole.slice(0, MAX_HARDWARE).toWellFormed();
  const hardware = readHardwareReport(data);
  if (!hardware) notes.refused('no hardware can be made out');
  facts.hardware = { data, ...(hardware ?? { flat: null, grouped: null }) };
}

/** Reads `processor-info`. */
export function readProcessors(message: BObject, facts: Facts, notes: Notes): void {
  const processors = readDicts(
    message['processors'],
    MAX_DEVICES,
    { what: 'processors', notes },
    {
      name: (processor) => called('processor', processor['processor-id']),
      read: (processor, item) => ({
        id: toInt(processor['processor-id'], 'processor-id', 0, MAX_INT4),
        model: shownText(processor['model'], MAX_NAME, { what: 'the model of a processor', notes, item }),
        vendor: shownText(processor['vendor'], MAX_NAME, { what: 'the vendor of a processor', notes, item }),
        cache_size: shownInt(processor['cache-size'], [-1, MAX_INT4], { what: 'cache-size', notes, item }),
      }),
    },
  );
  notes.requireUse(processors.length > 0);
  facts.inventory.processors = processors;
}
