import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blueprintOf } from '../../../tools/simulator/inventory/blueprint.ts';
import { hardwareXml } from '../../../tools/simulator/inventory/hardware-xml.ts';
import { createServedFleet, type RawAgent, type ServedFleet } from '../../support/agents/raw-agent.ts';
import { computerReports } from '../../support/computers/computers.ts';

let fleet: ServedFleet;
let silent: RawAgent;
const { reporting, read } = computerReports(() => fleet);

beforeAll(async () => {
  fleet = await createServedFleet();
  [silent] = (await fleet.enrol(1)) as [RawAgent];
});
afterAll(() => fleet?.close());

const GROUPS = ['cpu', 'display', 'memory', 'multimedia', 'network', 'pci', 'scsi', 'storage', 'system', 'usb'];

describe('with_hardware and with_grouped_hardware', () => {
  it('show a report flat and in ten groups', async () => {
    const data = `<?xml version="1.0" standalone="yes" ?>
      <list><node id="one" class="system"><product>PC</product><vendor>A &amp; B</vendor><serial>S1</serial>
        <configuration><setting id="chassis" value="server"/></configuration>
        <node id="core" class="bus">
          <node id="firmware" class="memory"><vendor>Bios Inc</vendor><version>1.2</version><date>01/02/2026</date>
            <size units="bytes">98304</size>
            <capabilities><capability id="acpi">ACPI support</capability><capability id="pnp"/></capabilities></node>
          <node id="cpu:0" class="processor"><product>Fast</product><vendor>Maker</vendor>
            <size units="Hz">2450000000</size><capacity units="Hz">3000000000</capacity>
            <capabilities><capability id="x86-64">64bits extensions (x86-64)</capability></capabilities>
            <node id="cache:0" class="memory"><description>L1 cache</description><size units="bytes">65536</size></node></node>
          <node id="memory" class="memory"><size units="bytes">17179869184</size>
            <node id="bank:0" class="memory"><size units="bytes">17179869184</size></node></node>
          <node id="pci" class="bridge"><description>Host bridge</description><product>Bridge</product>
            <node id="display" class="display"><product>VGA</product></node>
            <node id="network" class="network"><description>Ethernet</description><serial>00:11</serial>
              <configuration><setting id="ip" value="10.0.0.9"/></configuration></node>
            <node id="usb:1" class="bus"><description>USB controller</description></node>
            <node id="scsi" class="storage"><description>SCSI storage controller</description><product>Virtio</product>
              <node id="disk" class="disk"><description>SCSI Disk</description><size units="bytes">10737418240</size>
                <node id="volume" class="volume"><description>EXT4 volume</description><size units="bytes">1610612736</size>
                  <configuration><setting id="filesystem" value="ext4"/></configuration></node></node></node>
          </node></node></node></list>`;
    const agent = await reporting({ type: 'hardware-info', data });
    const { hardware, grouped_hardware: grouped } = await read(agent, 'with_hardware=1&with_grouped_hardware=1');
    expect(hardware).toHaveLength(14);
    expect(hardware[0]).toEqual({
      id: 1,
      parent_id: null,
      class: 'system',
      description: null,
      vendor: 'A & B',
      product: 'PC',
      version: null,
      serial: 'S1',
      size: null,
      capacity: null,
      units: null,
    });
    expect(hardware[3]).toMatchObject({ parent_id: 2, size: 2_450_000_000, capacity: 3_000_000_000, units: 'Hz' });
    expect(grouped).toEqual({
      cpu: [
        {
          architecture: 'x86_64',
          cache: { 'L1 cache': '64 KiB' },
          clock_speed: '2.45 GHz',
          flags: [{ code: 'x86-64', title: '64bits extensions (x86-64)' }],
          model: 'Fast',
          vendor: 'Maker',
        },
      ],
      display: { model: 'VGA', vendor: 'Not available' },
      memory: { size: '16 GiB' },
      multimedia: { model: 'Not available', vendor: 'Not available' },
      network: [
        { description: 'Ethernet', ip: '10.0.0.9', mac: '00:11', product: 'Not available', vendor: 'Not available' },
      ],
      pci: [
        {
          description: 'Host bridge',
          model: 'Bridge',
          vendor: 'Not available',
          attached_devices: [
            { description: 'Not available', model: 'VGA', vendor: 'Not available' },
            { description: 'Ethernet', model: 'Not available', vendor: 'Not available' },
            { description: 'USB controller', model: 'Not available', vendor: 'Not available' },
            { description: 'SCSI storage controller', model: 'Virtio', vendor: 'Not available' },
          ],
        },
      ],
      scsi: [{ description: 'SCSI storage controller', model: 'Virtio', vendor: 'Not available' }],
      storage: [
        {
          description: 'SCSI Disk',
          product: 'Not available',
          size: '10 GiB',
          vendor: 'Not available',
          partitions: [{ description: 'EXT4 volume', filesystem: 'ext4', size: '1.5 GiB' }],
        },
      ],
      system: {
        bios_capabilities: [
          { code: 'acpi', title: 'ACPI support' },
          { code: 'pnp', title: 'pnp' },
        ],
        bios_date: '01/02/2026',
        bios_vendor: 'Bios Inc',
        bios_version: '1.2',
        chassis: 'server',
        model: 'PC',
        serial: 'S1',
        vendor: 'A & B',
      },
      usb: [{ description: 'USB controller', model: 'Not available', vendor: 'Not available' }],
    });
  });

  it('have all groups before anything is reported, with the processors known otherwise', async () => {
    const nothing = await read(silent, 'with_hardware=1&with_grouped_hardware=1');
    expect(nothing.hardware).toEqual([]);
    expect(Object.keys(nothing.grouped_hardware)).toEqual(GROUPS);
    expect(nothing.grouped_hardware).toMatchObject({ cpu: [], network: 'Not available', storage: 'Not available' });
    const processor = { 'processor-id': 0, model: 'Fast', vendor: 'Maker', 'cache-size': 4096 };
    const agent = await reporting({ type: 'processor-info', processors: [processor, { 'processor-id': 1 }] });
    const { cpu } = (await read(agent, 'with_grouped_hardware=1')).grouped_hardware;
    expect(cpu[0]).toMatchObject({ model: 'Fast', vendor: 'Maker', cache: { cache: '4096 KiB' }, flags: [] });
    expect(cpu[1]).toMatchObject({ model: 'Not available', vendor: 'Not available', cache: {} });
  });

  it.each([
    ['no XML', 'lshw: command not found'],
    ['a document type', '<!DOCTYPE node [<!ENTITY x "y">]><node id="a" class="system"><product>&x;</product></node>'],
    ['an outer entity', '<!DOCTYPE n [<!ENTITY x SYSTEM "file:///etc/passwd">]><node id="a">&x;</node>'],
    ['an entity of its own', '<!ENTITY x "y"><node id="a" class="system"><product>&x;</product></node>'],
    ['a number of NUL characters', '\0'.repeat(100)],
    ['too deep a tree', '<node id="a">'.repeat(200) + '</node>'.repeat(200)],
    ['no nodes', '<list></list>'],
  ])('take %s for no report', async (_what, data) => {
    const agent = await reporting({ type: 'hardware-info', data }, { type: 'computer-info', 'total-memory': 7 });
    const shown = await read(agent, 'with_hardware=1&with_grouped_hardware=1');
    expect(shown).toMatchObject({ total_memory: 7, hardware: [] });
    expect(Object.keys(shown.grouped_hardware)).toEqual(GROUPS);
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['a bare ampersand', '<product>AT&T & Sons &amp; &x; &#65;&#0;</product>', { product: 'AT&T & Sons & &x; A' }],
    [
      'a bare angle',
      '<product>less < than <BAD INDEX> <unknown> 4<5</product>',
      { product: 'less < than <BAD INDEX> <unknown> 4<5' },
    ],
    ['control characters', '<product>\u0001Pro\u001b[0mduct\u0008</product>', { product: 'Pro[0mduct' }],
    [
      'an angle in an attribute',
      '<configuration><setting id="a" value="x<y & z"/></configuration><vendor>V</vendor>',
      { vendor: 'V' },
    ],
    ['CDATA', '<product><![CDATA[a <b> & c]]></product><!-- <product>no</product> -->', { product: 'a <b> & c' }],
    ['an end too many', '</size></nope><product>P</product>', { product: 'P' }],
    ['an element left open', '<capabilities><capability id="x">X</capabilities><product>P</product>', { product: 'P' }],
  ])('make out a report with %s', async (_what, inner, expected) => {
    const data = `<?xml version="1.0"?><list><node id="a" class="system">${inner}<node id="b" class="bus"><product>Q</product></node></node></list>`;
    const agent = await reporting({ type: 'hardware-info', data });
    const { hardware } = await read(agent, 'with_hardware=1');
    expect(hardware).toMatchObject([
      { class: 'system', ...expected },
      { parent_id: 1, class: 'bus', product: 'Q' },
    ]);
  });

  it('keep of a truncated report what came whole, wherever it was cut', async () => {
    const whole = hardwareXml(blueprintOf(1, 15, 1_795_265_174));
    const [agent] = (await fleet.enrol(1)) as [RawAgent];
    let before = 0;
    for (const share of [0.1, 0.3, 0.5, 0.77, 0.9, 1]) {
      await agent.exchange([{ type: 'hardware-info', data: whole.slice(0, Math.floor(whole.length * share)) }]);
      const { hardware } = await read(agent, 'with_hardware=1&with_grouped_hardware=1');
      expect(hardware.length).toBeGreaterThan(before);
      before = hardware.length;
    }
    const cut = '<list><node id="a" class="system"><product>P</product><size units="bytes">1048';
    await agent.exchange([{ type: 'hardware-info', data: cut }]);
    expect((await read(agent, 'with_hardware=1')).hardware).toMatchObject([{ product: 'P', size: null }]);
  });

  it('stay as they were when a report has no content', async () => {
    const agent = await reporting({
      type: 'hardware-info',
      data: '<node id="a" class="system"><product>P</product></node>',
    });
    for (const data of ['', '<list></list>', 'lshw: command not found', '<?xml version="1.0"?>\n<list>']) {
      await agent.exchange([{ type: 'hardware-info', data }]);
      expect((await read(agent, 'with_hardware=1')).hardware).toMatchObject([{ product: 'P' }]);
    }
    await agent.exchange([{ type: 'hardware-info', data: '<node id="a" class="system"><product>R</product></node>' }]);
    expect((await read(agent, 'with_hardware=1')).hardware).toMatchObject([{ product: 'R' }]);
  });

  const bank = (n: number, size: number | null, change = '') =>
    `<node id="bank:${n}" class="memory" ${change}><description>DIMM</description>${
      size === null ? '' : `<size units="bytes">${size}</size>`
    }</node>`;
  const GIB = 2 ** 30;
  it.each<[string, string, string]>([
    [
      'banks alone',
      `<node id="memory" class="memory"><description>System Memory</description>${bank(0, 16 * GIB)}${bank(1, null)}${bank(2, 16 * GIB)}</node>`,
      '32 GiB',
    ],
    [
      'several memories, each with banks alone',
      `<node id="memory:0" class="memory">${bank(0, 8 * GIB)}</node><node id="memory:1" class="memory">${bank(0, 8 * GIB)}${bank(1, 8 * GIB)}</node>`,
      '24 GiB',
    ],
    [
      'a size of the whole, which counts',
      `<node id="memory" class="memory"><size units="bytes">${31 * GIB}</size>${bank(0, 16 * GIB)}${bank(1, 16 * GIB)}</node>`,
      '31 GiB',
    ],
    [
      'a whole and another of banks',
      `<node id="memory:0" class="memory"><size units="bytes">${4 * GIB}</size></node><node id="memory:1" class="memory">${bank(0, 8 * GIB)}</node>`,
      '12 GiB',
    ],
    [
      'a bank turned off',
      `<node id="memory" class="memory">${bank(0, GIB)}${bank(1, GIB, 'disabled="true"')}</node>`,
      '1 GiB',
    ],
    [
      'a whole of nothing and banks',
      `<node id="memory" class="memory"><size units="bytes">0</size>${bank(0, GIB)}</node>`,
      '1 GiB',
    ],
    ['no size at all', `<node id="memory" class="memory">${bank(0, null)}</node>`, 'Not available'],
  ])('sum the memory of %s', async (_what, memory, size) => {
    const data = `<node id="a" class="system"><node id="core" class="bus">${memory}</node></node>`;
    const agent = await reporting({ type: 'hardware-info', data });
    expect((await read(agent, 'with_grouped_hardware=1')).grouped_hardware.memory).toEqual({ size });
  });

  it('count neither logical processors nor disabled ones', async () => {
    const cpu = (id: string, change = '', inner = '') =>
      `<node id="${id}" ${change} class="processor"><product>${id}</product>${inner}</node>`;
    const threads = cpu('logicalcpu:0') + cpu('logicalcpu:1');
    const data = `<node id="a" class="system">${cpu('cpu:0', 'claimed="true"', threads)}${cpu('cpu:1', 'disabled="true"')}${cpu('cpu:2', 'disabled="false"')}</node>`;
    const agent = await reporting({ type: 'hardware-info', data });
    const { cpu: listed } = (await read(agent, 'with_grouped_hardware=1')).grouped_hardware;
    expect(listed.map(({ model }: { model: string }) => model)).toEqual(['cpu:0', 'cpu:2']);
  });

  it('show something in every group of a simulated laptop', async () => {
    const laptop = blueprintOf(1, 15, 1_795_265_174);
    const agent = await reporting({ type: 'hardware-info', data: hardwareXml(laptop) });
    const grouped = (await read(agent, 'with_grouped_hardware=1')).grouped_hardware;
    for (const group of ['cpu', 'network', 'pci', 'storage', 'usb']) expect(grouped[group].length).toBeGreaterThan(0);
    for (const group of ['display', 'memory', 'multimedia', 'system']) {
      expect(Object.values(grouped[group])).not.toContain('Not available');
    }
  });
});
